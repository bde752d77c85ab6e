//! What may be asked of an installer: a package by its name, with versions. No path and no address,
//! since those would be other people's code that no index answers for, and nothing that an installer
//! takes for an option.

/// `numpy`, `numpy<2`, `httpx[socks]>=0.27,<0.28; python_version < "3.13"`.
pub fn is_requirement(text: &str) -> bool {
    let text = text.trim();
    let (requirement, marker) = text.split_once(';').unwrap_or((text, ""));
    let in_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = requirement.chars().take_while(|c| in_name(*c)).collect();
    let versions = requirement.strip_prefix(&name).unwrap_or_default();
    let in_versions = |c: char| c.is_ascii_alphanumeric() || " ._-*+!,<>=~()[]".contains(c);
    let in_marker = |c: char| c.is_ascii_alphanumeric() || " ._-*+!,<>=~()'\"".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !is_archive(&name)
        && versions.chars().all(in_versions)
        && (versions.trim().is_empty()
            || versions
                .trim_start()
                .starts_with(['[', '(', '<', '>', '=', '~', '!']))
        && !versions.contains(" -")
        && marker.chars().all(in_marker)
}

/// Installers take such a name for that of a file.
fn is_archive(name: &str) -> bool {
    const ENDS: [&str; 9] = [
        ".whl", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".egg",
    ];
    let name = name.to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::is_requirement;

    #[test]
    fn a_name_with_versions_is_one() {
        for good in [
            "numpy",
            " numpy ",
            "numpy<2",
            "ruamel.yaml",
            "httpx[socks,http2] >= 0.27, < 0.28",
            "torch==2.1.0+cpu",
            "x (>=1.0)",
            "x!=1.*",
            "pywin32; platform_system == \"Windows\"",
            "tomli>=2;python_version<'3.11' and extra == 'a-b'",
        ] {
            assert!(is_requirement(good), "{good}");
        }
    }

    #[test]
    fn paths_addresses_and_options_are_none() {
        for bad in [
            "",
            ".",
            "..",
            "./here",
            "/tmp/there",
            "~/there",
            "folder/setup.py",
            "x @ file:///tmp/x.whl",
            "x@https://example.org/x.whl",
            "git+https://example.org/x",
            "https://example.org/x.zip",
            "file:///tmp/x",
            "x.whl",
            "x-1.0.TAR.GZ",
            "x.zip[extra]",
            "-r x",
            "--index-url=http://x",
            "x --index-url http",
            "x==1 --hash=sha256:00",
            "x -e y",
            "x y",
            "x\n-r y",
            "x\\y",
            "x;y @ z",
            "数",
        ] {
            assert!(!is_requirement(bad), "{bad:?}");
        }
    }
}
