//! Row changes that a method asked for. Only the journal applies them, in the transaction that
//! records the call's outcome, so a change happens exactly when the call is on record.

use callgate_contract::{Change, Part};
use sqlx::AnyConnection;

use crate::{LogRole, StoreError, log, notes, outbox};

pub(crate) async fn apply(
    connection: &mut AnyConnection,
    changes: &[Change],
) -> Result<(), StoreError> {
    for change in changes {
        match change {
            Change::Send { message } => {
                let parts = &message.parts;
                log::append(connection, &message.session, LogRole::Assistant, parts).await?;
                outbox::queue(connection, message).await?;
            }
            Change::Remember {
                session,
                name,
                text,
            } => notes::write(connection, session, name, text).await?,
            Change::Forget { session, name } => notes::erase(connection, session, name).await?,
            Change::SystemRow { session, text } => {
                let parts = [Part::text(text)];
                log::append(connection, session, LogRole::System, &parts).await?;
            }
        }
    }
    Ok(())
}
