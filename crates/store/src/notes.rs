//! Notes: what a session asked to remember, by name. They are read here; they change only by the
//! outcome of a journaled call.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// Bytes.
pub const MAX_NOTE_NAME: usize = 200;
/// Bytes.
pub const MAX_NOTE_TEXT: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub name: String,
    pub text: String,
    pub written_at: Timestamp,
}

pub struct Notes<'a>(pub(crate) &'a Database);

impl Notes<'_> {
    pub async fn get(&self, session: &SessionKey, name: &str) -> Result<Option<Note>, StoreError> {
        let (session, name) = (session.to_string(), name.to_owned());
        self.0
            .read(move |tx| {
                let select = "SELECT name, text, written_at FROM note
                              WHERE session = ?1 AND name = ?2";
                let row = tx.query_optional(select, parameters![session, name])?;
                row.as_ref().map(read).transpose()
            })
            .await
    }

    /// By name, in byte order on every engine.
    pub async fn list(&self, session: &SessionKey) -> Result<Vec<Note>, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                let select = "SELECT name, text, written_at FROM note WHERE session = ?1";
                let rows = tx.query(select, parameters![session])?;
                let mut notes: Vec<Note> = rows.iter().map(read).collect::<Result<_, _>>()?;
                notes.sort_by(|a, b| a.name.cmp(&b.name));
                Ok(notes)
            })
            .await
    }

    /// Notes whose name or text holds `query`, in any script, whatever the case of its letters.
    pub async fn search(&self, session: &SessionKey, query: &str) -> Result<Vec<Note>, StoreError> {
        // Here and not in SQL: the engines differ in what they think lower case is.
        let query = query.to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&query);
        let mut notes = self.list(session).await?;
        notes.retain(|note| holds(&note.name) || holds(&note.text));
        Ok(notes)
    }

    /// What a change would be refused for, told before it is made.
    pub fn check(name: &str, text: &str) -> Result<(), StoreError> {
        check_size("name", name, MAX_NOTE_NAME)?;
        check_size("text", text, MAX_NOTE_TEXT)?;
        if name.chars().any(char::is_control) {
            Err(StoreError::NoteName)
        } else {
            Ok(())
        }
    }
}

fn check_size(what: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    match text.len() {
        length if (1..=limit).contains(&length) => Ok(()),
        length => Err(StoreError::NoteSize {
            what,
            limit,
            length,
        }),
    }
}

pub(crate) fn write(
    tx: &mut dyn Tx,
    session: &SessionKey,
    name: &str,
    text: &str,
) -> Result<(), StoreError> {
    Notes::check(name, text)?;
    tx.execute(
        "INSERT INTO note (session, name, text, written_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session, name) DO UPDATE
         SET text = excluded.text, written_at = excluded.written_at",
        parameters![session.to_string(), name, text.as_bytes(), row::now()],
    )?;
    Ok(())
}

/// Forgetting what was never remembered is harmless.
pub(crate) fn erase(tx: &mut dyn Tx, session: &SessionKey, name: &str) -> Result<(), StoreError> {
    let delete = "DELETE FROM note WHERE session = ?1 AND name = ?2";
    tx.execute(delete, parameters![session.to_string(), name])?;
    Ok(())
}

fn read(row: &Row) -> Result<Note, StoreError> {
    Ok(Note {
        name: get(row, "name")?,
        text: row::read_text("note", get(row, "text")?)?,
        written_at: row::read_time(get(row, "written_at")?)?,
    })
}
