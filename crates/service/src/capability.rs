//! [`Capability`]: what each way in needs. HTTP routes, Socket.IO events, verbs of MCP, requests on the
//! control socket and chat commands name one; keys hold some. [`Capabilities::holds`] is the only place
//! where the two are compared.

use callgate_contract::Allowed;

use crate::scope::{METHOD, WORDS};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Nothing: everybody who reaches us has it.
    Anyone,
    /// Call methods that are open to remote callers; of those, the ones that the key names.
    Call,
    /// See all of them, offer functions, have rooms, open the pages of plugins.
    Methods,
    /// Talk to personas over `/v1`.
    Chat,
    /// Ask for answers over Socket.IO, and take part in rooms.
    Rooms,
    /// Ask the configured models themselves.
    Models,
    /// See sessions, turns, files, costs and logs, and hear what happens.
    Read,
    /// Speak in any session in the key's own name, and change sessions.
    Sessions,
    /// See and answer calls that wait, and revoke standing answers.
    Approve,
    /// Install, switch and set up plugins.
    Plugins,
    /// Change settings, models and personas.
    Settings,
    /// Read the metrics.
    Metrics,
    /// All else: keys, clients, code, and acting for others.
    Operator,
}

impl Capability {
    pub const ALL: [Capability; 13] = [
        Capability::Anyone,
        Capability::Call,
        Capability::Methods,
        Capability::Chat,
        Capability::Rooms,
        Capability::Models,
        Capability::Read,
        Capability::Sessions,
        Capability::Approve,
        Capability::Plugins,
        Capability::Settings,
        Capability::Metrics,
        Capability::Operator,
    ];

    /// The scope to make a key with that is to have it.
    pub fn scope(self) -> &'static str {
        match self {
            Capability::Anyone => "none",
            Capability::Call | Capability::Methods => "methods",
            Capability::Chat | Capability::Rooms => "chat",
            Capability::Models => "models",
            Capability::Read => "read",
            Capability::Sessions => "sessions",
            Capability::Approve => "approve",
            Capability::Plugins => "plugins",
            Capability::Settings => "settings",
            Capability::Metrics => "metrics",
            Capability::Operator => "operator",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// What somebody holds, and which methods [`Capability::Call`] is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// One bit each.
    held: u16,
    methods: Allowed,
}

impl Capabilities {
    pub fn all() -> Self {
        Capabilities {
            held: u16::MAX,
            methods: Allowed::All,
        }
    }

    /// Of a key with these scopes; an unknown one is worth nothing.
    pub fn of(scopes: &[String]) -> Self {
        let names = scopes.iter().filter_map(|scope| scope.strip_prefix(METHOD));
        let names: Vec<String> = names.map(str::to_owned).collect();
        let written = WORDS
            .iter()
            .filter(|(word, _)| scopes.iter().any(|scope| scope == word));
        let mut held = written
            .flat_map(|(_, capabilities)| capabilities.iter())
            .fold(0, |held, capability| held | capability.bit());
        let has = |held: u16, capability: Capability| held & capability.bit() != 0;
        if has(held, Capability::Methods) {
            return Capabilities {
                held,
                methods: Allowed::All,
            };
        }
        if !names.is_empty() {
            held |= Capability::Call.bit();
            // Over Socket.IO a turn has all methods of its persona: it is not for a key that names a few.
            held &= !Capability::Rooms.bit();
        }
        Capabilities {
            held,
            methods: Allowed::Only(names),
        }
    }

    /// Of somebody who may call these methods and nothing else.
    pub(crate) fn to_call(methods: &[&str]) -> Self {
        Capabilities {
            held: Capability::Call.bit(),
            methods: Allowed::Only(methods.iter().map(|&name| name.to_owned()).collect()),
        }
    }

    pub fn holds(&self, capability: Capability) -> bool {
        capability == Capability::Anyone || self.held & capability.bit() != 0
    }

    /// Any one of them is enough.
    pub fn holds_any(&self, capabilities: &[Capability]) -> bool {
        capabilities.iter().any(|one| self.holds(*one))
    }

    /// Those that may be called.
    pub fn methods(&self) -> &Allowed {
        &self.methods
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(scopes: &[&str]) -> Vec<Capability> {
        let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
        let held = Capabilities::of(&scopes);
        let all = Capability::ALL.into_iter().skip(1);
        all.filter(|one| held.holds(*one)).collect()
    }

    #[test]
    fn scopes_are_sets_of_capabilities() {
        use Capability::*;
        assert_eq!(held(&["methods"]), [Call, Methods, Rooms]);
        assert_eq!(held(&["method:now"]), [Call]);
        assert_eq!(held(&["chat"]), [Chat, Rooms]);
        assert_eq!(held(&["chat", "method:now"]), [Call, Chat]);
        assert_eq!(
            held(&["chat", "method:now", "methods"]),
            [Call, Methods, Chat, Rooms]
        );
        assert_eq!(held(&["paired", "", "Operator"]), []);
        assert_eq!(held(&["operator"]), Capability::ALL[1..]);
        for one in &Capability::ALL[1..] {
            assert!(held(&[one.scope()]).contains(one), "{one:?}");
        }
        assert!(Capabilities::of(&[]).holds(Anyone));
    }

    #[test]
    fn a_key_calls_the_methods_that_it_names() {
        let of = |scopes: &[&str]| {
            let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
            Capabilities::of(&scopes).methods().clone()
        };
        let now = Allowed::Only(vec!["now".to_owned()]);
        assert_eq!(of(&["method:now", "chat"]), now);
        assert_eq!(of(&["method:now", "methods"]), Allowed::All);
        assert_eq!(of(&["operator"]), Allowed::All);
        assert_eq!(of(&["chat"]), Allowed::Only(Vec::new()));
    }
}
