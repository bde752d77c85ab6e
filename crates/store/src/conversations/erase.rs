//! Deleting a conversation, or a turn of none: every text that it, its turns and their calls hold
//! goes in one transaction; ids, hashes and counts stay, so that a record can still be told from a forged
//! one. Files and notes belong to the session and are not touched.

use callgate_contract::{ConversationId, JournalId};
use uuid::Uuid;

use crate::{
    StoreError, row,
    tx::{Tx, parameters},
};

/// Turns of the conversation, of their sub-agents, and the runs of all these.
const JOURNALS: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM turn WHERE conversation = ?1
        UNION SELECT turn.id FROM turn JOIN tree ON turn.parent = tree.id)
    SELECT id FROM tree UNION SELECT journal FROM run WHERE turn IN (SELECT id FROM tree)";

/// The same of one turn.
const OF_TURN: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM turn WHERE id = ?1
        UNION SELECT turn.id FROM turn JOIN tree ON turn.parent = tree.id)
    SELECT id FROM tree UNION SELECT journal FROM run WHERE turn IN (SELECT id FROM tree)";

const OF_CONVERSATION: [&str; 3] = [
    "UPDATE conversation SET title = NULL WHERE id = ?1",
    "UPDATE message SET message = NULL WHERE conversation = ?1",
    "DELETE FROM current_conversation WHERE conversation = ?1",
];

const OF_JOURNAL: [&str; 9] = [
    "UPDATE turn SET plan = NULL, report = NULL WHERE id = ?1",
    "UPDATE model_request SET request = NULL, splices = NULL, reply = NULL
     WHERE turn = ?1 AND round IS NOT NULL",
    "UPDATE model_request SET shared = NULL WHERE turn = ?1 AND shared IS NOT NULL",
    "DELETE FROM altered WHERE turn = ?1",
    "UPDATE run SET code = NULL, report = NULL WHERE journal = ?1",
    "UPDATE approval SET arguments = 'null', reason = NULL WHERE journal = ?1",
    "UPDATE log SET parts = '[]', sender_name = NULL WHERE turn = ?1",
    "UPDATE log SET parts = '[]' WHERE journal = ?1",
    // What is queued still leaves.
    "DELETE FROM outbox WHERE state <> 'queued'
     AND log IN (SELECT id FROM log WHERE journal = ?1)",
];

pub(super) fn delete(tx: &mut dyn Tx, id: ConversationId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE conversation SET deleted_at = ?2 WHERE id = ?1 AND deleted_at IS NULL",
        parameters![id, row::now()],
    )?;
    erase(tx, id)
}

/// Also for what a turn writes that outlives its conversation.
pub(crate) fn erase(tx: &mut dyn Tx, id: ConversationId) -> Result<(), StoreError> {
    for statement in OF_CONVERSATION {
        tx.execute(statement, parameters![id])?;
    }
    erase_journals(tx, JOURNALS, id.0)
}

/// Every text of a turn that is part of no conversation.
pub(crate) fn erase_turn(tx: &mut dyn Tx, turn: JournalId) -> Result<(), StoreError> {
    erase_journals(tx, OF_TURN, turn.0)
}

fn erase_journals(tx: &mut dyn Tx, which: &str, id: Uuid) -> Result<(), StoreError> {
    for journal in tx.scalars::<JournalId>(which, parameters![id])? {
        for statement in OF_JOURNAL {
            tx.execute(statement, parameters![journal])?;
        }
        erase_calls(tx, journal)?;
    }
    Ok(())
}

/// Calls read back with empty arguments and results; how they ended stays.
fn erase_calls(tx: &mut dyn Tx, journal: JournalId) -> Result<(), StoreError> {
    let select = "SELECT sequence, arguments FROM call WHERE journal = ?1 AND hash IS NULL";
    for call in tx.query(select, parameters![journal])? {
        let (sequence, arguments): (i64, Vec<u8>) = (call.at(0)?, call.at(1)?);
        tx.execute(
            "UPDATE call SET hash = ?3, arguments = ?4, text = NULL, parts = NULL, detail = NULL,
                 value = CASE WHEN outcome = 'value' THEN ?4 END,
                 error = CASE WHEN outcome = 'error' THEN ?4 END
             WHERE journal = ?1 AND sequence = ?2",
            parameters![journal, sequence, row::hash(&arguments), Vec::<u8>::new()],
        )?;
    }
    Ok(())
}
