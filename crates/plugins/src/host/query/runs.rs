//! `exec_code`: what code ran in the sandbox, as upstream lists it. Read only.

use callgate_contract::{MethodError, SessionKey, Stop};
use callgate_store::{Run, Store};
use serde_json::{Value as Json, json};

use super::{
    super::failed,
    Row,
    condition::{Condition, equal_to},
    moment,
};

/// The newest that are looked at.
const MOST: u32 = 500;

pub(super) async fn rows(store: &Store, wanted: &[Condition]) -> Result<Vec<Row>, MethodError> {
    let session = equal_to(wanted, "chat_key").map(str::parse::<SessionKey>);
    let session = match session {
        Some(Ok(session)) => Some(session),
        // No session has such a key.
        Some(Err(_)) => return Ok(Vec::new()),
        None => None,
    };
    let runs = store.journal().latest_runs(session.as_ref(), MOST).await;
    Ok(runs.map_err(failed)?.into_iter().filter_map(row).collect())
}

fn row(run: Run) -> Option<Row> {
    let ended = run.finish.as_ref();
    let report = ended.map_or(&Json::Null, |finish| &finish.report);
    let stop = ended.map(|finish| finish.stop);
    let text = |name: &str| report[name].as_str().unwrap_or_default();
    let outputs = match (text("stdout"), text("error")) {
        (output, "") => output.to_owned(),
        (output, error) => format!("{output}{error}"),
    };
    let millis = report["wall_ms"].as_f64().unwrap_or_default();
    let row = json!({
        // Time-ordered, and a number, as upstream has it.
        "id": run.started_at.as_microsecond(),
        "chat_key": run.start.session.chat_key(),
        "trigger_user_id": run.start.principal.user(),
        "trigger_user_name": run.start.principal.user(),
        "success": stop.is_some_and(is_success),
        "code_text": run.start.code,
        "outputs": outputs,
        "use_model": "",
        "thought_chain": "",
        "stop_type": stop.map_or(1, number),
        "exec_time_ms": millis.round(),
        "generation_time_ms": 0,
        "total_time_ms": millis.round(),
        "extra_data": "",
        "create_time": moment(run.started_at),
        "update_time": moment(ended.map_or(run.started_at, |finish| finish.at)),
    });
    match row {
        Json::Object(row) => Some(row),
        _ => None,
    }
}

fn is_success(stop: Stop) -> bool {
    matches!(
        stop,
        Stop::Finished | Stop::Agent | Stop::Multimodal | Stop::Inspect
    )
}

/// Compat(nekro): upstream's `ExecStopType`.
fn number(stop: Stop) -> u8 {
    match stop {
        Stop::Finished => 0,
        Stop::Timeout => 2,
        Stop::Agent => 8,
        Stop::Inspect => 9,
        Stop::Multimodal => 11,
        _ => 1,
    }
}
