//! Calls that are worth a record: what they did is known after a crash, and asking again under the
//! same name never does it twice.

use std::time::Duration;

use callgate_contract::{Effect, JournalId, json as value_json};
use callgate_gate::{CallError, Outcome};
use callgate_store::StoreError;
use serde_json::{Value as Json, json};

use super::{
    Peer, Remote,
    function_call::{Request, arguments, caller},
};

/// How long a name stands for the call that was made under it.
pub(super) const WINDOW: Duration = Duration::from_secs(600);

/// Makes the call, or answers from the record if it was made before.
pub(super) async fn call(
    remote: &Remote,
    peer: &Peer,
    request: &Request,
    effect: Effect,
) -> Result<Json, CallError> {
    let broken = |source: StoreError| CallError::Store {
        method: request.function.clone(),
        source,
    };
    let named = !request.id.is_null() && effect != Effect::Idempotent;
    let (journal, repeated) = if named {
        let asker = format!("{}\n{}", peer.user(), peer.client());
        let made = json!([request.function, request.arguments]).to_string();
        let requests = remote.store().requests();
        let claim = requests
            .claim(&asker, &request.id.to_string(), made.as_bytes(), WINDOW)
            .await
            .map_err(broken)?;
        (claim.journal, claim.repeated)
    } else {
        (JournalId::fresh(), false)
    };
    let caller = caller(peer, journal);
    if repeated && let Some(outcome) = recorded(remote, journal).await? {
        return Ok(value_json::to_json(&outcome.value));
    }
    let given = arguments(request.arguments.clone()).map_err(|message| CallError::Failed {
        method: request.function.clone(),
        message,
        detail: None,
    })?;
    let gate = remote.gate();
    let made = gate.call_alone(&caller, &request.function, given, request.onlooker(peer));
    let made = made.await.map_err(broken)?;
    made.map(|outcome| value_json::to_json(&outcome.value))
}

/// What the call gave when it was made; `None` if it had no effect yet.
async fn recorded(remote: &Remote, journal: JournalId) -> Result<Option<Outcome>, CallError> {
    let calls = remote.store().journal().recorded(journal).await;
    let calls = calls.map_err(|source| CallError::Store {
        method: "record".to_owned(),
        source,
    })?;
    match calls.first() {
        Some(call) => remote.gate().replay(call),
        None => Ok(None),
    }
}
