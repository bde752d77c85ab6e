//! [`Taint`]: whether words of strangers have entered what is being done, and which words may nevertheless
//! choose a recipient, path, command or URL: those of whoever it is done for, of the configuration, and of
//! results that are trusted. One account for a turn and all that comes of it.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

use crate::{Choice, Value};

/// Vouched words that are kept, in bytes. What is beyond them vouches for nothing.
const MOST: usize = 4 << 20;

/// Clones share one account. The default keeps none: what somebody does directly is their own word.
#[derive(Clone, Debug, Default)]
pub struct Taint(Option<Arc<Mutex<Account>>>);

/// Calls of one turn may run side by side: a mutex, held for a look.
#[derive(Debug, Default)]
struct Account {
    /// As they are compared.
    said: Vec<String>,
    /// The same, from results and configuration.
    trusted: Vec<String>,
    bytes: usize,
    sources: BTreeSet<String>,
}

impl Taint {
    /// Of a turn, before anything was said in it.
    pub fn tracked() -> Self {
        Taint(Some(Arc::default()))
    }

    pub fn is_tracked(&self) -> bool {
        self.0.is_some()
    }

    /// Whoever it is done for has said this, which may choose.
    pub fn said(&self, text: &str) {
        self.keep(text, |account| &mut account.said);
    }

    /// It may choose, since it is configured or a trusted result.
    pub fn vouch(&self, text: &str) {
        self.keep(text, |account| &mut account.trusted);
    }

    fn keep(&self, text: &str, among: impl FnOnce(&mut Account) -> &mut Vec<String>) {
        let Some(account) = &self.0 else { return };
        let text = comparable(text);
        let mut account = account.lock();
        if !text.is_empty() && account.bytes + text.len() <= MOST {
            account.bytes += text.len();
            among(&mut account).push(text);
        }
    }

    /// For the language in which to speak to them.
    pub fn first_said(&self) -> Option<String> {
        self.0.as_ref()?.lock().said.first().cloned()
    }

    /// Words of strangers have entered from here.
    pub fn mark(&self, source: impl Into<String>) {
        if let Some(account) = &self.0 {
            account.lock().sources.insert(source.into());
        }
    }

    /// Where strangers' words came from; none while there are none.
    pub fn sources(&self) -> Vec<String> {
        let account = self.0.as_ref().map(|account| account.lock());
        account.map_or_else(Vec::new, |account| {
            account.sources.iter().cloned().collect()
        })
    }

    pub fn is_tainted(&self) -> bool {
        let account = self.0.as_ref().map(|account| account.lock());
        account.is_some_and(|account| !account.sources.is_empty())
    }

    /// The texts in `value` that strangers may have chosen.
    pub fn strangers_in(&self, choice: Choice, value: &Value) -> Vec<String> {
        let Some(account) = self.0.as_ref().map(|account| account.lock()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if !account.sources.is_empty() {
            value.each_text(&mut |text| {
                let chosen = choice.chosen_in(text);
                let strange = chosen.filter(|value| !account.may_choose(choice, value));
                found.extend(strange.map(str::to_owned));
            });
        }
        found
    }
}

impl Account {
    fn may_choose(&self, choice: Choice, value: &str) -> bool {
        let wanted = comparable(choice.essence(value));
        let stands = |words: &[String]| words.iter().any(|words| stands_in(words, &wanted));
        // A short number is no name: it stands in every other sentence and means something else there.
        let is_number = wanted.len() <= 4 && wanted.chars().all(|c| c.is_ascii_digit());
        wanted.is_empty() || stands(&self.trusted) || (!is_number && stands(&self.said))
    }
}

impl Value {
    /// Every text in it, numbers as they are written; keys too.
    pub fn each_text(&self, hear: &mut dyn FnMut(&str)) {
        match self {
            Value::Null | Value::Bool(_) | Value::TimeDelta { .. } => {}
            // Nobody has said these.
            Value::Bytes(_) | Value::Opaque { .. } => hear("\u{fffd}"),
            Value::Int(number) => hear(&number.to_string()),
            Value::BigInt(number) => hear(&number.to_string()),
            Value::Float(number) => hear(&number.to_string()),
            Value::Uuid(id) => hear(&id.to_string()),
            Value::Str(text)
            | Value::DateTime(text)
            | Value::Date(text)
            | Value::Time(text)
            | Value::Path(text)
            | Value::Decimal(text) => hear(text),
            Value::List(items)
            | Value::Tuple(items)
            | Value::Set(items)
            | Value::FrozenSet(items) => items.iter().for_each(|item| item.each_text(hear)),
            Value::Dict(entries) => entries.iter().for_each(|(key, value)| {
                key.each_text(hear);
                value.each_text(hear);
            }),
            Value::Record { fields, .. } => {
                fields.iter().for_each(|(_, value)| value.each_text(hear));
            }
        }
    }

