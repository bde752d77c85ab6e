//! `callgate key`: keys for remote clients.

use std::process::ExitCode;

use callgate_service::request::{NewKey, Request};

use crate::{
    args::{Common, Key, KeyCommand},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, key: Key) -> Result<ExitCode, Failure> {
    let request = match &key.command {
        KeyCommand::New { scopes, client } => Request::NewKey(NewKey {
            scopes: scopes.clone(),
            client: client.clone(),
        }),
        KeyCommand::List => Request::Keys,
        KeyCommand::Revoke { id } => Request::RevokeKey { id: id.clone() },
    };
    let answer = super::ask(common, Purpose::Look, request).await?;
    if common.json {
        show::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    let text = |field: &str| answer[field].as_str().unwrap_or_default();
    match key.command {
        KeyCommand::New { .. } => {
            show::line(text("key"));
            show::note(&format!(
                "keep it: it is not shown again. Its id is {}",
                text("id")
            ));
        }
        KeyCommand::List => {
            let rows: Vec<Vec<String>> = answer
                .as_array()
                .into_iter()
                .flatten()
                .map(|key| {
                    let text = |field: &str| key[field].as_str().unwrap_or_default();
                    let state = match key["revoked_at"].as_str() {
                        Some(at) => format!("revoked {at}"),
                        None => "valid".to_owned(),
                    };
                    let scopes = key["scopes"].as_array().into_iter().flatten();
                    let scopes: Vec<&str> = scopes.filter_map(|scope| scope.as_str()).collect();
                    vec![
                        text("id").to_owned(),
                        scopes.join(" "),
                        text("client").to_owned(),
                        text("created_at").to_owned(),
                        state,
                    ]
                })
                .collect();
            show::data(&show::table(&rows));
        }
        KeyCommand::Revoke { id } => show::note(&format!("revoked: {id}")),
    }
    Ok(ExitCode::SUCCESS)
}
