//! What a capsule takes out of the store that nobody else reads, and what its replay puts back under
//! the ids and times it had. Only for a store that nobody else works on: nothing is checked against
//! what others may be doing.

use callgate_contract::{ConversationId, JournalId, SessionKey};

use crate::{
    HistoryRow, Journal, LogRow, Round, RunStart, StoreError, Tail, conversations, journal, log,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

pub struct Capsules<'a>(pub(crate) &'a Journal);

/// A row of the log, with the journal that wrote it where it went out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRow {
    pub row: LogRow,
    pub journal: Option<JournalId>,
}

impl Capsules<'_> {
    /// The whole log of a session, oldest first.
    pub async fn log(&self, session: &SessionKey) -> Result<Vec<WrittenRow>, StoreError> {
        let session = session.to_string();
        let read = |found: &Row| {
            Ok(WrittenRow {
                row: log::read(found)?,
                journal: get(found, "journal")?,
            })
        };
        self.0
            .database
            .read(move |tx| {
                let select = "SELECT * FROM log WHERE session = ?1 ORDER BY id";
                let rows = tx.query(select, parameters![session])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// What a turn has added to its conversation, also where that begins later by now.
    pub async fn added(
        &self,
        conversation: ConversationId,
        turn: JournalId,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        self.0
            .database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM message
                     WHERE conversation = ?1 AND turn = ?2 AND message IS NOT NULL
                     ORDER BY position",
                    parameters![conversation, turn],
                )?;
                rows.iter().map(conversations::read_message).collect()
            })
            .await
    }

    /// In place of what the replay itself has written under the same number: an answer that a plugin
    /// had sent in its own words. The next row that is written gets a number after these.
    pub async fn put_log(&self, rows: &[WrittenRow]) -> Result<(), StoreError> {
        let (rows, shared) = (rows.to_vec(), self.0.database.is_shared());
        self.0
            .database
            .write(move |tx| {
                for written in &rows {
                    put_log_row(tx, written)?;
                }
                if shared {
                    // PostgreSQL counts on its own, whatever ids the rows were given.
                    let follow = "SELECT setval(pg_get_serial_sequence('log', 'id'), MAX(id))
                                  FROM log";
                    tx.query(follow, &[])?;
                }
                Ok(())
            })
            .await
    }

    /// An empty conversation under its own id; one that is there stays.
    pub async fn put_conversation(
        &self,
        id: ConversationId,
        session: &SessionKey,
    ) -> Result<(), StoreError> {
        let session = session.clone();
        self.0
            .database
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO conversation (id, session, platform, first_position,
                                               last_position, created_at, updated_at)
                     VALUES (?1, ?2, ?3, 1, 0, ?4, ?4) ON CONFLICT (id) DO NOTHING",
                    parameters![id, session.to_string(), session.platform(), row::now()],
                )?;
                Ok(())
            })
            .await
    }

    /// A round that was asked and answered at its own times.
    pub async fn put_round(&self, turn: JournalId, round: &Round) -> Result<(), StoreError> {
        let round = round.clone();
        self.0
            .database
            .write(move |tx| {
                let request = round.request.as_ref().map(ToString::to_string);
                let reply = round.answer.as_ref().map(|answer| answer.reply.to_string());
                let put = tx.writes_one(
                    "INSERT INTO model_request (turn, round, session, principal, user_name, model, request,
                                                asked_at, attempts, reply, reply_hash, answered_at)
                     SELECT id, ?2, session, principal, user_name, model, ?3, ?4, ?5, ?6, ?7, ?8
                     FROM turn WHERE id = ?1",
                    parameters![
                        turn,
                        round.number,
                        request,
                        round.asked_at.as_millisecond(),
                        round.attempts,
                        reply,
                        reply.as_ref().map(|reply| row::hash(reply.as_bytes())),
                        round
                            .answer
                            .as_ref()
                            .map(|answer| answer.at.as_millisecond()),
                    ],
                )?;
                put.then_some(()).ok_or(StoreError::UnknownTurn(turn))
            })
            .await
    }

    /// A run that has not ended, and what it is to be shown after its last call.
    pub async fn put_run(&self, run: &RunStart, tail: &Tail) -> Result<(), StoreError> {
        self.0.begin(run).await?;
        let (id, clocks, threaded) = (run.id, journal::clock_bytes(&tail.clocks), tail.threaded);
        self.0
            .database
            .write(move |tx| {
                tx.execute(
                    "UPDATE run SET clocks = ?2, threaded = ?3 WHERE journal = ?1",
                    parameters![id, clocks, threaded],
                )?;
                Ok(())
            })
            .await
    }
}

fn put_log_row(
    tx: &mut dyn Tx,
    WrittenRow { row, journal }: &WrittenRow,
) -> Result<(), StoreError> {
    let sender = row.sender.as_ref();
    tx.execute(
        "INSERT INTO log (id, session, role, parts, written_at, sender, sender_name, message_id,
                          hidden, mentioned, dismissed, turn, journal, unfinished, provenance)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12, ?13, ?14)
         ON CONFLICT (id) DO UPDATE SET role = excluded.role, parts = excluded.parts,
             written_at = excluded.written_at, sender = excluded.sender,
             sender_name = excluded.sender_name, message_id = excluded.message_id,
             hidden = excluded.hidden, mentioned = excluded.mentioned, turn = excluded.turn,
             journal = excluded.journal, unfinished = excluded.unfinished,
             provenance = excluded.provenance",
        parameters![
            row.id,
            row.session.to_string(),
            row::word(row.role)?,
            row::json("parts", &row.parts)?,
            row.at.as_millisecond(),
            sender.map(|sender| sender.id.as_str()),
            sender.map(|sender| sender.name.as_bytes()),
            row.message_id,
            row.hidden,
            row.mentioned,
            row.turn,
            *journal,
            row.unfinished,
            row.provenance.as_ref().map(ToString::to_string),
        ],
    )?;
    Ok(())
}
