//! Which known names a mistyped one may have meant.

const MOST: usize = 3;
/// Bytes. Longer names resemble nothing, and comparing takes time by their length.
const MAX_NAME: usize = 100;

/// At most three of `known`, nearest first: few edits away, or one name contained in the other.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    if name.len() > MAX_NAME {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let part = wanted.len() >= 3 && other.contains(&wanted)
                || other.len() >= 3 && wanted.contains(&other);
            let edits = strsim::levenshtein(&wanted, &other);
            (part || edits <= limit).then_some((edits, candidate))
        })
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(MOST);
    near.map(|(_, candidate)| candidate.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_names_find_their_neighbours() {
        let known = ["send_message", "send_file", "remember", "recall", "now"];
        let check =
            |name: &str, expect: &[&str]| assert_eq!(nearest(name, known.into_iter()), expect);
        check("send_mesage", &["send_message"]);
        check("Send_Message", &["send_message"]);
        check("send", &["send_file", "send_message"]);
        check("message", &["send_message"]);
        check("nwo", &[]);
        check("noww", &["now"]);
        check("search_the_web", &[]);
        check(&"send_message".repeat(10), &[]);
    }
}
