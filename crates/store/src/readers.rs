//! [`Readers`]: the few connections that read. One that a server's restart or a cut line has ended is
//! noticed by its first statement, which is then asked again on a new one: nothing is asked beforehand,
//! so that a read is one round trip.

use std::{fmt, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use parking_lot::Mutex;
use sqlx::{
    Any, Error, Execute, Executor, SqlStr,
    any::{AnyRow, AnyStatement, AnyTypeInfo},
};
use tokio::sync::Semaphore;

use crate::connection::{Connection, Connector, Statement, Step, Steps, is_lost, row_of, streamed};

const MOST: usize = 4;
/// For one of them to be free.
const WAIT: Duration = Duration::from_secs(30);

/// Clones share the connections.
#[derive(Clone)]
pub(crate) struct Readers {
    connector: Connector,
    /// How many may be in use. A semaphore, which serves in the order of asking.
    free: Arc<Semaphore>,
    /// Those that nobody uses. A mutex held for a push or a pop.
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    /// Connects when first used: a command that only writes needs none.
    pub(crate) fn new(connector: Connector) -> Self {
        Readers {
            connector,
            free: Arc::new(Semaphore::new(MOST)),
            idle: Arc::default(),
        }
    }

    async fn read(&self, statement: &Statement) -> Result<Vec<Step>, Error> {
        let free = tokio::time::timeout(WAIT, self.free.acquire()).await;
        let _mine = free
            .map_err(|_| Error::PoolTimedOut)?
            .map_err(|_| Error::PoolClosed)?;
        let known = self.idle.lock().pop();
        if let Some(mut known) = known
            && known.is_alive().await
        {
            match known.steps(statement).await {
                // The others went the same way.
                Err(error) if is_lost(&error) => self.idle.lock().clear(),
                read => {
                    self.idle.lock().push(known);
                    return read;
                }
            }
        }
        let mut new = self.connector.reader().await?;
        let read = new.steps(statement).await;
        if !read.as_ref().is_err_and(is_lost) {
            self.idle.lock().push(new);
        }
        read
    }
}

impl<'c> Executor<'c> for &'c Readers {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Steps<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        streamed(async move { self.read(&Statement::of(query)?).await })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let row = async move { self.read(&Statement::of(query)?).await.map(row_of) };
        row.boxed()
    }

    /// Refused: a prepared statement belongs to one connection, and nobody here prepares any.
    fn prepare_with<'e>(
        self,
        _: SqlStr,
        _: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement, Error>>
    where
        'c: 'e,
    {
        std::future::ready(Err(Error::PoolClosed)).boxed()
    }
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readers")
    }
}
