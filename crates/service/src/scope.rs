//! The scopes of keys: the one list of what a key can be made for. What each lets its holder do is
//! decided by the surface it is for.

use crate::remote::{METHOD, METHODS, OPERATOR};

/// Talk to personas.
pub const CHAT: &str = "chat";
/// Ask the configured models themselves.
pub const MODELS: &str = "models";

/// All of them, in words.
pub const SCOPES: &str = "operator, methods, method:NAME, chat and models";

/// The first of these that no key can be made for.
pub fn unknown_scope(scopes: &[String]) -> Option<&str> {
    let known = |scope: &str| {
        let named = scope.strip_prefix(METHOD);
        [OPERATOR, METHODS, CHAT, MODELS].contains(&scope)
            || named.is_some_and(|name| !name.is_empty())
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
        for known in ["operator", "methods", "method:now", "chat", "models"] {
            assert!(!found(known) && SCOPES.contains(known.split(':').next().unwrap()));
        }
        for unknown in ["", "all", "method:", "paired", "Chat"] {
            assert!(found(unknown), "{unknown}");
        }
    }
}
