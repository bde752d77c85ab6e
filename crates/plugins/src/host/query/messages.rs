//! `chat_message`: the log, of every session.

use callgate_contract::{MethodError, Part, Provenance, SessionKey, SessionType};
use callgate_store::{Incoming, LogQuery, LogRole, LogRow, Sender, Store};
use serde_json::{Map, Value as Json, json};

use super::{
    super::failed, Row, condition::Condition, condition::Lookup, id_of, moment, overlay, text_of,
};

/// Compat(nekro): the sender of what no user sent.
const NOBODY: &str = "-1";

pub(super) struct MatchedRows {
    pub(super) rows: Vec<Row>,
    /// Filters, order and slice are all applied.
    pub(super) sliced: bool,
}

pub(super) async fn rows(
    store: &Store,
    wanted: &[Condition],
    order: &[String],
    slice: Option<(u32, Option<u32>)>,
) -> Result<MatchedRows, MethodError> {
    let mut query = LogQuery::default();
    let mut exact = true;
    for condition in wanted {
        match push_down(condition, &mut query) {
            Some(is_exact) => exact &= is_exact,
            None => {
                return Ok(MatchedRows {
                    rows: Vec::new(),
                    sliced: true,
                });
            }
        }
    }
    let by_time = match order {
        [] => Some(false),
        [one] if one == "id" || one == "send_timestamp" => Some(false),
        [one] if one == "-id" || one == "-send_timestamp" => Some(true),
        _ => None,
    };
    let mut sliced = false;
    if let (true, Some(newest_first), Some((offset, limit))) = (exact, by_time, slice) {
        sliced = true;
        query.newest_first = newest_first;
        query.offset = offset;
        query.limit = limit;
    }
    let found = store.log().find(&query).await.map_err(failed)?;
    let mut rows: Vec<Row> = found.iter().map(row).collect();
    overlay::lay_over(store, "chat_message", &mut rows).await?;
    Ok(MatchedRows { rows, sliced })
}

/// Tells the store what it can choose by: `Some(true)` if it does so exactly, `None` if nothing can
/// be found at all.
fn push_down(condition: &Condition, query: &mut LogQuery) -> Option<bool> {
    let wanted = &condition.wanted;
    match (condition.column.as_str(), condition.lookup) {
        ("chat_key", Lookup::Is) => query.session = Some(wanted.as_str()?.parse().ok()?),
        ("id", Lookup::Is) => query.id = Some(wanted.as_i64()?),
        ("message_id", Lookup::Is) if wanted != "" => {
            query.message_id = Some(wanted.as_str()?.to_owned());
        }
        ("sender_id" | "platform_userid", Lookup::Is)
            if !matches!(wanted.as_str(), Some(NOBODY | "0" | "") | None) =>
        {
            query.sender = wanted.as_str().map(str::to_owned);
        }
        ("send_timestamp", lookup) => return Some(by_time(lookup, wanted, query)),
        _ => return Some(false),
    }
    Some(true)
}

/// Seconds, compared with our milliseconds.
fn by_time(lookup: Lookup, wanted: &Json, query: &mut LogQuery) -> bool {
    let Some(seconds) = wanted.as_f64() else {
        return false;
    };
    #[allow(clippy::cast_possible_truncation, reason = "saturates, as a bound may")]
    let whole = |seconds: f64| seconds as i64;
    match lookup {
        Lookup::AtLeast => query.from = Some(whole(seconds.ceil()).saturating_mul(1000)),
        Lookup::Above => query.from = Some((whole(seconds.floor()) + 1).saturating_mul(1000)),
        Lookup::AtMost => query.until = Some(whole(seconds.floor()).saturating_mul(1000) + 999),
        Lookup::Below => query.until = Some(whole(seconds.ceil()).saturating_mul(1000) - 1),
        _ => return false,
    }
    true
}

fn row(found: &LogRow) -> Row {
    let (id, name) = match (&found.sender, found.role) {
        (Some(sender), _) => (sender.id.as_str(), sender.name.as_str()),
        (None, LogRole::System) => (NOBODY, "SYSTEM"),
        (None, _) => (NOBODY, "Assistant"),
    };
    let platform_userid = match found.role {
        LogRole::System => "0",
        LogRole::Assistant => NOBODY,
        LogRole::User => id,
    };
    let words: Vec<_> = found.parts.iter().filter_map(Part::words).collect();
    let reference = found.parts.iter().find_map(|part| match part {
        Part::Reply { to, .. } => Some(to.as_str()),
        _ => None,
    });
    let row = json!({
        "id": found.id,
        "sender_id": id,
        "sender_name": name,
        "sender_nickname": name,
        "is_tome": i64::from(found.mentioned),
        "is_recalled": false,
        "adapter_key": found.session.platform(),
        "message_id": found.message_id.clone().unwrap_or_default(),
        "chat_key": found.session.chat_key(),
        "chat_type": chat_type(&found.session),
        "platform_userid": platform_userid,
        "content_text": words.join(""),
        "content_data": json!(found.parts).to_string(),
        "raw_cq_code": "",
        "ext_data": json!({ "ref_msg_id": reference.unwrap_or_default() }).to_string(),
        "send_timestamp": found.at.as_second(),
        "create_time": moment(found.at),
        "update_time": moment(found.at),
    });
    match row {
        Json::Object(row) => row,
        _ => Map::new(),
    }
}

pub(super) fn chat_type(session: &SessionKey) -> &'static str {
    match session.kind() {
        SessionType::GroupMessage => "group",
        SessionType::FriendMessage => "private",
        SessionType::OtherMessage => "unknown",
    }
}

/// A row that a plugin writes itself. Nobody answers it.
pub(super) async fn create(store: &Store, values: &Map<String, Json>) -> Result<Row, MethodError> {
    // Which of them asks is not told with a query.
    let from = Provenance::Plugin("nekro".to_owned());
    let session = text_of(values, "chat_key").unwrap_or_default();
    let session: SessionKey = session.parse().map_err(failed)?;
    let parts = vec![Part::text(
        text_of(values, "content_text").unwrap_or_default(),
    )];
    let sender = text_of(values, "sender_id").unwrap_or(NOBODY);
    let id = if sender == NOBODY {
        let role = match text_of(values, "sender_name") {
            Some("SYSTEM") => LogRole::System,
            _ => LogRole::Assistant,
        };
        store
            .log()
            .append(&session, role, Some(from), &parts)
            .await
            .map_err(failed)?
    } else {
        let incoming = Incoming {
            session,
            sender: Sender {
                id: sender.to_owned(),
                name: text_of(values, "sender_name").unwrap_or(sender).to_owned(),
            },
            parts,
            message_id: text_of(values, "message_id")
                .filter(|id| !id.is_empty())
                .map(str::to_owned),
            hidden: false,
            mentioned: false,
            sent_at: None,
        };
        let arrival = store
            .log()
            .append_incoming(&incoming)
            .await
            .map_err(failed)?;
        store
            .log()
            .dismiss(&[arrival.row.id])
            .await
            .map_err(failed)?;
        arrival.row.id
    };
    let query = LogQuery {
        id: Some(id),
        ..LogQuery::default()
    };
    let found = store.log().find(&query).await.map_err(failed)?;
    found
        .first()
        .map(row)
        .ok_or_else(|| failed("the row that was written is hidden"))
}

/// Deleting leaves the row in the log, out of everybody's sight.
pub(super) async fn hide(store: &Store, row: &Row) -> Result<(), MethodError> {
    store.log().hide(id_of(row)).await.map_err(failed)
}
