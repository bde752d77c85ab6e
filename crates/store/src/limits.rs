//! Limits that operators and administrators set, each with who set it and when, and what counts against
//! one: messages of the log, and what models took. Which limit holds for whom is the agent's to decide.

use std::sync::Arc;

use callgate_contract::{Limit, Principal, SessionKey};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::{
    Counted, StoreError,
    counted::{Values, is_on},
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

#[derive(Clone, Debug, PartialEq)]
pub struct StoredLimit {
    /// Small, so that a person can type it; never given again.
    pub id: i64,
    pub limit: Limit,
    pub made_at: Timestamp,
    pub made_by: String,
}

/// What one limit wants to know.
#[derive(Clone, Copy, Debug)]
pub struct UseOf<'a> {
    pub counted: Counted<'a>,
    /// Nobody asks beyond so many messages; `None` where messages do not matter.
    pub messages: Option<u64>,
    /// What models took is to be summed.
    pub spending: bool,
}

/// Which messages are counted.
#[derive(Clone, Copy, Debug)]
pub enum CountedMessages<'a> {
    /// Those of the log that were to be answered and came before this row.
    Before(i64),
    /// Turns of a session whose messages no log keeps.
    TurnsOf(&'a SessionKey),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub messages: u64,
    pub tokens: u64,
    /// In millionths, of the requests whose price is known.
    pub money: u64,
}

pub struct Limits<'a>(pub(crate) &'a Database);

impl Limits<'_> {
    /// Oldest first; also such as no longer hold. Asked for with every message, so that it is remembered.
    pub async fn list(&self) -> Result<Arc<[StoredLimit]>, StoreError> {
        let cache = &self.0.settings.limits;
        let before = match cache.get(ALL, self.0.is_shared()) {
            Ok(known) => return Ok(known),
            Err(before) => before,
        };
        let read = self.0.read(|tx| {
            let rows = tx.query("SELECT * FROM person_limit ORDER BY id", &[])?;
            rows.iter().map(read).collect()
        });
        let limits: Arc<[StoredLimit]> = read.await?;
        cache.put(ALL.to_owned(), limits.clone(), before);
        Ok(limits)
    }

    /// Takes the place of one that bounds the same of the same; such as no longer hold make room.
    pub async fn add(&self, limit: &Limit, by: &str) -> Result<StoredLimit, StoreError> {
        let (about, body) = (about(limit), row::json("limit", limit)?);
        let (until, by) = (limit.until.map(Timestamp::as_millisecond), by.to_owned());
        let added = self
            .0
            .write(move |tx| {
                let now = row::now();
                let over = "DELETE FROM person_limit WHERE until <= ?1";
                tx.execute(over, parameters![now])?;
                let made = tx.query_one(
                    "INSERT INTO person_limit (about, body, until, made_at, made_by)
                     VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (about) DO UPDATE SET body = excluded.body,
                         until = excluded.until, made_at = excluded.made_at,
                         made_by = excluded.made_by
                     RETURNING *",
                    parameters![about, body, until, now, by],
                )?;
                read(&made)
            })
            .await;
        self.0.settings.limits.forget(ALL);
        added
    }

    pub async fn remove(&self, id: i64) -> Result<StoredLimit, StoreError> {
        let removed = self
            .0
            .write(move |tx| {
                let delete = "DELETE FROM person_limit WHERE id = ?1 RETURNING *";
                let removed = tx.query_optional(delete, parameters![id])?;
                read(&removed.ok_or(StoreError::UnknownLimit(id))?)
            })
            .await;
        self.0.settings.limits.forget(ALL);
        removed
    }

    /// One statement, whatever the number of limits.
    pub async fn used(
        &self,
        uses: &[UseOf<'_>],
        messages: CountedMessages<'_>,
    ) -> Result<Vec<Used>, StoreError> {
        let mut values = Values::default();
        let columns = uses.iter().flat_map(|one| {
            let count = match (one.messages, messages) {
                (None, _) => NOTHING.to_owned(),
                (Some(most), CountedMessages::Before(row)) => {
                    of_log(&one.counted, row, most, &mut values)
                }
                (Some(most), CountedMessages::TurnsOf(session)) => {
                    of_turns(&one.counted, session, most, &mut values)
                }
            };
            let mut sum = |what: &str| {
                if !one.spending {
                    return NOTHING.to_owned();
                }
                let condition = one.counted.condition("asked_at", &mut values);
                format!(
                    "(SELECT COALESCE(CAST(SUM({what}) AS BIGINT), 0) FROM model_request
                      WHERE answered_at IS NOT NULL AND {condition})"
                )
            };
            let (tokens, money) = (sum("tokens_in + tokens_out"), sum("money"));
            [count, tokens, money]
        });
        let select = format!("SELECT {}", columns.collect::<Vec<_>>().join(", "));
        let wanted = uses.len();
        self.0
            .read(move |tx| {
                let row = tx.query_one(&select, &values.parameters())?;
                let number = |place: usize| row::read_count("use", row.at(place)?);
                let used = (0..wanted).map(|one| {
                    Ok(Used {
                        messages: number(one * 3)?,
                        tokens: number(one * 3 + 1)?,
                        money: number(one * 3 + 2)?,
                    })
                });
                used.collect()
            })
            .await
    }
}

