//! `callgate client`: who came without a key and asks to be let in.

use std::process::ExitCode;

use serde_json::Value as Json;

use callgate_service::request::Request;

use crate::{
    args::{Client, ClientCommand, Common},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, client: Client) -> Result<ExitCode, Failure> {
    let decide = |id: &str, approve| Request::DecideClient {
        id: id.to_owned(),
        approve,
    };
    let request = match &client.command {
        ClientCommand::List => Request::Clients,
        ClientCommand::Approve { id } => decide(id, true),
        ClientCommand::Revoke { id } => decide(id, false),
    };
    let answer = super::ask(common, Purpose::Look, request).await?;
    if common.json {
        show::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    match client.command {
        ClientCommand::List => show_list(&answer),
        ClientCommand::Approve { id } => show::note(&format!("approved: {id}")),
        ClientCommand::Revoke { id } => show::note(&format!("revoked: {id}")),
    }
    Ok(ExitCode::SUCCESS)
}

fn show_list(clients: &Json) {
    let clients = clients.as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |client: &Json| {
        let text = |field: &str| client[field].as_str().unwrap_or_default().to_owned();
        let here = if client["connected"] == true {
            "connected"
        } else {
            ""
        };
        vec![
            text("id"),
            text("state"),
            here.to_owned(),
            text("kind"),
            text("origin"),
        ]
    };
    let rows: Vec<Vec<String>> = clients.iter().map(row).collect();
    if rows.is_empty() {
        show::note("no client has come without a key")
    } else {
        show::data(&show::table(&rows))
    }
    if let Some(pending) = clients.iter().find(|client| client["state"] == "pending") {
        let id = pending["id"].as_str().unwrap_or_default();
        show::note(&format!("let it in with `callgate client approve {id}`"));
    }
}
