//! What becomes of a thing, by three hashes: of what stands there, of what stands here, and of what was made
//! here the last time.

use callgate_store::ImportItem;

use super::Fate;

/// Why it stays as it is, where it does.
pub(super) fn decide(
    wanted: &str,
    here: Option<&str>,
    known: Option<&ImportItem>,
) -> (Fate, Option<&'static str>) {
    match (here, known) {
        (Some(here), _) if here == wanted => (Fate::Same, None),
        (None, None) => (Fate::New, None),
        (Some(_), None) => (
            Fate::LeftOut,
            Some("there is another of this name here, which was not imported"),
        ),
        (Some(here), Some(known)) if here == known.made_hash => {
            if known.source_hash == wanted {
                (Fate::Same, None)
            } else {
                (Fate::Changed, None)
            }
        }
        (None, Some(_)) => (Fate::Kept, Some("it was removed here since")),
        (Some(_), Some(_)) => (Fate::Kept, Some("it was changed here since")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hashes_decide() {
        let known = ImportItem {
            kind: "persona".to_owned(),
            name: "poet".to_owned(),
            made: "poet".to_owned(),
            source_hash: "old".to_owned(),
            made_hash: "made".to_owned(),
            previous: None,
        };
        for (wanted, here, known, fate) in [
            ("new", None, None, Fate::New),
            ("new", Some("new"), None, Fate::Same),
            ("new", Some("other"), None, Fate::LeftOut),
            ("old", Some("made"), Some(&known), Fate::Same),
            ("new", Some("made"), Some(&known), Fate::Changed),
            ("new", Some("edited"), Some(&known), Fate::Kept),
            ("old", Some("edited"), Some(&known), Fate::Kept),
            ("old", None, Some(&known), Fate::Kept),
        ] {
            assert_eq!(decide(wanted, here, known).0, fate, "{wanted} {here:?}");
        }
    }
}
