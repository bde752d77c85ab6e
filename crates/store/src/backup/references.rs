//! Which files rows of the database name, as paths beneath the data directory.

use std::collections::BTreeSet;

use callgate_contract::Part;
use uuid::Uuid;

use crate::{
    StoreError,
    row::{self, get},
    tx::Tx,
};

pub(super) fn referenced(tx: &mut dyn Tx) -> Result<BTreeSet<String>, StoreError> {
    let resources: Vec<String> = tx.scalars("SELECT path FROM resource", &[])?;
    let mut paths: BTreeSet<String> = resources
        .into_iter()
        .map(|path| format!("remote/{path}"))
        .collect();
    let rows = tx.query(
        "SELECT session.id, log.parts FROM log JOIN session ON session.session = log.session
         WHERE log.parts LIKE '%\"/app/%'",
        &[],
    )?;
    for found in rows {
        let (session, parts): (Uuid, String) = (get(&found, "id")?, get(&found, "parts")?);
        let parts: Vec<Part> = row::read_json("parts", &parts)?;
        let names = parts.iter().filter_map(|part| match part {
            Part::Image { url } | Part::Audio { url } | Part::File { url, .. } => {
                url.strip_prefix("/app/")
            }
            _ => None,
        });
        let beneath =
            names.filter(|name| name.starts_with("shared/") || name.starts_with("uploads/"));
        paths.extend(beneath.map(|name| format!("sessions/{session}/{name}")));
    }
    Ok(paths)
}
