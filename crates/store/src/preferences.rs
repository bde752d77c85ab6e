//! Preferences: JSON by scope, place and name, written by plugins about sessions, themselves or
//! everything. What a scope means is theirs.

use serde_json::Value as Json;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

#[derive(Clone, Debug, PartialEq)]
pub struct Preference {
    pub scope: String,
    pub place: String,
    pub name: String,
    pub value: Json,
}

pub struct Preferences<'a>(pub(crate) &'a Database);

impl Preferences<'_> {
    pub async fn get(
        &self,
        scope: &str,
        place: &str,
        name: &str,
    ) -> Result<Option<Json>, StoreError> {
        let (scope, place, name) = (scope.to_owned(), place.to_owned(), name.to_owned());
        self.0
            .read(move |tx| {
                let value: Option<Vec<u8>> = tx.scalar(
                    "SELECT value FROM preference WHERE scope = ?1 AND scope_id = ?2 AND name = ?3",
                    parameters![scope, place, name],
                )?;
                value.map(|value| read_value(&value)).transpose()
            })
            .await
    }

    pub async fn set(&self, preference: &Preference) -> Result<(), StoreError> {
        let texts = [&preference.scope, &preference.place, &preference.name];
        // PostgreSQL takes no NUL in a key.
        if texts.iter().any(|text| text.contains('\0')) {
            return Err(StoreError::DataName);
        }
        let preference = preference.clone();
        let value = row::json("preference", &preference.value)?.into_bytes();
        self.0
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO preference (scope, scope_id, name, value, created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (scope, scope_id, name)
                     DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                    parameters![
                        preference.scope,
                        preference.place,
                        preference.name,
                        value,
                        row::now(),
                    ],
                )?;
                Ok(())
            })
            .await
    }

    /// False if there was none.
    pub async fn delete(&self, scope: &str, place: &str, name: &str) -> Result<bool, StoreError> {
        let (scope, place, name) = (scope.to_owned(), place.to_owned(), name.to_owned());
        self.0
            .write(move |tx| {
                let deleted = tx.writes_one(
                    "DELETE FROM preference WHERE scope = ?1 AND scope_id = ?2 AND name = ?3",
                    parameters![scope, place, name],
                )?;
                Ok(deleted)
            })
            .await
    }

    /// `None` means any.
    pub async fn list(
        &self,
        scope: Option<&str>,
        place: Option<&str>,
        name: Option<&str>,
    ) -> Result<Vec<Preference>, StoreError> {
        let [scope, place, name] = [scope, place, name].map(|text| text.map(str::to_owned));
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT scope, scope_id, name, value FROM preference
                     WHERE (CAST(?1 AS TEXT) IS NULL OR scope = ?1)
                     AND (CAST(?2 AS TEXT) IS NULL OR scope_id = ?2)
                     AND (CAST(?3 AS TEXT) IS NULL OR name = ?3)
                     ORDER BY scope, scope_id, name",
                    parameters![scope, place, name],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }
}

fn read(row: &Row) -> Result<Preference, StoreError> {
    let value: Vec<u8> = get(row, "value")?;
    Ok(Preference {
        scope: get(row, "scope")?,
        place: get(row, "scope_id")?,
        name: get(row, "name")?,
        value: read_value(&value)?,
    })
}

fn read_value(bytes: &[u8]) -> Result<Json, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::damaged("preference", error))
}
