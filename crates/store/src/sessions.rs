//! Sessions: the uuid that names a session's folders and the number that is its user id in the
//! jail. A key is never a path.

use callgate_contract::SessionKey;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// Numbers as they are read run from 1 to this and then begin again: user ids are finite. Two sessions
/// of one number share a user id and nothing else; no run is given more than its own session's folders.
const MAX_NUMBER: i64 = 60_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    pub key: SessionKey,
    pub id: Uuid,
    pub number: u32,
}

pub struct Sessions<'a>(pub(crate) &'a Database);

impl Sessions<'_> {
    /// The session, made now if it is new.
    pub async fn open(&self, key: &SessionKey) -> Result<Session, StoreError> {
        if let Some(session) = self.get(key).await? {
            return Ok(session);
        }
        let key = key.to_string();
        self.0.write(move |tx| make(tx, &key)).await
    }

    pub async fn get(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        let key = key.to_string();
        self.0.read(move |tx| find(tx, &key)).await
    }

    /// In order of creation.
    pub async fn list(&self) -> Result<Vec<Session>, StoreError> {
        self.0
            .read(|tx| {
                let select = "SELECT session, id, number FROM session ORDER BY number";
                tx.query(select, &[])?.iter().map(read).collect()
            })
            .await
    }
}

/// Unless another was first: then its row is the session.
fn make(tx: &mut dyn Tx, key: &str) -> Result<Session, StoreError> {
    loop {
        if let Some(session) = find(tx, key)? {
            return Ok(session);
        }
        // The next number is ours to say: the database's own would have gaps where instances make
        // the same session at once. Whoever loses such a race has waited for the other's row, and
        // looks again.
        tx.execute(
            "INSERT INTO session (number, session, id, created_at)
             SELECT COALESCE(MAX(number), 0) + 1, ?1, ?2, ?3 FROM session WHERE true
             ON CONFLICT DO NOTHING",
            parameters![key, Uuid::now_v7(), row::now()],
        )?;
    }
}

fn find(tx: &mut dyn Tx, key: &str) -> Result<Option<Session>, StoreError> {
    let select = "SELECT session, id, number FROM session WHERE session = ?1";
    let row = tx.query_optional(select, parameters![key])?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Session, StoreError> {
    let counted: i64 = get(row, "number")?;
    Ok(Session {
        key: row::read_session(&get::<String>(row, "session")?)?,
        id: get(row, "id")?,
        number: row::read_small("session number", (counted - 1) % MAX_NUMBER + 1)?,
    })
}
