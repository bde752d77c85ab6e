//! Whose the names of remote clients are. A name belongs to whoever used it first, for good: not even
//! a revoked key sets it free, since rooms, notes and answers are kept under it. Only the operator hands
//! one on, by making a key for it. Names of instances are many and short-lived; those alone are forgotten.

use crate::{
    StoreError,
    database::Database,
    row,
    tx::{Tx, parameters},
};

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
        let name = name.to_owned();
        self.0.read(move |tx| owner_of(tx, &name)).await
    }

    /// Binds a free name. Fails if it is somebody else's.
    pub async fn claim(&self, name: &str, of: NameOf, owner: &str) -> Result<(), StoreError> {
        let (name, owner) = (name.to_owned(), owner.to_owned());
        let (asked, asker) = (name.clone(), owner.clone());
        let select = "SELECT instance FROM client_name WHERE name = ?1 AND owner = ?2";
        let known: Option<i64> = self
            .0
            .read(move |tx| tx.scalar(select, parameters![asked, asker]))
            .await?;
        // Nearly always it is known, and then nobody waits for the writer.
        if known.is_some_and(|instance| instance == 0 || of == NameOf::Instance) {
            return Ok(());
        }
        self.0.write(move |tx| claim(tx, &name, of, &owner)).await
    }
}

fn owner_of(tx: &mut dyn Tx, name: &str) -> Result<Option<String>, StoreError> {
    let owner = "SELECT owner FROM client_name WHERE name = ?1";
    tx.scalar(owner, parameters![name])
}

pub(crate) fn claim(
    tx: &mut dyn Tx,
    name: &str,
    of: NameOf,
    owner: &str,
) -> Result<(), StoreError> {
    match owner_of(tx, name)? {
        Some(known) if known != owner => return Err(StoreError::NameTaken(name.to_owned())),
        Some(_) => {}
        None => find_room(tx, of, owner)?,
    }
    assign(tx, name, of, owner)
}

/// For one more of the owner's names.
fn find_room(tx: &mut dyn Tx, of: NameOf, owner: &str) -> Result<(), StoreError> {
    let count = "SELECT COUNT(*) FROM client_name WHERE owner = ?1 AND instance = ?2";
    let count = tx.query_one(count, parameters![owner, of == NameOf::Instance])?;
    let count: i64 = count.at(0)?;
    match of {
        NameOf::Client if row::read_count("names", count)? >= MAX_NAMES as u64 => {
            return Err(StoreError::TooMany {
                what: "names of this key",
                limit: MAX_NAMES,
            });
        }
        NameOf::Instance if count >= MAX_INSTANCES => {
            tx.execute(
                "DELETE FROM client_name WHERE name IN (
                     SELECT name FROM client_name WHERE owner = ?1 AND instance = 1
                     AND name NOT IN (SELECT identity FROM room_member)
                     ORDER BY bound_at, name LIMIT ?2)",
                parameters![owner, MAX_INSTANCES / 10],
            )?;
        }
        NameOf::Client | NameOf::Instance => {}
    }
    Ok(())
}

/// The operator's word: whoever had it has it no more.
pub(crate) fn assign(
    tx: &mut dyn Tx,
    name: &str,
    of: NameOf,
    owner: &str,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO client_name (name, owner, instance, bound_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
             instance = excluded.instance, bound_at = excluded.bound_at",
        parameters![name, owner, of == NameOf::Instance, row::now()],
    )?;
    Ok(())
}
