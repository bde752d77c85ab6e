//! Which files of clients are served by HTTP, under which address. Kept, so that a page that a
//! client has put up is still there after a restart.

use serde::Serialize;
use sqlx::any::AnyRow;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
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
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let insert = sqlx::query(
            "INSERT INTO resource (url, path, client, added_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (url) DO UPDATE SET
                 path = excluded.path, client = excluded.client, added_at = excluded.added_at
             WHERE resource.client = excluded.client OR excluded.client = 'operator'",
        );
        let put = insert
            .bind(resource.url.clone())
            .bind(resource.path.clone())
            .bind(resource.client.clone())
            .bind(row::now())
            .execute(writer.connection())
            .await?;
        if put.rows_affected() == 0 {
            writer.rollback().await?;
            return Err(StoreError::AddressTaken(resource.url.clone()));
        }
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM resource")
            .fetch_one(writer.connection())
            .await?;
        if row::read_count("resources", count)? > MAX_RESOURCES as u64 {
            writer.rollback().await?;
            return Err(StoreError::TooMany {
                what: "static resources",
                limit: MAX_RESOURCES,
            });
        }
        writer.commit().await
    }

    pub async fn list(&self) -> Result<Vec<Resource>, StoreError> {
        let rows = sqlx::query("SELECT url, path, client FROM resource ORDER BY url")
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &AnyRow) -> Result<Resource, StoreError> {
    Ok(Resource {
        url: get(row, "url")?,
        path: get(row, "path")?,
        client: get(row, "client")?,
    })
}
