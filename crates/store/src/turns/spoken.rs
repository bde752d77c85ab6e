//! How much was said in a session of late, for whoever decides whether to say more.

use callgate_contract::SessionKey;
use jiff::Timestamp;

use super::Turns;
use crate::{
    StoreError,
    row::{self, get},
    tx::parameters,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// When anything was last said there.
    pub last: Option<Timestamp>,
    /// Turns that nobody asked for: those under way, and those that ended within the time.
    pub unprompted: u64,
}

impl Turns<'_> {
    pub async fn spoken(
        &self,
        session: &SessionKey,
        since: Timestamp,
    ) -> Result<Spoken, StoreError> {
        let session = session.to_string();
        self.0
            .database
            .read(move |tx| {
                let row = tx.query_one(
                    "SELECT (SELECT MAX(written_at) FROM log
                             WHERE session = ?1 AND role = 'assistant') AS last,
                            (SELECT COUNT(*) FROM turn WHERE session = ?1 AND unprompted = 1
                             AND (finished_at IS NULL OR finished_at > ?2)) AS unprompted",
                    parameters![session, since.as_millisecond()],
                )?;
                let last: Option<i64> = get(&row, "last")?;
                Ok(Spoken {
                    last: last.map(row::read_time).transpose()?,
                    unprompted: row::read_count("unprompted", get(&row, "unprompted")?)?,
                })
            })
            .await
    }
}
