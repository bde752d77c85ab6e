//! Plugins: how they are, switching them, their settings, what they said, and installing one. An archive
//! comes as bytes, and a ticket belongs to whoever asked: these two are no operations.

use axum::{Extension, Json as Body, extract::State};
use callgate_service::{
    Capability, Job, Requester,
    operations::{
        CancelJob, CreatePlugin, GetJob, GetPlugin, GetPluginConfig, InstallPlugin, ListJobs,
        ListPluginLogs, ListPlugins, ReloadPlugin, RemovePlugin, SetPluginConfig, SwitchPlugin,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api, Outcome,
    access::Access,
    input::{Path, QueryParams, Raw},
    route::{Routes, Verb::*},
};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListPlugins>(Get, "/api/plugins", "Plugins and how they are");
    routes.operation::<GetPlugin>(Get, "/api/plugins/{id}", "One plugin");
    routes.operation::<SwitchPlugin>(
        Patch,
        "/api/plugins/{id}",
        "Switch it on or off, everywhere or in one session",
    );
    routes.operation::<ReloadPlugin>(
        Post,
        "/api/plugins/{id}/reload",
        "Load it again from its files",
    );
    routes.operation::<RemovePlugin>(Delete, "/api/plugins/{id}", "Remove it");
    routes
        .add(
            Post,
            "/api/plugins/{id}/ticket",
            "An address of its pages that needs no cookie",
            ticket,
        )
        .gives::<TicketView>()
        // What the ticket opens needs it too.
        .needs(Capability::Methods);
    routes.operation::<GetPluginConfig>(Get, "/api/plugins/{id}/config", "Its settings as a form");
    routes.operation::<SetPluginConfig>(
        Put,
        "/api/plugins/{id}/config",
        "Change settings, at once",
    );
    routes.operation::<ListPluginLogs>(Get, "/api/plugins/{id}/logs", "What it printed last");
    routes.operation::<InstallPlugin>(Post, "/api/plugins/install", "Install one, as a job");
    routes
        .add(
            Post,
            "/api/plugins/upload",
            "Install a ZIP archive, as a job",
            upload,
        )
        .query::<Upload>()
        .takes_bytes("application/zip")
        .gives::<Job>()
        .needs(Capability::Plugins);
    routes.operation::<CreatePlugin>(
        Post,
        "/api/plugins/new",
        "Install a skeleton to begin with, as a job",
    );
    routes.operation::<ListJobs>(Get, "/api/jobs", "Jobs, the newest first");
    routes.operation::<GetJob>(Get, "/api/jobs/{id}", "One job");
    routes.operation::<CancelJob>(Post, "/api/jobs/{id}/cancel", "End a job");
}

/// A way to a plugin's pages.
#[derive(Serialize, JsonSchema)]
struct TicketView {
    /// Opens the routes of this plugin, and nothing else, to whoever has it.
    address: String,
}

async fn ticket(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(id): Path<String>,
) -> Outcome<TicketView> {
    let get = GetPlugin { id, session: None };
    // On our own behalf: nothing of it is told but that it is there.
    let plugin = api.service().call(&Requester::Terminal, get).await?.id;
    let ticket = api.tickets().make(&plugin, &access)?;
    let address = format!("/tickets/{ticket}/{plugin}/");
    Ok(Body(TicketView { address }))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Upload {
    /// The folder's name.
    name: Option<String>,
    /// `true` puts it in the place of the one that is there.
    replace: Option<String>,
}

async fn upload(
    State(api): State<Api>,
    QueryParams(upload): QueryParams<Upload>,
    Raw(archive): Raw,
) -> Outcome<Job> {
    let replace = upload.replace.as_deref() == Some("true");
    let service = api.service();
    Ok(Body(service.install_archive(
        archive.into(),
        upload.name,
        replace,
    )?))
}
