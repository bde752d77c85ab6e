//! Which parts go together in one message, on platforms where text, pictures and mentions mix and all else is a
//! message of its own: OneBot and Satori.

use callgate_contract::Part;

use crate::{plain::plain, split::split};

/// What may stand beside other parts in one message. All else is a message of its own there.
fn mixes(part: &Part) -> bool {
    match part {
        Part::Text { .. } | Part::Image { .. } | Part::Mention { .. } => true,
        Part::Reply { .. } | Part::Face { .. } => true,
        Part::Audio { .. } | Part::Video { .. } | Part::File { .. } => false,
        Part::Forward { .. } | Part::Other { .. } => false,
    }
}

/// `longest` counts the characters of text in one message.
pub(crate) fn pieces(parts: &[Part], longest: usize) -> Vec<Vec<Part>> {
    let mut pieces: Vec<Vec<Part>> = Vec::new();
    let mut piece: Vec<Part> = Vec::new();
    let mut length = 0;
    for part in parts {
        if !mixes(part) {
            // What it answers, or whom it is for, goes with the first thing that is said.
            if !piece.iter().all(|part| matches!(part, Part::Reply { .. })) {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.clear();
            length = 0;
            pieces.push(vec![part.clone()]);
            continue;
        }
        let Part::Text { text } = part else {
            piece.push(part.clone());
            continue;
        };
        let text = plain(text);
        if length + text.chars().count() <= longest {
            length += text.chars().count();
            piece.push(Part::Text { text });
            continue;
        }
        for text in split(&text, longest) {
            let more = text.chars().count();
            if length + more > longest {
                pieces.push(std::mem::take(&mut piece));
                length = 0;
            }
            length += more;
            piece.push(Part::Text { text });
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| piece.iter().any(says_something));
    pieces
}

fn says_something(part: &Part) -> bool {
    match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Reply { .. } => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Vec<Part>]) -> Vec<String> {
        let words = |part: &Part| part.words().unwrap_or("*".into()).into_owned();
        pieces
            .iter()
            .map(|piece| piece.iter().map(words).collect())
            .collect()
    }

    #[test]
    fn what_cannot_be_mixed_goes_by_itself() {
        let image = || Part::Image {
            url: "data:".into(),
        };
        let file = || Part::File {
            name: "a".into(),
            url: "/app/shared/a".into(),
        };
        let reply = || Part::Reply {
            to: "5".into(),
            text: None,
        };
        let parts = [
            reply(),
            Part::text("see"),
            image(),
            file(),
            Part::text("done"),
        ];
        assert_eq!(
            texts(&pieces(&parts, 100)),
            ["[reply to 5]see*", "*", "done"]
        );
        assert_eq!(texts(&pieces(&[reply(), file()], 100)), ["*"]);
        assert!(pieces(&[reply(), Part::text(" ")], 100).is_empty());
    }

    #[test]
    fn long_texts_are_several_messages() {
        let parts = [Part::text("One is. Two is. "), Part::text("Three is.")];
        assert_eq!(
            texts(&pieces(&parts, 9)),
            ["One is.", "Two is.", "Three is."]
        );
        assert_eq!(texts(&pieces(&parts, 100)), ["One is. Two is. Three is."]);
    }
}
