//! `callgate client`: who came without a key and asks to be let in.

use std::process::ExitCode;

use callgate_service::operations::{
    ClientDecision, ClientStanding, ClientView, DecideClient, ListClients,
};
use serde_json::json;

use crate::{
    args::{ClientArguments, ClientCommand, Common},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, client: ClientArguments) -> Result<ExitCode, Failure> {
    let (id, state) = match client.command {
        ClientCommand::List => {
            let clients = super::list(common, Purpose::Look, |page| ListClients { page }).await?;
            common.show(&clients, |clients| show_list(clients));
            return Ok(ExitCode::SUCCESS);
        }
        ClientCommand::Approve { id } => (id, ClientDecision::Approved),
        ClientCommand::Revoke { id } => (id, ClientDecision::Revoked),
    };
    let decided = super::call(common, Purpose::Look, DecideClient { id, state }).await?;
    common.show(&decided, |client| {
        show::note(&format!("{}: {}", standing(client), client.id));
    });
    Ok(ExitCode::SUCCESS)
}

fn show_list(clients: &[ClientView]) {
    let row = |client: &ClientView| {
        let connected = if client.connected { "connected" } else { "" };
        vec![
            client.id.clone(),
            standing(client),
            connected.to_owned(),
            client.kind.clone(),
            client.origin.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = clients.iter().map(row).collect();
    if rows.is_empty() {
        show::note("no client has come without a key")
    } else {
        show::data(&show::table(&rows))
    }
    let mut pending = clients.iter();
    if let Some(client) = pending.find(|client| client.state == ClientStanding::Pending) {
        let id = &client.id;
        show::note(&format!("let it in with `callgate client approve {id}`"));
    }
}

fn standing(client: &ClientView) -> String {
    json!(client.state).as_str().unwrap_or_default().to_owned()
}
