//! [`Principal`]: who asks. Each surface establishes it once, from a verified key or from owning the data
//! directory; what a request says of itself never decides anything.

use callgate_contract::{Role, SessionKey, SessionType};
use callgate_store::Key;

use crate::{
    ErrorCode, Hint, ServiceError,
    remote::{METHOD, OPERATOR},
};

#[derive(Clone, Debug)]
pub enum Principal {
    /// Whoever can type commands on this data directory is its operator.
    Terminal,
    /// Whoever showed this key.
    Key(Key),
}

/// What an operation asks of whoever wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// See and call the methods that remote callers may.
    Methods,
    /// The same, or of those only the ones that the key names.
    SomeMethods,
    /// Everything.
    Operator,
}

impl Capability {
    /// The scope of a key that has it.
    pub fn scope(self) -> &'static str {
        match self {
            Capability::Methods | Capability::SomeMethods => "methods",
            Capability::Operator => OPERATOR,
        }
    }
}

impl Principal {
    pub fn holds(&self, capability: Capability) -> bool {
        let Principal::Key(key) = self else {
            return true;
        };
        let held = |scope: &str| key.scopes.iter().any(|held| held == scope);
        let named = || key.scopes.iter().any(|held| held.starts_with(METHOD));
        held(capability.scope())
            || held(OPERATOR)
            || (capability == Capability::SomeMethods && named())
    }

    pub fn require(&self, capability: Capability) -> Result<(), ServiceError> {
        if self.holds(capability) {
            return Ok(());
        }
        let scope = capability.scope();
        Err(ServiceError::new(
            ErrorCode::MissingScope,
            format!("this key does not hold the scope '{scope}'"),
            Hint::NewKey(scope.to_owned()),
        ))
    }

    pub fn role(&self) -> Role {
        if self.holds(Capability::Operator) {
            Role::Operator
        } else {
            Role::Member
        }
    }

    /// Who acts in what they ask for: themselves, or the person on whose behalf an operator asks.
    pub fn acting(&self, session: &SessionKey, user: Option<&str>) -> callgate_contract::Principal {
        match user {
            Some(user) if user != self.user() => {
                callgate_contract::Principal::person(session, user)
            }
            _ => self.into(),
        }
    }

    /// As whom they speak where nobody is named.
    pub fn user(&self) -> String {
        match (self, self.role()) {
            (Principal::Key(key), Role::Member) => format!("key-{}", key.id),
            _ => OPERATOR.to_owned(),
        }
    }

    /// Whose answer it is, in records that people read.
    pub fn label(&self) -> String {
        match self {
            Principal::Terminal => "terminal".to_owned(),
            Principal::Key(key) => format!("key {}", key.id),
        }
    }

    /// The chat of this principal alone.
    pub fn session(&self) -> Result<SessionKey, ServiceError> {
        let platform = match self {
            Principal::Terminal => "cli",
            Principal::Key(_) => "web",
        };
        let session = SessionKey::new(platform, SessionType::FriendMessage, &self.user());
        session.map_err(ServiceError::internal)
    }
}

impl From<&Principal> for callgate_contract::Principal {
    fn from(principal: &Principal) -> Self {
        match (principal, principal.role()) {
            (_, Role::Operator) | (Principal::Terminal, _) => Self::Operator,
            (Principal::Key(key), _) => Self::Key(key.id.clone()),
        }
    }
}
