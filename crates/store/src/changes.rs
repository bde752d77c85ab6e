//! Row changes that a method or a turn asked for. Only the journal applies them, in the
//! transaction that records what asked, so a change happens exactly when its cause is on record.

use callgate_contract::{Change, JournalId, Part};

use crate::{LogRole, NewTimer, StoreError, connection::Connection, log, notes, outbox, timers};

pub(crate) async fn apply(
    connection: &mut Connection,
    journal: JournalId,
    changes: &[Change],
    holder: Option<String>,
) -> Result<(), StoreError> {
    let by = Some(journal);
    for change in changes {
        match change {
            Change::Send { message } => {
                let (session, parts) = (&message.session, &message.parts);
                log::append(connection, by, session, LogRole::Assistant, parts).await?;
                outbox::queue(connection, message, holder.clone()).await?;
            }
            Change::Remember {
                session,
                name,
                text,
            } => notes::write(connection, session, name, text).await?,
            Change::Forget { session, name } => notes::erase(connection, session, name).await?,
            Change::SystemRow { session, text } => {
                let parts = [Part::text(text)];
                log::append(connection, by, session, LogRole::System, &parts).await?;
            }
            Change::Unfinished { session, text } => {
                log::append_unfinished(connection, journal, session, text).await?;
            }
            Change::SetTimer {
                id,
                session,
                user,
                due_at,
                text,
            } => {
                let timer = NewTimer {
                    id: *id,
                    session: session.clone(),
                    user: user.clone(),
                    due_at: crate::row::read_time(*due_at)?,
                    text: text.clone(),
                };
                timers::set(connection, &timer).await?;
            }
            Change::CancelTimer { session, id } => {
                timers::cancel(connection, session, *id).await?;
            }
        }
    }
    Ok(())
}
