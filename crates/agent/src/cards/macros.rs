//! The few macros of character cards that mean something here. `{{char}}` and its older spelling
//! become the name when a card is taken over; `{{user}}` is settled when somebody talks.

/// As it stands in a persona's words, for whoever talks to it.
pub(crate) const USER: &str = "{{user}}";

/// The text with what is known put in, without comments, and what was not understood.
pub(super) fn settle(text: &str, name: &str, unknown: &mut Vec<String>) -> String {
    let text = text.replace("\r\n", "\n");
    let text = replace(&text, "<bot>", name);
    let text = replace(&text, "<char>", name);
    let mut rest = replace(&text, "<user>", USER);
    let mut settled = String::new();
    while let Some((before, after)) = take(&rest, "{{") {
        let Some((inner, behind)) = take(after, "}}") else {
            break;
        };
        settled.push_str(before);
        match inner.trim().to_lowercase().as_str() {
            "char" => settled.push_str(name),
            "user" => settled.push_str(USER),
            // The place of a prompt that others have and we say in our own way.
            "original" | "trim" => {}
            "newline" => settled.push('\n'),
            comment if comment.starts_with("//") => {}
            _ => {
                let whole = format!("{{{{{inner}}}}}");
                settled.push_str(&whole);
                if !unknown.contains(&whole) {
                    unknown.push(whole);
                }
            }
        }
        rest = behind.to_owned();
    }
    settled.push_str(&rest);
    settled.trim().to_owned()
}

fn take<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(mark)
}

/// In any case, which is as these tags are written.
fn replace(text: &str, tag: &str, by: &str) -> String {
    text.replace(tag, by).replace(&tag.to_uppercase(), by)
}

/// Who talks, in the place of the macro.
pub(crate) fn address(text: &str, user: &str) -> String {
    text.replace(USER, user)
}
