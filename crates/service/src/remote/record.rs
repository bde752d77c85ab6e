//! Calls that are worth a record: what they did is known after a crash. One that its client wants made
//! once has the journal that its request id stands for, so that asking again never does it twice.

use std::time::Duration;

use callgate_contract::{JournalId, Onlooker, json as value_json};
use callgate_gate::{CallError, Outcome};
use callgate_store::{Claim, StoreError};
use serde_json::{Value as Json, json};

use super::{
    Peer, Remote,
    function_call::{Request, arguments, caller},
};

/// How long a request id stands for the call that was made under it; longer than any call takes.
const WINDOW: Duration = Duration::from_secs(24 * 3600);

/// What the gate is asked for.
pub(super) struct GateCall<'a> {
    pub(super) method: &'a str,
    pub(super) arguments: Vec<Json>,
    pub(super) onlooker: Onlooker,
}

/// Makes the call, or answers from the record if it is to be made once and was made before.
pub(super) async fn call(
    remote: &Remote,
    peer: &Peer,
    request: &Request,
    call: GateCall<'_>,
) -> Result<Json, CallError> {
    let broken = |source: StoreError| CallError::Store {
        method: call.method.to_owned(),
        source,
    };
    let failed = |message| CallError::Failed {
        method: call.method.to_owned(),
        message,
        detail: None,
    };
    let claim = if request.once {
        let asker = format!("{}\n{}", peer.user(), peer.client());
        let made = json!([call.method, call.arguments]).to_string();
        let requests = remote.store().requests();
        requests
            .claim(&asker, &request.id.to_string(), made.as_bytes(), WINDOW)
            .await
            .map_err(broken)?
    } else {
        Claim::First(JournalId::fresh())
    };
    let journal = match claim {
        Claim::First(journal) => journal,
        Claim::Repeated(journal) => match recorded(remote, journal).await? {
            Some(outcome) => return Ok(value_json::to_json(&outcome.value)),
            None => journal,
        },
        Claim::OtherCall => {
            let message = "This requestId stands for another call that was to be made once.";
            return Err(failed(message.to_owned()));
        }
    };
    let given = arguments(call.arguments).map_err(failed)?;
    let caller = caller(peer, journal);
    let gate = remote.gate();
    let made = gate.call_alone(&caller, call.method, given, call.onlooker);
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