/// The one entry of the cache.
const ALL: &str = "";
const NOTHING: &str = "CAST(0 AS BIGINT)";

/// What somebody said and is answered, or would be: by a turn, by a plugin, or as soon as one of them
/// comes to it. What a timer says is nobody's message.
fn of_log(counted: &Counted<'_>, row: i64, most: u64, values: &mut Values) -> String {
    let most = row::count(most);
    let since = counted.since.as_millisecond();
    let whose = match counted.principal {
        Some(principal) => {
            let (since, sender) = (values.number(since), principal.user().into_owned());
            let sender = values.text(sender);
            let whole = values.text(principal.to_string());
            let usual = match principal {
                Principal::Person { platform, .. } => {
                    let there = is_on(platform, values);
                    format!(" OR sender_principal IS NULL AND {there}")
                }
                _ => String::new(),
            };
            format!(
                "sender = {sender} AND written_at >= {since} AND (sender_principal = {whole}{usual})"
            )
        }
        // Rows are in the order of time, so that only those of the period are looked at.
        None => format!(
            "id > COALESCE((SELECT id FROM log WHERE written_at < {}{} ORDER BY id DESC LIMIT 1), 0)",
            values.number(since),
            counted.place(values),
        ),
    };
    let before = values.number(row);
    let place = counted.place(values);
    format!(
        "(SELECT COUNT(*) FROM (SELECT id FROM log WHERE {whose}{place} AND id < {before}
          AND role = 'user' AND hidden = 0 AND provenance IS NULL
          AND (dismissed = 0 OR offered <> 0 OR turn IS NOT NULL) LIMIT {most}) AS counted)"
    )
}

fn of_turns(counted: &Counted<'_>, session: &SessionKey, most: u64, values: &mut Values) -> String {
    let most = row::count(most);
    let (session, first) = (
        values.text(session.to_string()),
        values.id(first_id(counted.since)),
    );
    let condition = counted.condition("started_at", values);
    format!(
        "(SELECT COUNT(*) FROM (SELECT id FROM turn WHERE session = {session} AND id >= {first}
          AND {condition} AND parent IS NULL AND model <> '' LIMIT {most}) AS counted)"
    )
}

/// Before every id that was made since then: ids begin with the time.
pub(crate) fn first_id(since: Timestamp) -> Uuid {
    let milliseconds = u128::try_from(since.as_millisecond()).unwrap_or(0);
    Uuid::from_u128(milliseconds << 80)
}

/// Limits with the same are one. A ban is another thing than a number of messages.
fn about(limit: &Limit) -> String {
    let whom = Limit {
        messages: None,
        tokens: None,
        money: None,
        until: None,
        ..limit.clone()
    };
    let messages = limit
        .messages
        .map(|_| if limit.is_ban() { "none" } else { "some" });
    json!([
        whom,
        messages,
        limit.tokens.is_some(),
        limit.money.is_some()
    ])
    .to_string()
}

fn read(row: &Row) -> Result<StoredLimit, StoreError> {
    Ok(StoredLimit {
        id: get(row, "id")?,
        limit: row::read_json("limit", &get::<String>(row, "body")?)?,
        made_at: row::read_time(get(row, "made_at")?)?,
        made_by: get(row, "made_by")?,
    })
}
