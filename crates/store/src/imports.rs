//! Imports: what was brought from other systems' folders, so that nothing is brought twice and each can be
//! undone. An item is written down before it is made, with the hash that it will have.

use callgate_contract::{ConversationId, SessionKey};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{
    NewConversation, StoreError, conversations,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Small, so that a person can type it; never given again.
    pub id: i64,
    pub system: String,
    pub source: String,
    pub made_at: Timestamp,
    pub undone_at: Option<Timestamp>,
    /// How many things it made.
    pub items: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportItem {
    pub kind: String,
    /// What it is called there.
    pub name: String,
    /// What it is called here.
    pub made: String,
    pub source_hash: String,
    pub made_hash: String,
    /// What stood here before.
    pub previous: Option<Json>,
}

/// The newest item of its kind and name that was not undone.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownItem {
    pub source: String,
    pub item: ImportItem,
}

pub struct Imports<'a>(pub(crate) &'a Database);

impl Imports<'_> {
    pub async fn begin(&self, system: &str, source: &str) -> Result<i64, StoreError> {
        let (system, source) = (system.to_owned(), source.to_owned());
        self.0
            .write(move |tx| {
                let made = tx.query_one(
                    "INSERT INTO import (system, source, made_at) VALUES (?1, ?2, ?3) RETURNING id",
                    parameters![system, source, row::now()],
                )?;
                get(&made, "id")
            })
            .await
    }

    /// Before the item is made, and again when it is known what it became.
    pub async fn record(&self, import: i64, item: &ImportItem) -> Result<(), StoreError> {
        let item = item.clone();
        self.0.write(move |tx| write(tx, import, &item)).await
    }

    /// What could not be made is no part of it.
    pub async fn forget(&self, import: i64, kind: &str, name: &str) -> Result<(), StoreError> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.0
            .write(move |tx| {
                let delete =
                    "DELETE FROM import_item WHERE import = ?1 AND kind = ?2 AND name = ?3";
                tx.execute(delete, parameters![import, kind, name])?;
                Ok(())
            })
            .await
    }

    /// Makes a conversation and writes it down, both or neither. The session is switched to it where
    /// `choose` says so and the session has none.
    pub async fn conversation(
        &self,
        import: i64,
        item: &ImportItem,
        session: &SessionKey,
        new: NewConversation,
        choose: bool,
    ) -> Result<ConversationId, StoreError> {
        let (mut item, session) = (item.clone(), session.clone());
        self.0
            .write(move |tx| {
                let made = conversations::insert(tx, &session, new)?;
                if choose && conversations::current(tx, &session)?.is_none() {
                    conversations::set_current(tx, &session, made.id)?;
                }
                item.made = made.id.to_string();
                write(tx, import, &item)?;
                Ok(made.id)
            })
            .await
    }

    /// Newest first.
    pub async fn list(&self) -> Result<Vec<Import>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query(
                    "SELECT import.*, (SELECT COUNT(*) FROM import_item
                         WHERE import_item.import = import.id) AS items
                     FROM import ORDER BY id DESC",
                    &[],
                )?;
                rows.iter().map(read_import).collect()
            })
            .await
    }

    pub async fn get(&self, id: i64) -> Result<Import, StoreError> {
        let mut all = self.list().await?.into_iter();
        all.find(|import| import.id == id)
            .ok_or(StoreError::UnknownImport(id))
    }

    pub async fn items(&self, id: i64) -> Result<Vec<ImportItem>, StoreError> {
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM import_item WHERE import = ?1 ORDER BY kind, name";
                let rows = tx.query(select, parameters![id])?;
                rows.iter().map(read_item).collect()
            })
            .await
    }

    /// What was brought of a system and is not undone.
    pub async fn known(&self, system: &str) -> Result<Vec<KnownItem>, StoreError> {
        let system = system.to_owned();
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT import_item.*, import.source FROM import_item
                     JOIN import ON import.id = import_item.import
                     WHERE import.system = ?1 AND undone_at IS NULL AND NOT EXISTS (
                         SELECT 1 FROM import_item AS later
                         JOIN import AS its ON its.id = later.import
                         WHERE later.import > import_item.import AND its.undone_at IS NULL
                           AND its.system = ?1 AND later.kind = import_item.kind
                           AND later.name = import_item.name AND its.source = import.source)",
                    parameters![system],
                )?;
                let known = |row: &Row| {
                    Ok(KnownItem {
                        source: get(row, "source")?,
                        item: read_item(row)?,
                    })
                };
                rows.iter().map(known).collect()
            })
            .await
    }

    /// False if it was undone before.
    pub async fn undone(&self, id: i64) -> Result<bool, StoreError> {
        self.0
            .write(move |tx| {
                let update = "UPDATE import SET undone_at = ?2 WHERE id = ?1 AND undone_at IS NULL";
                Ok(tx.writes_one(update, parameters![id, row::now()])?)
            })
            .await
    }

    /// Of an import that made nothing.
    pub async fn drop_empty(&self, id: i64) -> Result<(), StoreError> {
        self.0
            .write(move |tx| {
                tx.execute(
                    "DELETE FROM import WHERE id = ?1
                     AND NOT EXISTS (SELECT 1 FROM import_item WHERE import = ?1)",
                    parameters![id],
                )?;
                Ok(())
            })
            .await
    }
}

fn write(tx: &mut dyn Tx, import: i64, item: &ImportItem) -> Result<(), StoreError> {
    let previous = item.previous.as_ref().map(Json::to_string);
    tx.execute(
        "INSERT INTO import_item (import, kind, name, made, source_hash, made_hash, previous)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (import, kind, name) DO UPDATE SET made = excluded.made,
             made_hash = excluded.made_hash",
        parameters![
            import,
            item.kind,
            item.name,
            item.made,
            item.source_hash,
            item.made_hash,
            previous,
        ],
    )?;
    Ok(())
}

fn read_import(row: &Row) -> Result<Import, StoreError> {
    let undone: Option<i64> = get(row, "undone_at")?;
    Ok(Import {
        id: get(row, "id")?,
        system: get(row, "system")?,
        source: get(row, "source")?,
        made_at: row::read_time(get(row, "made_at")?)?,
        undone_at: undone.map(row::read_time).transpose()?,
        items: row::read_count("items", get(row, "items")?)?,
    })
}

fn read_item(row: &Row) -> Result<ImportItem, StoreError> {
    let previous: Option<String> = get(row, "previous")?;
    Ok(ImportItem {
        kind: get(row, "kind")?,
        name: get(row, "name")?,
        made: get(row, "made")?,
        source_hash: get(row, "source_hash")?,
        made_hash: get(row, "made_hash")?,
        previous: previous
            .map(|text| row::read_json("previous", &text))
            .transpose()?,
    })
}
