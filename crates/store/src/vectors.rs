//! Texts as vectors, kept by the model that made them and the hash of the text: a text that has not
//! changed is never sent twice.

use std::collections::HashMap;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
};

pub struct Vectors<'a>(pub(crate) &'a Database);

impl Vectors<'_> {
    /// By which a text's vector is known.
    pub fn hash(text: &str) -> String {
        row::hash(text.as_bytes())
    }

    /// All of a model, by the hash of the text.
    pub async fn of(&self, model: &str) -> Result<HashMap<String, Vec<f32>>, StoreError> {
        let rows = sqlx::query("SELECT hash, vector FROM embedding WHERE model = $1")
            .bind(model.to_owned())
            .fetch_all(&self.0.readers)
            .await?;
        let read = |row: &sqlx::any::AnyRow| {
            let bytes: Vec<u8> = get(row, "vector")?;
            Ok((get(row, "hash")?, numbers(&bytes)))
        };
        rows.iter().map(read).collect()
    }

    pub async fn keep(
        &self,
        model: &str,
        vectors: &[(String, Vec<f32>)],
    ) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        for (hash, vector) in vectors {
            let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
            sqlx::query(
                "INSERT INTO embedding (model, hash, vector, made_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (model, hash) DO UPDATE
                 SET vector = excluded.vector, made_at = excluded.made_at",
            )
            .bind(model.to_owned())
            .bind(hash.clone())
            .bind(bytes)
            .bind(row::now())
            .execute(writer.connection())
            .await?;
        }
        writer.commit().await
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks
        .iter()
        .map(|chunk| f32::from_le_bytes(*chunk))
        .collect()
}
