//! [`Requester`]: who asks. Each surface establishes it once, from a verified key or from owning the data
//! directory; what a request says of itself never decides anything.

use callgate_contract::{Role, SessionKey, SessionType};
use callgate_store::Key;

use crate::{Capabilities, Capability, ErrorCode, Hint, ServiceError, scope::OPERATOR};

#[derive(Clone, Debug)]
pub enum Requester {
    /// Whoever can type commands on this data directory is its operator.
    Terminal,
    /// Whoever showed this key.
    Key(Key),
}

impl Requester {
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Requester::Terminal => Capabilities::all(),
            Requester::Key(key) => Capabilities::of(&key.scopes),
        }
    }

    pub fn require(&self, capability: Capability) -> Result<(), ServiceError> {
        if self.capabilities().holds(capability) {
            return Ok(());
        }
        let scope = capability.scope();
        Err(ServiceError::new(
            ErrorCode::MissingScope,
            format!("this key does not hold the scope '{scope}'"),
            Hint::NewKey(scope.to_owned()),
        ))
    }

    /// The id of the key that was shown.
    pub fn key(&self) -> Option<&str> {
        match self {
            Requester::Terminal => None,
            Requester::Key(key) => Some(&key.id),
        }
    }

    pub fn role(&self) -> Role {
        if self.capabilities().holds(Capability::Operator) {
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
            (Requester::Key(key), Role::Member) => format!("key-{}", key.id),
            _ => OPERATOR.to_owned(),
        }
    }

    /// Whose answer it is, in records that people read.
    pub fn label(&self) -> String {
        match self {
            Requester::Terminal => "terminal".to_owned(),
            Requester::Key(key) => format!("key {}", key.id),
        }
    }

    /// The chat of this principal alone.
    pub fn session(&self) -> Result<SessionKey, ServiceError> {
        let platform = match self {
            Requester::Terminal => "cli",
            Requester::Key(_) => "web",
        };
        let session = SessionKey::new(platform, SessionType::FriendMessage, &self.user());
        session.map_err(ServiceError::internal)
    }
}

impl From<&Requester> for callgate_contract::Principal {
    fn from(requester: &Requester) -> Self {
        match (requester, requester.role()) {
            (_, Role::Operator) | (Requester::Terminal, _) => Self::Operator,
            (Requester::Key(key), _) => Self::Key(key.id.clone()),
        }
    }
}
