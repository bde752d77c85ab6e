//! [`Selector`]: whom a rule or a limit is about. One way of matching for both.

use crate::{Principal, Role, SessionKey};

/// What is left out matches everybody.
pub(crate) struct Selector<'a> {
    pub(crate) platform: Option<&'a str>,
    pub(crate) group: Option<&'a SessionKey>,
    pub(crate) role: Option<Role>,
    pub(crate) person: Option<&'a Principal>,
    pub(crate) key: Option<&'a str>,
}

impl Selector<'_> {
    /// Is it about this principal, who acts or has spoken there in this role?
    pub(crate) fn matches(&self, session: &SessionKey, role: Role, principal: &Principal) -> bool {
        let is_key = |key: &str| matches!(principal, Principal::Key(id) if id == key);
        self.platform
            .is_none_or(|platform| platform == session.platform())
            && self.group.is_none_or(|group| group == session)
            && self.role.is_none_or(|of| of == role)
            && self.person.is_none_or(|person| person == principal)
            && self.key.is_none_or(is_key)
    }
}
