//! Looking for rows of the log by more than their session.

use callgate_contract::{JournalId, SessionKey};

use super::{Log, LogRow, rows};
use crate::{
    StoreError,
    row::{self, get},
    tx::{AsParameter, Parameter},
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
        let query = query.clone();
        self.0
            .read(move |tx| {
                let session = query.session.as_ref().map(SessionKey::to_string);
                let limit = query.limit.map_or(i64::MAX, i64::from);
                let given: [(bool, &str, Parameter); 6] = [
                    (query.id.is_some(), "id =", query.id.parameter()),
                    (session.is_some(), "session =", session.parameter()),
                    (query.sender.is_some(), "sender =", query.sender.parameter()),
                    (
                        query.message_id.is_some(),
                        "message_id =",
                        query.message_id.parameter(),
                    ),
                    (
                        query.from.is_some(),
                        "written_at >=",
                        query.from.parameter(),
                    ),
                    (
                        query.until.is_some(),
                        "written_at <=",
                        query.until.parameter(),
                    ),
                ];
                let mut conditions = vec!["hidden = 0".to_owned()];
                let mut parameters = vec![limit.parameter(), query.offset.parameter()];
                for (_, column, parameter) in given.into_iter().filter(|(given, ..)| *given) {
                    parameters.push(parameter);
                    conditions.push(format!("{column} ?{}", parameters.len()));
                }
                let direction = if query.newest_first { "DESC" } else { "ASC" };
                let select = format!(
                    "SELECT * FROM log WHERE {} ORDER BY id {direction} LIMIT ?1 OFFSET ?2",
                    conditions.join(" AND "),
                );
                rows(tx, &select, &parameters)
            })
            .await
    }

    /// What turns were asked first: of each, the oldest row that it has taken and is not hidden.
    pub async fn asked(&self, turns: &[JournalId]) -> Result<Vec<LogRow>, StoreError> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let turns = turns.to_vec();
        self.0
            .read(move |tx| {
                let marks: Vec<String> =
                    (1..=turns.len()).map(|place| format!("?{place}")).collect();
                let select = format!(
                    "SELECT * FROM log WHERE id IN
                     (SELECT MIN(id) FROM log WHERE turn IN ({}) AND hidden = 0 GROUP BY turn)",
                    marks.join(", ")
                );
                let turns: Vec<Parameter> = turns.iter().map(AsParameter::parameter).collect();
                rows(tx, &select, &turns)
            })
            .await
    }

    /// Everybody who has spoken, by platform, in the order in which they first did.
    pub async fn speakers(&self) -> Result<Vec<Speaker>, StoreError> {
        let select =
            "SELECT first.id AS first_id, log.session, log.sender, log.sender_name FROM log
             JOIN (SELECT MIN(id) AS id, MAX(id) AS last FROM log
                   WHERE sender IS NOT NULL GROUP BY session, sender) AS first
             ON log.id = first.last ORDER BY log.id";
        let rows = self.0.read(|tx| Ok(tx.query(select, &[])?)).await?;
        let mut speakers: Vec<Speaker> = Vec::new();
        for row in &rows {
            let name: Option<Vec<u8>> = get(row, "sender_name")?;
            let speaker = Speaker {
                id: get(row, "first_id")?,
                platform: row::read_session(&get::<String>(row, "session")?)?
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
