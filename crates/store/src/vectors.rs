//! Texts as vectors, kept by the model that made them and the hash of the text: a text that has not
//! changed is never sent twice.

use std::collections::HashMap;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

pub struct Vectors<'a>(pub(crate) &'a Database);

impl Vectors<'_> {
    /// By which a text's vector is known.
    pub fn hash(text: &str) -> String {
        row::hash(text.as_bytes())
    }

    /// All of a model, by the hash of the text.
    pub async fn of(&self, model: &str) -> Result<HashMap<String, Vec<f32>>, StoreError> {
        let model = model.to_owned();
        self.0
            .read(move |tx| {
                let select = "SELECT hash, vector FROM embedding WHERE model = ?1";
                let read = |row: &Row| {
                    let bytes: Vec<u8> = get(row, "vector")?;
                    Ok((get(row, "hash")?, numbers(&bytes)))
                };
                let rows = tx.query(select, parameters![model])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    pub async fn keep(
        &self,
        model: &str,
        vectors: &[(String, Vec<f32>)],
    ) -> Result<(), StoreError> {
        let (model, vectors) = (model.to_owned(), vectors.to_vec());
        self.0
            .write(move |tx| {
                for (hash, vector) in vectors {
                    let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
                    tx.execute(
                        "INSERT INTO embedding (model, hash, vector, made_at)
                         VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (model, hash) DO UPDATE
                         SET vector = excluded.vector, made_at = excluded.made_at",
                        parameters![model, hash, bytes, row::now()],
                    )?;
                }
                Ok(())
            })
            .await
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks
        .iter()
        .map(|chunk| f32::from_le_bytes(*chunk))
        .collect()
}
