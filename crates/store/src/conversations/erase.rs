//! Deleting a conversation, or a turn of none: every text that it, its turns and their calls hold
//! goes in one transaction; ids, hashes and counts stay, so that a record can still be told from a forged
//! one. Files and notes belong to the session and are not touched.

use callgate_contract::{ConversationId, JournalId};

use crate::{
    StoreError,
    connection::Connection,
    row::{self, get},
};

/// Turns of the conversation, of their sub-agents, and the runs of all these.
const JOURNALS: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM turn WHERE conversation = $1
        UNION SELECT turn.id FROM turn JOIN tree ON turn.parent = tree.id)
    SELECT id FROM tree UNION SELECT journal FROM run WHERE turn IN (SELECT id FROM tree)";

/// The same of one turn.
const OF_TURN: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM turn WHERE id = $1
        UNION SELECT turn.id FROM turn JOIN tree ON turn.parent = tree.id)
    SELECT id FROM tree UNION SELECT journal FROM run WHERE turn IN (SELECT id FROM tree)";

const OF_CONVERSATION: [&str; 3] = [
    "UPDATE conversation SET title = NULL WHERE id = $1",
    "UPDATE message SET message = NULL WHERE conversation = $1",
    "DELETE FROM current_conversation WHERE conversation = $1",
];

const OF_JOURNAL: [&str; 7] = [
    "UPDATE turn SET plan = NULL, report = NULL WHERE id = $1",
    "UPDATE round SET request = NULL, reply = NULL WHERE turn = $1",
    "DELETE FROM altered WHERE turn = $1",
    "UPDATE run SET code = NULL, report = NULL WHERE journal = $1",
    "UPDATE approval SET arguments = 'null' WHERE journal = $1",
    "UPDATE log SET parts = '[]', sender_name = NULL WHERE turn = $1",
    "UPDATE log SET parts = '[]' WHERE journal = $1",
];

pub(super) async fn delete(
    connection: &mut Connection,
    id: ConversationId,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE conversation SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL")
        .bind(id.to_string())
        .bind(row::now())
        .execute(&mut *connection)
        .await?;
    erase(connection, id).await
}

/// Also for what a turn writes that outlives its conversation.
pub(crate) async fn erase(
    connection: &mut Connection,
    id: ConversationId,
) -> Result<(), StoreError> {
    for statement in OF_CONVERSATION {
        let statement = sqlx::query(statement).bind(id.to_string());
        statement.execute(&mut *connection).await?;
    }
    erase_journals(connection, JOURNALS, id.to_string()).await
}

/// Every text of a turn that is part of no conversation.
pub(crate) async fn erase_turn(
    connection: &mut Connection,
    turn: JournalId,
) -> Result<(), StoreError> {
    erase_journals(connection, OF_TURN, turn.0.to_string()).await
}

async fn erase_journals(
    connection: &mut Connection,
    which: &'static str,
    id: String,
) -> Result<(), StoreError> {
    let journals: Vec<String> = sqlx::query_scalar(which)
        .bind(id)
        .fetch_all(&mut *connection)
        .await?;
    for journal in journals {
        for statement in OF_JOURNAL {
            let statement = sqlx::query(statement).bind(journal.clone());
            statement.execute(&mut *connection).await?;
        }
        erase_calls(connection, &journal).await?;
    }
    Ok(())
}

/// Calls read back with empty arguments and results; how they ended stays.
async fn erase_calls(connection: &mut Connection, journal: &str) -> Result<(), StoreError> {
    let calls =
        sqlx::query("SELECT sequence, arguments FROM call WHERE journal = $1 AND hash IS NULL")
            .bind(journal.to_owned())
            .fetch_all(&mut *connection)
            .await?;
    for call in calls {
        let arguments: Vec<u8> = get(&call, "arguments")?;
        sqlx::query(
            "UPDATE call SET hash = $3, arguments = $4, text = NULL, parts = NULL, detail = NULL,
                 value = CASE WHEN outcome = 'value' THEN $4 END,
                 error = CASE WHEN outcome = 'error' THEN $4 END
             WHERE journal = $1 AND sequence = $2",
        )
        .bind(journal.to_owned())
        .bind(get::<i64>(&call, "sequence")?)
        .bind(row::hash(&arguments))
        .bind(Vec::<u8>::new())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
