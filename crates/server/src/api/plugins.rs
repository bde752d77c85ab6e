//! Plugins: how they are, switching them, their settings, what they said, and installing one.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::SessionKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{
    Api, Outcome,
    access::Access,
    input::{JsonBody, Path, QueryParams, Raw},
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::{
    Job, News,
    operations::{
        ConfigurePlugin, InstallPlugin, List, Page, PluginConfig, PluginLogs, PluginSource,
        PluginView, SwitchPlugin, WhichPlugin,
    },
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/plugins", "Plugins and how they are", list)
        .query::<Where>()
        .gives::<List<PluginView>>();
    routes
        .add(Verb::Get, "/api/plugins/{id}", "One plugin", show)
        .query::<Here>()
        .gives::<PluginView>();
    routes
        .add(
            Verb::Patch,
            "/api/plugins/{id}",
            "Switch it on or off, everywhere or in one session",
            switch,
        )
        .takes::<Switch>()
        .gives::<PluginView>();
    routes
        .add(
            Verb::Post,
            "/api/plugins/{id}/reload",
            "Load it again from its files",
            reload,
        )
        .gives::<PluginView>();
    routes.add(Verb::Delete, "/api/plugins/{id}", "Remove it", remove);
    routes
        .add(
            Verb::Post,
            "/api/plugins/{id}/ticket",
            "An address of its pages that needs no cookie",
            ticket,
        )
        .gives::<TicketView>();
    routes
        .add(
            Verb::Get,
            "/api/plugins/{id}/config",
            "Its settings as a form",
            config,
        )
        .gives::<PluginConfig>();
    routes
        .add(
            Verb::Put,
            "/api/plugins/{id}/config",
            "Change settings, at once",
            configure,
        )
        .takes::<Values>()
        .gives::<PluginConfig>();
    routes
        .add(
            Verb::Get,
            "/api/plugins/{id}/logs",
            "What it printed last",
            logs,
        )
        .query::<Lines>()
        .gives::<PluginLogs>();
    routes
        .add(
            Verb::Post,
            "/api/plugins/install",
            "Install one, as a job",
            install,
        )
        .takes::<Install>()
        .gives::<Job>();
    routes
        .add(
            Verb::Post,
            "/api/plugins/upload",
            "Install a ZIP archive, as a job",
            upload,
        )
        .query::<Upload>()
        .takes_bytes("application/zip")
        .gives::<Job>();
    routes
        .add(
            Verb::Post,
            "/api/plugins/new",
            "Install a skeleton to begin with, as a job",
            make,
        )
        .takes::<New>()
        .gives::<Job>();
    routes
        .add(Verb::Get, "/api/jobs", "Jobs, the newest first", jobs)
        .query::<Page>()
        .gives::<List<Job>>();
    routes
        .add(Verb::Get, "/api/jobs/{id}", "One job", job)
        .gives::<Job>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Where {
    /// `enabled_here` is for this session.
    session: Option<SessionKey>,
    #[serde(flatten)]
    page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Here {
    /// `enabled_here` is for this session.
    session: Option<SessionKey>,
}

async fn list(
    State(api): State<Api>,
    QueryParams(at): QueryParams<Where>,
) -> Outcome<List<PluginView>> {
    let plugins = api.service().plugin_views(at.session.as_ref()).await;
    Ok(Body(at.page.of(plugins, |plugin| plugin.id.clone())?))
}

async fn show(
    State(api): State<Api>,
    Path(id): Path<String>,
    QueryParams(here): QueryParams<Here>,
) -> Outcome<PluginView> {
    found(&api, &id, here.session).await.map(Body)
}

async fn found(api: &Api, id: &str, session: Option<SessionKey>) -> Result<PluginView, Problem> {
    let plugins = api.service().plugin_views(session.as_ref()).await;
    let found = plugins.into_iter().find(|plugin| plugin.id == id);
    let missing =
        || Problem::missing(format!("no plugin '{id}'")).hint("GET /api/plugins lists them");
    found.ok_or_else(missing)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Switch {
    enabled: bool,
    /// Only in this session.
    session: Option<SessionKey>,
}

async fn switch(
    State(api): State<Api>,
    Path(plugin): Path<String>,
    JsonBody(switch): JsonBody<Switch>,
) -> Outcome<PluginView> {
    let ask = SwitchPlugin {
        plugin,
        enabled: switch.enabled,
        session: switch.session,
    };
    let service = api.service().clone();
    let switching = async move { service.switch_plugin(ask).await };
    let view = api.service().detached(switching).await?;
    api.live().announce(&News::Plugins {});
    Ok(Body(view))
}

async fn reload(State(api): State<Api>, Path(plugin): Path<String>) -> Outcome<PluginView> {
    let service = api.service().clone();
    let loading = async move { service.reload_plugin(&plugin).await };
    let view = api.service().detached(loading).await?;
    api.live().announce(&News::Plugins {});
    Ok(Body(view))
}

async fn remove(State(api): State<Api>, Path(plugin): Path<String>) -> Outcome<()> {
    let service = api.service().clone();
    let removing = async move { service.remove_plugin(&plugin).await };
    api.service().detached(removing).await?;
    api.live().announce(&News::Plugins {});
    Ok(Body(()))
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
    Path(plugin): Path<String>,
) -> Outcome<TicketView> {
    let plugin = found(&api, &plugin, None).await?.id;
    let ticket = api.tickets().make(&plugin, &access)?;
    let address = format!("/tickets/{ticket}/{plugin}/");
    Ok(Body(TicketView { address }))
}

async fn config(State(api): State<Api>, Path(plugin): Path<String>) -> Outcome<PluginConfig> {
    Ok(Body(api.service().plugin_form(&plugin).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Values {
    /// Those that change. `{"$secret": true}` leaves a secret as it is.
    values: Map<String, Json>,
}

async fn configure(
    State(api): State<Api>,
    Path(plugin): Path<String>,
    JsonBody(given): JsonBody<Values>,
) -> Outcome<PluginConfig> {
    let ask = ConfigurePlugin {
        plugin,
        values: given.values,
    };
    let service = api.service().clone();
    let changing = async move { service.configure_plugin(ask).await };
    Ok(Body(api.service().detached(changing).await?))
}

const LINES: usize = 200;
const MOST_LINES: usize = 5_000;

#[derive(Debug, Deserialize, JsonSchema)]
struct Lines {
    /// How many, at most 5000.
    limit: Option<usize>,
}

async fn logs(
    State(api): State<Api>,
    Path(plugin): Path<String>,
    QueryParams(lines): QueryParams<Lines>,
) -> Outcome<PluginLogs> {
    let limit = lines.limit.unwrap_or(LINES).clamp(1, MOST_LINES);
    let ask = WhichPlugin { plugin, limit };
    Ok(Body(api.service().plugin_logs(ask).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Install {
    /// A folder, a .py or .zip file on the server, or the URL of a repository.
    source: String,
    /// The folder's name, if not that of the source.
    name: Option<String>,
    /// Put it in the place of the one that is there.
    #[serde(default)]
    replace: bool,
    /// Packages besides those it declares.
    #[serde(default)]
    with: Vec<String>,
}

async fn install(State(api): State<Api>, JsonBody(given): JsonBody<Install>) -> Outcome<Job> {
    if given.source.trim().is_empty() {
        let hint = "give a folder, a file or the URL of a repository";
        return Err(Problem::bad("there is nothing to install").hint(hint));
    }
    let title = given.source.clone();
    let ask = |say| InstallPlugin {
        source: PluginSource::Named(given.source),
        name: given.name,
        replace: given.replace,
        with: given.with,
        say,
    };
    Ok(Body(begin(&api, "install", title, ask)))
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
    QueryParams(given): QueryParams<Upload>,
    Raw(archive): Raw,
) -> Outcome<Job> {
    if !archive.starts_with(b"PK") {
        let hint = "send the archive itself as the body";
        return Err(Problem::bad("this is no ZIP archive").hint(hint));
    }
    let title = given
        .name
        .clone()
        .unwrap_or_else(|| "an archive".to_owned());
    let ask = |say| InstallPlugin {
        source: PluginSource::Archive(archive),
        name: given.name,
        replace: given.replace.as_deref() == Some("true"),
        with: Vec::new(),
        say,
    };
    Ok(Body(begin(&api, "upload", title, ask)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    /// Small letters, digits and `_`.
    name: String,
}

async fn make(State(api): State<Api>, JsonBody(new): JsonBody<New>) -> Outcome<Job> {
    let title = new.name.clone();
    let ask = |say| InstallPlugin {
        source: PluginSource::New,
        name: Some(new.name),
        replace: false,
        with: Vec::new(),
        say,
    };
    Ok(Body(begin(&api, "new", title, ask)))
}

fn begin(
    api: &Api,
    kind: &'static str,
    title: String,
    ask: impl FnOnce(std::sync::Arc<callgate_service::ProgressFn>) -> InstallPlugin,
) -> Job {
    let (service, live) = (api.service().clone(), api.live().clone());
    api.jobs().begin(kind, title, |say| {
        let ask = ask(say);
        async move {
            let installing = service.install_plugin(ask);
            let installed = installing.await;
            live.announce(&News::Plugins {});
            installed
        }
    })
}

async fn jobs(State(api): State<Api>, QueryParams(page): QueryParams<Page>) -> Outcome<List<Job>> {
    Ok(Body(page.of(api.jobs().list(), |job| job.id.clone())?))
}

async fn job(State(api): State<Api>, Path(id): Path<String>) -> Outcome<Job> {
    let missing = || {
        let hint = "jobs are forgotten when the server ends";
        Problem::missing(format!("no job {id}")).hint(hint)
    };
    api.jobs().get(&id).map(Body).ok_or_else(missing)
}
