//! `callgate key`: keys for remote clients.

use std::process::ExitCode;

use callgate_service::{
    METHODS,
    operations::{CreateKey, CreatedKey, KeyView, ListKeys, RevokeKey, RevokedKey},
};

use jiff::Timestamp;

use crate::{
    args::{Common, KeyArguments, KeyCommand},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, key: KeyArguments) -> Result<ExitCode, Failure> {
    match key.command {
        KeyCommand::New {
            mut scopes,
            client,
            name,
            expires,
        } => {
            if scopes.is_empty() {
                scopes.push(METHODS.to_owned());
            }
            let create = CreateKey {
                scopes,
                client,
                name,
                expires,
            };
            let created = super::call(common, Purpose::Look, create).await?;
            common.show(&created, show_created);
        }
        KeyCommand::List => {
            let keys = super::call(common, Purpose::Look, ListKeys {}).await?;
            common.show(&keys.items, |keys| show_list(keys));
        }
        KeyCommand::Revoke { id } => {
            let revoked = super::call(common, Purpose::Look, RevokeKey { id }).await?;
            common.show(&revoked, |RevokedKey { revoked }| {
                show::note(&format!("revoked: {revoked}"));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_created(created: &CreatedKey) {
    show::line(&created.key);
    let id = &created.id;
    show::note(&format!("keep it: it is not shown again. Its id is {id}"));
}

fn show_list(keys: &[KeyView]) {
    let row = |key: &KeyView| {
        let state = match (key.revoked_at, key.expires_at) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) if at <= Timestamp::now() => format!("expired {at}"),
            (None, Some(at)) => format!("valid until {at}"),
            (None, None) => "valid".to_owned(),
        };
        let used = key.last_used_at.map(|at| format!("used {at}"));
        vec![
            key.id.clone(),
            key.name.clone().unwrap_or_default(),
            key.scopes.join(" "),
            key.client.clone().unwrap_or_default(),
            key.created_at.to_string(),
            used.unwrap_or_else(|| "never used".to_owned()),
            state,
        ]
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    show::data(&show::table(&rows));
}
