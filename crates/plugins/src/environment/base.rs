//! The packages that an upstream ships and its plugins use without saying so.

/// Packages of these lists that are published as source only, and are therefore built.
pub(super) const WITHOUT_WHEEL: [&str; 3] = ["aiocqhttp", "jieba", "lunar-python"];

/// The base set of a flavour, by name; the native flavour has none.
pub fn base(flavour: &str) -> Vec<String> {
    let list = match flavour {
        "nekro" => include_str!("../../../../python/worker/callgate_worker/base/nekro.txt"),
        "astrbot" => include_str!("../../../../python/worker/callgate_worker/base/astrbot.txt"),
        _ => "",
    };
    let lines = list.lines().map(str::trim);
    let packages = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    packages.map(str::to_owned).collect()
}
