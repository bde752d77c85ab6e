//! What a key began ends when the key is over, revoked or expired: also a turn that goes on after whoever
//! asked has left, or after a restart.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use callgate_contract::SessionKey;

use crate::{Agent, Watch};

impl Agent {
    /// Looks on at the turn of one message, and stops it when the key is over by which the message came. A
    /// turn of somebody else that the message waits for, or has joined, is left alone: nothing of it is seen
    /// here.
    pub(crate) fn ending_with(
        &self,
        key: Option<&str>,
        session: &SessionKey,
        inner: Watch,
    ) -> Watch {
        let Some(key) = key.map(|key| self.store().keys().handle(key)) else {
            return inner;
        };
        let begun = Arc::new(AtomicBool::new(false));
        let watching = {
            let (agent, session, begun) = (self.downgrade(), session.clone(), begun.clone());
            key.at_end(move || {
                if let (true, Some(agent)) = (begun.load(Ordering::Acquire), agent.upgrade()) {
                    agent.stop(&session);
                }
            })
        };
        let (agent, session) = (self.downgrade(), session.clone());
        Watch::new(move |event| {
            // It ends with the turn, which lets go of us.
            let _ = &watching;
            begun.store(true, Ordering::Release);
            inner.tell(event);
            if let (true, Some(agent)) = (key.is_revoked(), agent.upgrade()) {
                agent.stop(&session);
            }
        })
    }
}
