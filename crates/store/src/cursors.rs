//! How far each chat platform's stream of events was read: what the platform is asked to go on from.

use crate::{StoreError, database::Database, tx::parameters};

pub struct Cursors<'a>(pub(crate) &'a Database);

impl Cursors<'_> {
    pub async fn get(&self, platform: &str) -> Result<Option<String>, StoreError> {
        let platform = platform.to_owned();
        let select = "SELECT cursor FROM platform_cursor WHERE platform = ?1";
        self.0
            .read(move |tx| tx.scalar(select, parameters![platform]))
            .await
    }

    pub async fn set(&self, platform: &str, cursor: &str) -> Result<(), StoreError> {
        let (platform, cursor) = (platform.to_owned(), cursor.to_owned());
        self.0
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO platform_cursor (platform, cursor) VALUES (?1, ?2)
                     ON CONFLICT (platform) DO UPDATE SET cursor = excluded.cursor",
                    parameters![platform, cursor],
                )?;
                Ok(())
            })
            .await
    }

    /// Of a platform that is left: one of the same name may be another.
    pub async fn remove(&self, platform: &str) -> Result<(), StoreError> {
        let platform = platform.to_owned();
        self.0
            .write(move |tx| {
                let delete = "DELETE FROM platform_cursor WHERE platform = ?1";
                tx.execute(delete, parameters![platform])?;
                Ok(())
            })
            .await
    }
}
