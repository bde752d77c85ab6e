//! What a capsule takes out of the store that nobody else reads, and what its replay puts back under
//! the ids and times it had. Only for a store that nobody else works on: nothing is checked against
//! what others may be doing.

use callgate_contract::{ConversationId, JournalId, SessionKey};
use sqlx::any::AnyRow;

use crate::{
    HistoryRow, Journal, LogRow, Round, RunStart, StoreError, Tail, conversations, journal, log,
    row::{self, get},
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
        let rows = sqlx::query("SELECT * FROM log WHERE session = $1 ORDER BY id")
            .bind(session.to_string())
            .fetch_all(&self.0.database.readers)
            .await?;
        let read = |found: &AnyRow| -> Result<WrittenRow, StoreError> {
            let journal: Option<String> = get(found, "journal")?;
            Ok(WrittenRow {
                row: log::read(found)?,
                journal: journal.as_deref().map(row::read_journal).transpose()?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// What a turn has added to its conversation, also where that begins later by now.
    pub async fn added(
        &self,
        conversation: ConversationId,
        turn: JournalId,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM message WHERE conversation = $1 AND turn = $2 AND message IS NOT NULL
             ORDER BY position",
        )
        .bind(conversation.to_string())
        .bind(turn.0.to_string())
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(conversations::read_message).collect()
    }

    /// In place of what the replay itself has written under the same number: an answer that a plugin
    /// had sent in its own words. The next row that is written gets a number after these.
    pub async fn put_log(&self, rows: &[WrittenRow]) -> Result<(), StoreError> {
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        for WrittenRow { row, journal } in rows {
            let sender = row.sender.as_ref();
            sqlx::query(
                "INSERT INTO log (id, session, role, parts, written_at, sender, sender_name,
                                  message_id, hidden, mentioned, dismissed, turn, journal,
                                  unfinished)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13)
                 ON CONFLICT (id) DO UPDATE SET role = excluded.role, parts = excluded.parts,
                     written_at = excluded.written_at, sender = excluded.sender,
                     sender_name = excluded.sender_name, message_id = excluded.message_id,
                     hidden = excluded.hidden, mentioned = excluded.mentioned,
                     turn = excluded.turn, journal = excluded.journal,
                     unfinished = excluded.unfinished",
            )
            .bind(row.id)
            .bind(row.session.to_string())
            .bind(row::word(row.role)?)
            .bind(row::json("parts", &row.parts)?)
            .bind(row.at.as_millisecond())
            .bind(sender.map(|sender| sender.id.clone()))
            .bind(sender.map(|sender| sender.name.clone().into_bytes()))
            .bind(row.message_id.clone())
            .bind(row::flag(row.hidden))
            .bind(row::flag(row.mentioned))
            .bind(row.turn.map(|turn| turn.0.to_string()))
            .bind(journal.map(|journal| journal.0.to_string()))
            .bind(row::flag(row.unfinished))
            .execute(writer.connection())
            .await?;
        }
        if let Some(last) = rows.iter().map(|written| written.row.id).max() {
            sqlx::query(
                "INSERT INTO counter (name, value) VALUES ('log', $1)
                 ON CONFLICT (name) DO UPDATE SET value = $1 WHERE counter.value < $1",
            )
            .bind(last)
            .execute(writer.connection())
            .await?;
        }
        writer.commit().await
    }

    /// An empty conversation under its own id; one that is there stays.
    pub async fn put_conversation(
        &self,
        id: ConversationId,
        session: &SessionKey,
    ) -> Result<(), StoreError> {
        let mut writer = self.0.database.writer().await?;
        sqlx::query(
            "INSERT INTO conversation (id, session, platform, first_position, last_position,
                                       created_at, updated_at)
             VALUES ($1, $2, $3, 1, 0, $4, $4) ON CONFLICT (id) DO NOTHING",
        )
        .bind(id.to_string())
        .bind(session.to_string())
        .bind(session.platform().to_owned())
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(())
    }

    /// A round that was asked and answered at its own times.
    pub async fn put_round(&self, turn: JournalId, round: &Round) -> Result<(), StoreError> {
        let answer = round.answer.as_ref();
        let mut writer = self.0.database.writer().await?;
        sqlx::query(
            "INSERT INTO round (turn, number, request, asked_at, attempts, reply, answered_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(turn.0.to_string())
        .bind(i64::from(round.number))
        .bind(round.request.as_ref().map(ToString::to_string))
        .bind(round.asked_at.as_millisecond())
        .bind(i64::from(round.attempts))
        .bind(answer.map(|answer| answer.reply.to_string()))
        .bind(answer.map(|answer| answer.at.as_millisecond()))
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(())
    }

    /// A run that has not ended, and what it is to be shown after its last call.
    pub async fn put_run(&self, run: &RunStart, tail: &Tail) -> Result<(), StoreError> {
        self.0.begin(run).await?;
        let mut writer = self.0.database.writer().await?;
        sqlx::query("UPDATE run SET clocks = $2, threaded = $3 WHERE journal = $1")
            .bind(run.id.0.to_string())
            .bind(journal::clock_bytes(&tail.clocks))
            .bind(row::flag(tail.threaded))
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(())
    }
}
