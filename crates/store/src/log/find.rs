//! Looking for rows of the log by more than their session.

use callgate_contract::{JournalId, SessionKey};
use sqlx::AssertSqlSafe;

use super::{Log, LogRow, read};
use crate::{
    StoreError,
    row::{self, get},
};

/// Which rows, of all sessions or one; hidden ones are never among them.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    pub id: Option<i64>,
    pub session: Option<SessionKey>,
    pub sender: Option<String>,
    pub message_id: Option<String>,
    /// Milliseconds since 1970, both inclusive.
    pub from: Option<i64>,
    pub until: Option<i64>,
    pub newest_first: bool,
    pub limit: Option<u32>,
    pub offset: u32,
}

/// Somebody who has spoken on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// The id of their first row.
    pub id: i64,
    pub platform: String,
    pub user: String,
    /// As they were last shown.
    pub name: String,
}

impl Log<'_> {
    pub async fn find(&self, query: &LogQuery) -> Result<Vec<LogRow>, StoreError> {
        let mut conditions = vec!["hidden = 0".to_owned()];
        let mut count = 0;
        let mut says = |given: bool, column_and_sign: &str| {
            if given {
                count += 1;
                conditions.push(format!("{column_and_sign} ${count}"));
            }
        };
        says(query.id.is_some(), "id =");
        says(query.session.is_some(), "session =");
        says(query.sender.is_some(), "sender =");
        says(query.message_id.is_some(), "message_id =");
        says(query.from.is_some(), "written_at >=");
        says(query.until.is_some(), "written_at <=");
        let direction = if query.newest_first { "DESC" } else { "ASC" };
        // Safe: every piece is a text of this file.
        let select = AssertSqlSafe(format!(
            "SELECT * FROM log WHERE {} ORDER BY id {direction} LIMIT ${} OFFSET ${}",
            conditions.join(" AND "),
            count + 1,
            count + 2,
        ));
        let mut select = sqlx::query(select);
        if let Some(id) = query.id {
            select = select.bind(id);
        }
        let texts = [
            query.session.as_ref().map(SessionKey::to_string),
            query.sender.clone(),
            query.message_id.clone(),
        ];
        for text in texts.into_iter().flatten() {
            select = select.bind(text);
        }
        for time in [query.from, query.until].into_iter().flatten() {
            select = select.bind(time);
        }
        let rows = select
            .bind(query.limit.map_or(i64::MAX, i64::from))
            .bind(i64::from(query.offset))
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// What turns were asked first: of each, the oldest row that it has taken and is not hidden.
    pub async fn asked(&self, turns: &[JournalId]) -> Result<Vec<LogRow>, StoreError> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let marks: Vec<String> = (1..=turns.len()).map(|place| format!("${place}")).collect();
        // Safe: nothing but numbers is put in.
        let select = AssertSqlSafe(format!(
            "SELECT * FROM log WHERE id IN
             (SELECT MIN(id) FROM log WHERE turn IN ({}) AND hidden = 0 GROUP BY turn)",
            marks.join(", ")
        ));
        let mut select = sqlx::query(select);
        for turn in turns {
            select = select.bind(turn.0.to_string());
        }
        let rows = select.fetch_all(&self.0.readers).await?;
        rows.iter().map(read).collect()
    }

    /// Everybody who has spoken, by platform, in the order in which they first did.
    pub async fn speakers(&self) -> Result<Vec<Speaker>, StoreError> {
        let rows = sqlx::query(
            "SELECT first.id AS first_id, log.session, log.sender, log.sender_name FROM log
             JOIN (SELECT MIN(id) AS id, MAX(id) AS last FROM log
                   WHERE sender IS NOT NULL GROUP BY session, sender) AS first
             ON log.id = first.last ORDER BY log.id",
        )
        .fetch_all(&self.0.readers)
        .await?;
        let mut speakers: Vec<Speaker> = Vec::new();
        for row in &rows {
            let name: Option<Vec<u8>> = get(row, "sender_name")?;
            let speaker = Speaker {
                id: get(row, "first_id")?,
                platform: row::read_session(get(row, "session")?)?
                    .platform()
                    .to_owned(),
                user: get(row, "sender")?,
                name: row::read_text("sender", name.unwrap_or_default())?,
            };
            let same = |known: &&mut Speaker| {
                (&known.platform, &known.user) == (&speaker.platform, &speaker.user)
            };
            match speakers.iter_mut().find(same) {
                Some(known) => {
                    known.id = known.id.min(speaker.id);
                    known.name = speaker.name;
                }
                None => speakers.push(speaker),
            }
        }
        speakers.sort_by_key(|speaker| speaker.id);
        Ok(speakers)
    }
}
