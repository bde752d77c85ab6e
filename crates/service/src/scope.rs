//! The scopes of keys: the words that a key is made with. Each stands for a set of capabilities.

use crate::Capability;

/// Of the operator's own key.
pub const OPERATOR: &str = "operator";
/// Of a key for methods of remote exposure.
pub const METHODS: &str = "methods";
/// Before the name of the one method that a key may call; a key may have several.
pub const METHOD: &str = "method:";

/// What each word stands for; `method:NAME` is for calling that method.
pub(crate) const WORDS: &[(&str, &[Capability])] = &[
    (OPERATOR, &Capability::ALL),
    (
        METHODS,
        &[Capability::Call, Capability::Methods, Capability::Rooms],
    ),
    ("chat", &[Capability::Chat, Capability::Rooms]),
    ("models", &[Capability::Models]),
    ("read", &[Capability::Read]),
    ("sessions", &[Capability::Sessions]),
    ("approve", &[Capability::Approve]),
    ("plugins", &[Capability::Plugins]),
    ("settings", &[Capability::Settings]),
    ("metrics", &[Capability::Metrics]),
];

/// All of them, in words.
pub const SCOPES: &str = "operator, methods, method:NAME, chat, models, read, sessions, approve, \
                          plugins, settings and metrics";

/// The first of these that no key can be made for.
pub fn unknown_scope(scopes: &[String]) -> Option<&str> {
    let known = |scope: &str| {
        let named = scope.strip_prefix(METHOD);
        WORDS.iter().any(|(word, _)| *word == scope) || named.is_some_and(|name| !name.is_empty())
    };
    let mut scopes = scopes.iter().map(String::as_str);
    scopes.find(|scope| !known(scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_for_what_there_is() {
        let found = |scope: &str| unknown_scope(&[scope.to_owned()]).is_some();
        let words = WORDS.iter().map(|(word, _)| *word);
        for known in words.chain(["method:now"]) {
            assert!(!found(known) && SCOPES.contains(known.split(':').next().unwrap()));
        }
        for unknown in ["", "all", "method:", "paired", "Chat"] {
            assert!(found(unknown), "{unknown}");
        }
    }
}
