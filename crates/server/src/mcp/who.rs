//! [`ClientIdentity`]: whom a client of MCP acts for, and what they may use. A key's holder has a session of
//! their own; the operator's is one for all their clients.

use std::sync::Arc;

use callgate_contract::{
    Budget, Caller, Grant, InvalidSession, JournalId, Principal, Role, SessionKey, SessionType,
    Surface,
};

use callgate_store::KeyHandle;

use callgate_service::{Capabilities, Capability};

use crate::api::Access;

/// Messages that one call may send.
const MESSAGES: u64 = 100;

#[derive(Clone, Debug)]
pub(super) struct ClientIdentity {
    pub(super) principal: Principal,
    pub(super) role: Role,
    capabilities: Capabilities,
    /// The key they came with.
    key: Option<KeyHandle>,
}

impl ClientIdentity {
    /// Whoever can start us on this data directory.
    pub(super) fn operator() -> Self {
        ClientIdentity {
            principal: Principal::Operator,
            role: Role::Operator,
            capabilities: Capabilities::all(),
            key: None,
        }
    }

    pub(super) fn of(access: &Access) -> Self {
        let principal = access.principal();
        ClientIdentity {
            principal: (&principal).into(),
            role: principal.role(),
            capabilities: principal.capabilities(),
            key: Some(access.handle.clone()),
        }
    }

    /// May they still be told anything? A key is looked at when a request comes, and streams outlive
    /// requests.
    pub(super) fn is_welcome(&self) -> bool {
        !self.key.as_ref().is_some_and(KeyHandle::is_revoked)
    }

    /// Its id.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_ref().map(KeyHandle::key)
    }

    /// Returns once they are not welcome any more.
    pub(super) async fn goes(&self) {
        match &self.key {
            Some(key) => key.revoked().await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn holds(&self, capability: Capability) -> bool {
        self.capabilities.holds(capability)
    }

    pub(super) fn session(&self) -> Result<SessionKey, InvalidSession> {
        SessionKey::new("mcp", SessionType::FriendMessage, &self.principal.user())
    }

    /// Of one call.
    pub(super) fn caller(&self, journal: JournalId) -> Result<Caller, InvalidSession> {
        Ok(Caller {
            session: self.session()?,
            principal: self.principal.clone(),
            role: self.role,
            surface: Surface::Remote,
            journal,
            depth: 0,
            grant: Arc::new(Grant {
                methods: self.capabilities.methods().clone(),
                budget: Budget::new(1, MESSAGES),
                ..Grant::everything()
            }),
        })
    }
}
