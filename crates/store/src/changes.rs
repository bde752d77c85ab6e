//! Row changes that a method or a turn asked for. Only the journal applies them, in the
//! transaction that records what asked, so a change happens exactly when its cause is on record.

use callgate_contract::{Change, JournalId, Part};

use uuid::Uuid;

use crate::{LogRole, NewTimer, StoreError, log, notes, outbox, timers, tx::Tx};

pub(crate) fn apply(
    tx: &mut dyn Tx,
    journal: JournalId,
    changes: &[Change],
    holder: Option<Uuid>,
) -> Result<(), StoreError> {
    let by = Some(journal);
    for change in changes {
        match change {
            Change::Send { message } => {
                let (session, parts) = (&message.session, &message.parts);
                let row = log::append(tx, by, session, (LogRole::Assistant, None), parts)?;
                outbox::queue(tx, message, Some(row), holder)?;
            }
            Change::Remember {
                session,
                name,
                text,
            } => notes::write(tx, session, name, text)?,
            Change::Forget { session, name } => notes::erase(tx, session, name)?,
            Change::SystemRow {
                session,
                text,
                provenance,
            } => {
                let parts = [Part::text(text)];
                let from = Some(provenance);
                log::append(tx, by, session, (LogRole::System, from), &parts)?;
            }
            Change::Unfinished { session, text } => {
                log::append_unfinished(tx, journal, session, text)?;
            }
            Change::SetTimer {
                id,
                session,
                principal,
                role,
                due_at,
                text,
            } => {
                let timer = NewTimer {
                    id: *id,
                    session: session.clone(),
                    principal: principal.clone(),
                    role: *role,
                    due_at: crate::row::read_time(*due_at)?,
                    text: text.clone(),
                };
                timers::set(tx, &timer)?;
            }
            Change::CancelTimer { session, id } => {
                timers::cancel(tx, session, *id)?;
            }
        }
    }
    Ok(())
}