    /// Does it hold words, which somebody may have written?
    pub fn has_words(&self) -> bool {
        match self {
            Value::Str(text) | Value::Path(text) => !text.trim().is_empty(),
            Value::Bytes(_) | Value::Opaque { .. } | Value::Record { .. } => true,
            Value::List(items)
            | Value::Tuple(items)
            | Value::Set(items)
            | Value::FrozenSet(items) => items.iter().any(Value::has_words),
            Value::Dict(entries) => {
                let mut entries = entries.iter();
                entries.any(|(key, value)| key.has_words() || value.has_words())
            }
            _ => false,
        }
    }
}

/// Without case, and with one space where there are several.
fn comparable(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// Whole: as no part of a longer word, address or path, in scripts that divide words.
fn stands_in(said: &str, wanted: &str) -> bool {
    let divided = |c: char| c.is_alphanumeric() && (c as u32) < 0x2E80;
    let joins = |c: char| ".-_@+/:~%".contains(c);
    // `near` is next to the value, `far` beyond it.
    let runs_on = |edge: Option<char>, near: Option<char>, far: Option<char>| {
        let Some(near) = near.filter(|_| edge.is_some_and(divided)) else {
            return false;
        };
        divided(near) || (joins(near) && far.is_some_and(divided))
    };
    said.match_indices(wanted).any(|(at, _)| {
        let mut before = said.get(..at).unwrap_or_default().chars().rev();
        let mut after = said.get(at + wanted.len()..).unwrap_or_default().chars();
        let mut edges = wanted.chars();
        !runs_on(edges.next(), before.next(), before.next())
            && !runs_on(wanted.chars().next_back(), after.next(), after.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tainted(words: &[&str]) -> Taint {
        let taint = Taint::tracked();
        words.iter().for_each(|words| taint.said(words));
        taint.mark("mcp:mail/read");
        taint
    }

    #[test]
    fn a_value_passes_where_it_was_said() {
        let taint = tainted(&["Write to Bob@Example.com and to 小明, see https://a.example/x."]);
        let passes = |choice, text: &str| taint.strangers_in(choice, &text.into()).is_empty();
        assert!(passes(Choice::Recipient, "bob@example.com"));
        assert!(passes(Choice::Recipient, "小明"));
        assert!(passes(Choice::Url, "http://a.example/x"));
        assert!(passes(Choice::Recipient, ""));
        assert!(passes(Choice::Url, "hello"));
        let longer = tainted(&["to john.doe@corp.com.au, and delete /home/me/report.txt"]);
        for (choice, part) in [
            (Choice::Recipient, "doe@corp.com.au"),
            (Choice::Recipient, "john.doe@corp.com"),
            (Choice::Path, "/home/me"),
            (Choice::Path, "report.txt"),
        ] {
            assert_eq!(longer.strangers_in(choice, &part.into()), [part]);
        }
        let whole = Value::from("/home/me/report.txt");
        assert!(longer.strangers_in(Choice::Path, &whole).is_empty());
        for other in ["eve@example.com", "ob@example.com", "bob@example.co"] {
            assert!(!passes(Choice::Recipient, other), "{other}");
        }
        assert!(!passes(Choice::Url, "https://a.example/x?mail=secret"));
        assert!(passes(
            Choice::Url,
            "No link here, or https://a.example/x, which you said."
        ));
        assert!(!passes(Choice::Url, "Look at www.evil.example!"));
    }

    #[test]
    fn a_short_number_is_no_name_unless_a_trusted_result_gives_it() {
        let taint = tainted(&["the party on June 13, phone 55512345"]);
        let file = Value::Int(13);
        assert!(!taint.strangers_in(Choice::Path, &file).is_empty());
        let phone = Value::Int(55_512_345);
        assert!(taint.strangers_in(Choice::Recipient, &phone).is_empty());
        taint.vouch("- id: 13");
        assert!(taint.strangers_in(Choice::Path, &file).is_empty());
    }

    #[test]
    fn of_several_all_that_nobody_said_are_named() {
        let taint = tainted(&["send it to ann"]);
        let people = Value::List(vec!["eve".into(), "ann".into(), "mallory".into()]);
        let found = taint.strangers_in(Choice::Recipient, &people);
        assert_eq!(found, ["eve", "mallory"]);
        let strangers = |value: &Value| taint.strangers_in(Choice::Recipient, value);
        assert!(strangers(&Value::Null).is_empty());
        assert_eq!(strangers(&Value::Int(7)), ["7"]);
    }

    #[test]
    fn nothing_is_judged_before_a_stranger_has_spoken_or_without_an_account() {
        let value = Value::from("anybody");
        let clean = Taint::tracked();
        assert!(clean.strangers_in(Choice::Recipient, &value).is_empty());
        let direct = Taint::default();
        direct.mark("mcp:mail/read");
        assert!(direct.strangers_in(Choice::Recipient, &value).is_empty());
    }
}
