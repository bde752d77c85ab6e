//! Leases: which instance may run turns in a session, and which one works on a turn or run. What an
//! instance holds is its own as long as it lives; whoever takes it over makes every later write of
//! the one before fail. With SQLite one process has everything, and nothing is asked.

use callgate_contract::{JournalId, SessionKey};
use uuid::Uuid;

use crate::{
    StoreError, crash_point,
    database::Database,
    tx::{Tx, parameters},
};

/// Agents and code of a turn go wherever it goes.
const TURNS_BELOW: &str = "WITH RECURSIVE below (id) AS (
         SELECT CAST(?1 AS BYTEA)
         UNION SELECT turn.id FROM turn JOIN below ON turn.parent = below.id)
     UPDATE turn SET holder = ?2 WHERE id IN (SELECT id FROM below) AND stop IS NULL";
const RUNS_BELOW: &str = "WITH RECURSIVE below (id) AS (
         SELECT CAST(?1 AS BYTEA)
         UNION SELECT turn.id FROM turn JOIN below ON turn.parent = below.id)
     UPDATE run SET holder = ?2 WHERE turn IN (SELECT id FROM below) AND stop IS NULL";

pub struct Leases<'a>(pub(crate) &'a Database);

/// A session that is this instance's. Given up, or run out with the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub(crate) session: SessionKey,
    pub(crate) token: Uuid,
    was_left: bool,
}

impl Leases<'_> {
    /// `None` if another instance has the session, and lives. What is ours already we have from now
    /// on by the new lease.
    pub async fn take(&self, session: &SessionKey) -> Result<Option<Lease>, StoreError> {
        let taken = self.take_from_others(session).await;
        crash_point("lease.after_take");
        taken
    }

    async fn take_from_others(&self, session: &SessionKey) -> Result<Option<Lease>, StoreError> {
        if !self.0.is_shared() {
            return Ok(Some(Lease::of_the_only(session)));
        }
        let mut lease = Lease {
            session: session.clone(),
            token: Uuid::now_v7(),
            was_left: false,
        };
        let (key, token) = (session.to_string(), lease.token);
        let (life, now) = (self.0.instance.life, self.0.shared_now());
        let taken = self.0.write(move |tx| {
            let given_up = tx.writes_one(
                "INSERT INTO lease (session, holder, token) VALUES (?1, ?2, ?3)
                 ON CONFLICT (session) DO NOTHING",
                parameters![key, life, token],
            )?;
            let was_left = !given_up
                && tx.writes_one(
                    "UPDATE lease SET holder = ?2, token = ?3
                     WHERE session = ?1 AND (holder = ?2 OR NOT EXISTS (
                         SELECT 1 FROM instance
                         WHERE instance.life = lease.holder AND instance.ends_at > ?4))",
                    parameters![key, life, token, now],
                )?;
            Ok((given_up, was_left))
        });
        let (given_up, was_left) = taken.await?;
        lease.was_left = was_left;
        Ok((given_up || was_left).then_some(lease))
    }

    /// Giving up what was taken anew since, by us or by another, changes nothing.
    pub async fn give_up(&self, lease: &Lease) -> Result<(), StoreError> {
        if !self.0.is_shared() {
            return Ok(());
        }
        let (session, token) = (lease.session.to_string(), lease.token);
        self.0
            .write(move |tx| {
                let give_up = "DELETE FROM lease WHERE session = ?1 AND token = ?2";
                tx.execute(give_up, parameters![session, token])?;
                Ok(())
            })
            .await
    }

    /// Makes a turn or run that has not ended ours. False if another instance has it, and lives, or it
    /// has ended.
    pub async fn adopt(&self, journal: JournalId) -> Result<bool, StoreError> {
        if !self.0.is_shared() {
            return Ok(true);
        }
        let (life, now) = (self.0.instance.life, self.0.shared_now());
        self.0.write(move |tx| adopt(tx, journal, life, now)).await
    }

    /// The same of a turn of the session whose lease we have: whoever worked on it before has lost it,
    /// even if they live. False also where the lease is no longer ours.
    pub async fn adopt_under(&self, lease: &Lease, turn: JournalId) -> Result<bool, StoreError> {
        if !self.0.is_shared() {
            return Ok(true);
        }
        let (lease, life, now) = (lease.clone(), self.0.instance.life, self.0.shared_now());
        self.0
            .write(move |tx| {
                if !lease.holds(tx)? {
                    return Ok(false);
                }
                let let_go = "UPDATE turn SET holder = NULL
                     WHERE id = ?1 AND session = ?2 AND leased = 1 AND stop IS NULL";
                tx.execute(let_go, parameters![turn, lease.session.to_string()])?;
                adopt(tx, turn, life, now)
            })
            .await
    }

    /// The turn waits, and any instance may go on with it.
    pub async fn let_go(&self, turn: JournalId) -> Result<(), StoreError> {
        if !self.0.is_shared() {
            return Ok(());
        }
        let life = self.0.instance.life;
        self.0
            .write(move |tx| {
                let let_go = "UPDATE turn SET holder = NULL WHERE id = ?1 AND holder = ?2";
                tx.execute(let_go, parameters![turn, life])?;
                Ok(())
            })
            .await
    }
}

impl Lease {
    fn of_the_only(session: &SessionKey) -> Lease {
        Lease {
            session: session.clone(),
            token: Uuid::nil(),
            was_left: false,
        }
    }

    /// Whoever had it before did not give it up: a turn may have been under way.
    pub fn was_left(&self) -> bool {
        self.was_left
    }

    /// False if it was taken from us. If not, it is not until the transaction ends.
    pub(crate) fn holds(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let select = "SELECT token FROM lease WHERE session = ?1 AND token = ?2 FOR UPDATE";
        let session = self.session.to_string();
        let held = tx.query_optional(select, parameters![session, self.token])?;
        Ok(held.is_some())
    }
}

fn adopt(tx: &mut dyn Tx, journal: JournalId, life: Uuid, now: i64) -> Result<bool, StoreError> {
    let mut adopted = 0;
    for update in [
        "UPDATE turn SET holder = ?2 WHERE id = ?1 AND stop IS NULL
         AND (holder IS NULL OR holder = ?2 OR NOT EXISTS (
             SELECT 1 FROM instance
             WHERE instance.life = turn.holder AND instance.ends_at > ?3))",
        "UPDATE run SET holder = ?2 WHERE journal = ?1 AND stop IS NULL
         AND (holder IS NULL OR holder = ?2 OR NOT EXISTS (
             SELECT 1 FROM instance
             WHERE instance.life = run.holder AND instance.ends_at > ?3))",
    ] {
        adopted += tx.execute(update, parameters![journal, life, now])?;
    }
    if adopted > 0 {
        for update in [TURNS_BELOW, RUNS_BELOW] {
            tx.execute(update, parameters![journal, life])?;
        }
    }
    Ok(adopted > 0)
}
