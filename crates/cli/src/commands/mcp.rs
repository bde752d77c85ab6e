//! `callgate mcp`: a client of the Model Context Protocol on standard input and output, served as
//! the operator; and `callgate mcp list`, the servers whose tools are methods.

use std::{cell::Cell, io::Write, path::Path, process::ExitCode};

use callgate_contract::JournalId;
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::oneshot,
};

use super::run::interrupted;
use callgate_plugins::mcp::McpState;
use callgate_server::{Surfaces, control};
use callgate_service::{
    operations::ListMcpServers,
    request::{Answer, Request},
};

use crate::{
    args::{Common, McpArguments, McpCommand},
    connect::{self, Purpose},
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, mcp: McpArguments) -> Result<ExitCode, Failure> {
    if let Some(McpCommand::List) = mcp.command {
        return list(common).await;
    }
    let settings = common.settings()?;
    let client = connect::open(&settings, Purpose::Stay).await?;
    let served = async {
        match client.surfaces().cloned() {
            Some(surfaces) => here(surfaces).await,
            None => elsewhere(&settings.data).await,
        }
    };
    let served = tokio::select! {
        served = served => served,
        true = interrupted() => Ok(()),
    };
    client.close().await;
    served.map(|()| ExitCode::SUCCESS)
}

/// By ourselves; what takes time is done behind it.
async fn here(surfaces: Surfaces) -> Result<(), Failure> {
    let behind = surfaces.service.clone();
    behind.remote().set_loading(true);
    tokio::spawn(async move {
        behind.mcp_servers().start(false).await;
        behind.with_plugins().await;
        behind.remote().set_loading(false);
        // Personas are methods too, if there is an agent to speak for them.
        if let Err(failure) = behind.agent().await {
            tracing::warn!(reason = failure.message, "agent unavailable");
        }
        if let Err(failure) = control::recover(&behind, show::note, false).await {
            tracing::warn!(reason = failure.message, "could not recover runs");
        }
    });
    let serving = surfaces.mcp.serve(tokio::io::stdin(), tokio::io::stdout());
    serving.await.map_err(|error| {
        let hint = "standard input must speak MCP: let an MCP client start `callgate mcp`";
        Failure::new(format!("no MCP client spoke: {error}"), hint)
    })
}

/// By the owner of the directory: lines go in one by one and come out as they come.
async fn elsewhere(data: &Path) -> Result<(), Failure> {
    let connection = JournalId::fresh().0.to_string();
    let (opened, open) = oneshot::channel();
    let mut opened = Some(opened);
    let heard = |event: Json| {
        if let Some(line) = event["line"].as_str() {
            let mut out = std::io::stdout().lock();
            // A client that reads no more will close our input too.
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        } else if let Some(opened) = opened.take() {
            let _ = opened.send(());
        }
    };
    let request = json!(Request::McpOpen {
        connection: connection.clone(),
    });
    let hearing = callgate_store::request(data, &request, heard);
    // Whoever hears that it was the last line may hang up before that is answered.
    let is_last = Cell::new(false);
    let saying = async {
        // Not opened, the other side says why.
        if open.await.is_err() {
            return Ok(());
        }
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        loop {
            let line = lines.next_line().await.ok().flatten();
            is_last.set(line.is_none());
            say(data, &connection, line).await?;
            if is_last.get() {
                return Ok::<(), Failure>(());
            }
        }
    };
    let mut said_all = false;
    tokio::pin!(hearing, saying);
    loop {
        tokio::select! {
            heard = &mut hearing => {
                heard?;
                return if said_all || is_last.get() { Ok(()) } else { Err(ended()) };
            }
            said = &mut saying, if !said_all => {
                said?;
                said_all = true;
            }
        }
    }
}

async fn say(data: &Path, connection: &str, line: Option<String>) -> Result<(), Failure> {
    let request = json!(Request::McpSay {
        connection: connection.to_owned(),
        line,
    });
    let answer = callgate_store::request(data, &request, |_| ()).await?;
    match super::read(answer)? {
        Answer::Done(_) => Ok(()),
        Answer::Failed(error) => Err(error.into()),
        Answer::Closing => Err(ended()),
    }
}

fn ended() -> Failure {
    Failure::new(
        "the callgate that owns this data directory has ended",
        "start `callgate mcp` again",
    )
}

async fn list(common: &Common) -> Result<ExitCode, Failure> {
    let servers = super::call(common, Purpose::Look, ListMcpServers {}).await?;
    common.show(&servers.items, |servers| show_list(servers));
    Ok(ExitCode::SUCCESS)
}

fn show_list(servers: &[McpState]) {
    if servers.is_empty() {
        show::note("no server is written down; docs/mcp.md shows how");
    }
    let row = |server: &McpState| {
        let state = json!(server.state);
        let state = state.as_str().unwrap_or_default().replace('_', " ");
        let what = if server.methods.is_empty() {
            server.error.clone().unwrap_or_default()
        } else {
            server.methods.join(", ")
        };
        vec![server.name.clone(), state, what]
    };
    let rows: Vec<Vec<String>> = servers.iter().map(row).collect();
    show::data(&show::table(&rows));
    for reason in servers.iter().flat_map(|server| &server.left_out) {
        show::note(&format!("left out: {reason}"));
    }
}
