//! Which files of clients are served by HTTP, under which address. Kept, so that a page that a
//! client has put up is still there after a restart.

use serde::Serialize;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

/// Over all clients.
pub const MAX_RESOURCES: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// Begins with a slash and does not end with one.
    pub url: String,
    /// Beneath the folder of remote clients.
    pub path: String,
    pub client: String,
}

pub struct Resources<'a>(pub(crate) &'a Database);

impl Resources<'_> {
    /// One of the same address and client is replaced; of another client, only the operator's word
    /// replaces it.
    pub async fn put(&self, resource: &Resource) -> Result<(), StoreError> {
        let Resource { url, path, client } = resource.clone();
        self.0
            .write(move |tx| {
                let put = tx.writes_one(
                    "INSERT INTO resource (url, path, client, added_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (url) DO UPDATE SET path = excluded.path,
                         client = excluded.client, added_at = excluded.added_at
                     WHERE resource.client = excluded.client OR excluded.client = 'operator'",
                    parameters![url, path, client, row::now()],
                )?;
                if !put {
                    return Err(StoreError::AddressTaken(url));
                }
                let count = tx.query_one("SELECT COUNT(*) FROM resource", &[])?.at(0)?;
                if row::read_count("resources", count)? > MAX_RESOURCES as u64 {
                    return Err(StoreError::TooMany {
                        what: "static resources",
                        limit: MAX_RESOURCES,
                    });
                }
                Ok(())
            })
            .await
    }

    pub async fn list(&self) -> Result<Vec<Resource>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT url, path, client FROM resource ORDER BY url", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }
}

fn read(row: &Row) -> Result<Resource, StoreError> {
    Ok(Resource {
        url: get(row, "url")?,
        path: get(row, "path")?,
        client: get(row, "client")?,
    })
}
