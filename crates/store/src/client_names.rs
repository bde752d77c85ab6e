//! Whose the names of remote clients are. A name belongs to whoever used it first, for good: not even
//! a revoked key sets it free, since rooms, notes and answers are kept under it. Only the operator hands
//! one on, by making a key for it. Names of instances are many and short-lived; those alone are forgotten.

use crate::{StoreError, connection::Connection, database::Database, row};

/// Ids of one owner: a key may be used under several, not under ever new ones.
pub const MAX_NAMES: usize = 10_000;
/// Instances of one owner; those that are in no room make room, oldest first.
const MAX_INSTANCES: i64 = 1_000;

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    Client,
    /// One of several that a client tells apart.
    Instance,
}

pub struct ClientNames<'a>(pub(crate) &'a Database);

/// The owner of a name whose keys the operator made, or whom they approved: the client itself.
pub fn client_owner(client: &str) -> String {
    format!("client-{client}")
}

impl ClientNames<'_> {
    pub async fn owner(&self, name: &str) -> Result<Option<String>, StoreError> {
        let owner = sqlx::query_scalar("SELECT owner FROM client_name WHERE name = $1");
        let owner = owner.bind(name.to_owned());
        Ok(owner.fetch_optional(&self.0.readers).await?)
    }

    /// Binds a free name. Fails if it is somebody else's.
    pub async fn claim(&self, name: &str, of: NameOf, owner: &str) -> Result<(), StoreError> {
        let known =
            sqlx::query_scalar("SELECT instance FROM client_name WHERE name = $1 AND owner = $2");
        let known: Option<i64> = known
            .bind(name.to_owned())
            .bind(owner.to_owned())
            .fetch_optional(&self.0.readers)
            .await?;
        // Nearly always it is known, and then nobody waits for the writer.
        if known.is_some_and(|instance| instance == 0 || of == NameOf::Instance) {
            return Ok(());
        }
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let claimed = claim(writer.connection(), name, of, owner).await;
        match claimed {
            Ok(()) => writer.commit().await,
            Err(error) => {
                writer.rollback().await?;
                Err(error)
            }
        }
    }
}

pub(crate) async fn claim(
    connection: &mut Connection,
    name: &str,
    of: NameOf,
    owner: &str,
) -> Result<(), StoreError> {
    let known = sqlx::query_scalar("SELECT owner FROM client_name WHERE name = $1");
    let known: Option<String> = known
        .bind(name.to_owned())
        .fetch_optional(&mut *connection)
        .await?;
    if known.as_ref().is_some_and(|known| known != owner) {
        return Err(StoreError::NameTaken(name.to_owned()));
    }
    if known.is_none() {
        let count = sqlx::query_scalar(
            "SELECT COUNT(*) FROM client_name WHERE owner = $1 AND instance = $2",
        );
        let count: i64 = count
            .bind(owner.to_owned())
            .bind(i64::from(of == NameOf::Instance))
            .fetch_one(&mut *connection)
            .await?;
        match of {
            NameOf::Client if row::read_count("names", count)? >= MAX_NAMES as u64 => {
                return Err(StoreError::TooMany {
                    what: "names of this key",
                    limit: MAX_NAMES,
                });
            }
            NameOf::Instance if count >= MAX_INSTANCES => make_room(connection, owner).await?,
            NameOf::Client | NameOf::Instance => {}
        }
    }
    assign(connection, name, of, owner).await
}

async fn make_room(connection: &mut Connection, owner: &str) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM client_name WHERE name IN (
             SELECT name FROM client_name WHERE owner = $1 AND instance = 1
             AND name NOT IN (SELECT identity FROM room_member)
             ORDER BY bound_at, name LIMIT $2)",
    )
    .bind(owner.to_owned())
    .bind(MAX_INSTANCES / 10)
    .execute(connection)
    .await?;
    Ok(())
}

/// The operator's word: whoever had it has it no more.
pub(crate) async fn assign(
    connection: &mut Connection,
    name: &str,
    of: NameOf,
    owner: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO client_name (name, owner, instance, bound_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
             instance = excluded.instance, bound_at = excluded.bound_at",
    )
    .bind(name.to_owned())
    .bind(owner.to_owned())
    .bind(i64::from(of == NameOf::Instance))
    .bind(row::now())
    .execute(connection)
    .await?;
    Ok(())
}
