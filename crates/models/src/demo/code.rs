//! What the offline demo writes in Python for a wish. The code is real: it runs in the sandbox and
//! calls methods, only the choice among a few programs stands in for a model.

use serde_json::{Map, Value as Json};

use super::{Intent, LABEL};

/// Draws the first ten squares as a bar chart, with the standard library alone.
const DRAWING: &str = include_str!("draw.py");
/// Tells the time in each of `PLACES`, and how far apart they are.
const CLOCKS: &str = r#"clocks = {place: now(zone) for place, zone in PLACES.items()}
told = " and ".join(f"{moment:%H:%M} in {place}" for place, moment in clocks.items())
offsets = [moment.utcoffset().total_seconds() / 3600 for moment in clocks.values()]
apart = f", {max(offsets) - min(offsets):g} hours apart" if len(clocks) > 1 else ""
send_message(f"[offline demo] It is {told}{apart}.")
"#;

/// Places as people write them, with the zone they are in.
const PLACES: &[(&[&str], &str)] = &[
    (&["Tokyo", "东京", "東京"], "Asia/Tokyo"),
    (&["Lima", "利马", "リマ"], "America/Lima"),
    (&["London", "伦敦", "ロンドン"], "Europe/London"),
    (&["Paris", "巴黎", "パリ"], "Europe/Paris"),
    (&["Berlin", "柏林", "ベルリン"], "Europe/Berlin"),
    (&["New York", "纽约", "ニューヨーク"], "America/New_York"),
    (&["San Francisco", "旧金山"], "America/Los_Angeles"),
    (&["Beijing", "Shanghai", "北京", "上海"], "Asia/Shanghai"),
    (&["Delhi", "Mumbai", "印度", "インド"], "Asia/Kolkata"),
    (&["Sydney", "悉尼", "シドニー"], "Australia/Sydney"),
    (&["Cairo", "开罗", "カイロ"], "Africa/Cairo"),
    (&["São Paulo", "Sao Paulo", "圣保罗"], "America/Sao_Paulo"),
];

/// `said` is all of the message, `about` what the wish is about; `recalls` where what was
/// remembered can be looked up again.
pub(super) fn code(wish: Intent, said: &str, about: &str, recalls: bool) -> String {
    match wish {
        Intent::Time => time(said),
        Intent::Remember => {
            let remember = format!("remember(\"from the demo\", {})", text(about));
            if recalls {
                format!(
                    "{remember}\nknown = [note[\"text\"] for note in recall()]\n\
                     send_message({} + \"; \".join(known))",
                    text(&format!("{LABEL} I will remember that. What I know: "))
                )
            } else {
                let told = format!("{LABEL} I will remember: {about}");
                format!("{remember}\nsend_message({})", text(&told))
            }
        }
        Intent::Send => format!("send_message({})", text(&format!("{LABEL} {about}"))),
        Intent::Draw => format!(
            "{DRAWING}\nsend_message({})\nsend_file(\"/app/shared/squares.png\")",
            text(&format!("{LABEL} The first ten squares:"))
        ),
    }
}

fn time(said: &str) -> String {
    let places = named(said);
    if places.is_empty() {
        let form = text(&format!("{LABEL} It is %H:%M on %A, %d %B %Y."));
        return format!("moment = now()\nsend_message(moment.strftime({form}))");
    }
    format!("PLACES = {}\n{CLOCKS}", Json::Object(places))
}

/// The places that are named, in the order in which they are.
fn named(said: &str) -> Map<String, Json> {
    let lower = said.to_lowercase();
    let each = PLACES.iter().flat_map(|(names, zone)| {
        let found = names.iter().filter_map(|name| {
            let place = lower.find(&name.to_lowercase())?;
            Some((place, *name, *zone))
        });
        found.collect::<Vec<_>>()
    });
    let mut found: Vec<(usize, &str, &str)> = each.collect();
    found.sort_unstable();
    let entries = found.into_iter().map(|(_, name, zone)| (name, zone));
    entries
        .map(|(name, zone)| (name.to_owned(), zone.into()))
        .collect()
}

/// A JSON string is a Python string too.
fn text(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}
