//! What a key began ends when the key is over, revoked or expired: turns, calls and runs that go on after
//! whoever asked has left.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use callgate_agent::{Agent, Watch};
use callgate_contract::SessionKey;
use callgate_store::KeyHandle;
use tokio::task::JoinSet;

/// Calls `stop` when the key is over, as long as what is returned lives.
pub(crate) fn at_end_of(key: KeyHandle, stop: impl FnOnce() + Send + 'static) -> JoinSet<()> {
    let mut watching = JoinSet::new();
    watching.spawn(async move {
        key.revoked().await;
        stop();
    });
    watching
}

/// Looks on at the turn of one message, and stops it when the key is over that sent the message. A turn
/// of somebody else that the message waits for, or has joined, is left alone: nothing of it is seen here.
pub(crate) fn stopping_turn(
    key: KeyHandle,
    agent: Agent,
    session: SessionKey,
    inner: Watch,
) -> Watch {
    let begun = Arc::new(AtomicBool::new(false));
    let watching = {
        let (agent, session, begun) = (agent.clone(), session.clone(), begun.clone());
        at_end_of(key.clone(), move || {
            if begun.load(Ordering::Acquire) {
                agent.stop(&session);
            }
        })
    };
    Watch::new(move |event| {
        // It ends with the turn, which lets go of us.
        let _ = &watching;
        begun.store(true, Ordering::Release);
        inner.tell(event);
        if key.is_revoked() {
            agent.stop(&session);
        }
    })
}
