//! `callgate serve`: the process that stays. Ready at once; what takes time (the sandbox, models,
//! what the last owner left) is done behind it.

use std::{io, net::SocketAddr, process::ExitCode, time::Duration};

use callgate_server::{Entrance, EntranceError, Site, Surfaces, Tls};
use rustix::process::Signal;
use serde_json::json;
use tokio::{signal::unix::SignalKind, sync::watch, task::JoinSet};

use super::run::interrupted;
use callgate_server::control;
use callgate_service::{Service, Settings, config::Config, keep_time};

use crate::{
    args::{Common, Serve},
    connect::{self, Purpose},
    failure::Failure,
    running,
    show::{self, Colour, paint},
};

/// Before recovering is tried again; longer and longer.
const RECOVER: Duration = Duration::from_millis(200);
/// For those who listen to hear that it is over, where that is the last thing that happens.
const FAREWELL: Duration = Duration::from_millis(200);

pub async fn perform(common: &Common, serve: Serve) -> Result<ExitCode, Failure> {
    outlive_file_limits();
    let mut settings = common.settings()?;
    settings.config.plugins.unwalled |= serve.unwalled_plugins;
    let config = &settings.config;
    let entrance = open(config, serve.listen.unwrap_or(config.serve.listen)).await?;
    let clients = match config.remote.listen {
        Some(address) => Some(open(config, address).await?),
        None => None,
    };
    let client = connect::open(&settings, Purpose::Stay).await?;
    let Some(surfaces) = client.surfaces().cloned() else {
        return Err(Failure::new(
            "another callgate is running on this data directory",
            "end it first, or choose another directory with --data DIR",
        ));
    };
    let service = surfaces.service.clone();
    let first_key = service.first_key().await?;
    service.remote().load().await;
    let ready = StartupNotice {
        url: entrance.url(),
        clients: clients.as_ref().map(Entrance::url),
        login: first_key.map(|key| format!("{}/login#{key}", entrance.url())),
        reached: !entrance.address().ip().is_loopback(),
    };
    service.mcp_servers().start(false).await;
    load(&service);
    service.platforms().follow(&service)?;
    let (stop, stopped) = watch::channel(());
    // Dropped at the end: what is still under way is on record.
    let mut tasks = JoinSet::new();
    let site = Site::new(surfaces.clone());
    site.api.follow();
    if let Some(clients) = clients {
        let (remote, hosts) = (service.remote().clone(), site.hosts.clone());
        let stop = until(stopped.clone());
        let serving = callgate_server::serve_remote(clients, remote, hosts, stop);
        tasks.spawn(web(serving));
    }
    let serving = callgate_server::serve(entrance, site, until(stopped.clone()));
    tasks.spawn(web(serving));
    tasks.spawn(catch_up(service.clone(), stopped.clone()));
    tasks.spawn(follow_config(service.clone(), stopped));
    warm(&service);
    check_keys(&service);
    let _found = running::register(&settings.data, &ready.url);
    let announce = async {
        if common.json {
            show::json(&json!({
                "address": ready.url,
                "remote": ready.clients,
                "login": ready.login,
                "data": settings.data,
            }))
        } else {
            show_ready(&ready, &settings)
        }
        std::future::pending::<()>().await;
    };
    let asked = tokio::select! {
        // Signals are heard before we say that we are ready: who reads that may end us at once.
        biased;
        asked = interrupted() => asked,
        () = announce => false,
    };
    if asked && !common.json {
        show::note("ending: finishing what is under way; once more to leave at once");
    }
    // No new connections; those that wait for an answer stay until it is there.
    drop(stop);
    let grace = Duration::from_secs(config.serve.drain_seconds.into());
    let finished = async {
        finish_turns(&service).await;
        // Not before: answers are still sent.
        service.platforms().close();
        let_go(&surfaces);
        while tasks.join_next().await.is_some() {}
        client.close().await;
    };
    tokio::select! {
        () = finished => {}
        () = tokio::time::sleep(grace) => {
            let_go(&surfaces);
            show::note("what is not finished goes on at the next start");
            tokio::time::sleep(FAREWELL).await;
        }
        true = interrupted() => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A limit on the size of files is then a write that fails, as on a full disk, and not our end. What we
/// start has the signal's usual meaning.
fn outlive_file_limits() {
    let signal = SignalKind::from_raw(Signal::XFSZ.as_raw());
    if let Err(error) = tokio::signal::unix::signal(signal) {
        tracing::warn!(%error, "a limit on the size of files would end this process");
    }
}

/// Begins no turn any more and waits for those under way.
async fn finish_turns(service: &Service) {
    if let Some(agent) = service.running_agent() {
        agent.close();
        agent.idle().await;
    }
}

/// Whoever listens is told that nothing comes any more.
fn let_go(surfaces: &Surfaces) {
    surfaces.service.live().close();
    surfaces.service.remote().close();
    surfaces.mcp.close();
}

/// Where it is reached, and how to get in.
struct StartupNotice {
    url: String,
    clients: Option<String>,
    /// With the operator's key, at the first start alone. After the `#` nothing is sent to a
    /// server, so that it enters no log.
    login: Option<String>,
    /// By other machines.
    reached: bool,
}

async fn open(config: &Config, address: SocketAddr) -> Result<Entrance, Failure> {
    let serve = &config.serve;
    let tls = match (&serve.tls_cert, &serve.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)),
        (None, None) => None,
        _ => {
            return Err(Failure::new(
                "TLS needs both a certificate and its key",
                "set serve.tls_cert and serve.tls_key, or neither",
            ));
        }
    };
    let opened = match tls.transpose() {
        Ok(tls) => Entrance::open(address, tls, serve.insecure).await,
        Err(error) => Err(error),
    };
    opened.map_err(|error| {
        let hint = match &error {
            EntranceError::Listen { .. } => {
                "choose another one with --listen ADDR; port 0 takes a free one"
            }
            EntranceError::Insecure { .. } => {
                "set serve.tls_cert and serve.tls_key, or serve.insecure = true if a proxy or the \
                 network itself keeps it safe"
            }
            EntranceError::Tls(_) => "both are files in PEM",
        };
        Failure::new(error.to_string(), hint)
    })
}

/// Returns when the other end is dropped.
async fn until(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

async fn follow_config(service: Service, stopped: watch::Receiver<()>) {
    tokio::select! {
        () = service.follow_config() => {}
        () = until(stopped) => {}
    }
}

async fn web(serving: impl Future<Output = io::Result<()>>) {
    if let Err(error) = serving.await {
        tracing::error!(%error, "HTTP listener stopped");
    }
}

/// Ends or continues what the last owner left, or another instance leaves, and keeps time.
async fn catch_up(service: Service, stopped: watch::Receiver<()>) {
    let agent = match service.agent().await {
        Ok(agent) => agent,
        Err(failure) => return show::failure(&failure.into(), false),
    };
    service.remote().attach(agent.clone());
    let recover = recover(&service, until(stopped.clone()));
    let others = agent.look_after_others(until(stopped.clone()));
    // Side by side: a turn that goes on may take long, and a timer cannot wait.
    let time = keep_time(agent.clone(), until(stopped.clone()));
    let answers = service.remote().look_for_answers(until(stopped.clone()));
    let pruning = service.keep_small(until(stopped));
    tokio::join!(recover, others, time, answers, pruning);
}

/// As often as the store fails meanwhile: what was left would wait for the next start.
async fn recover(service: &Service, stop: impl Future<Output = ()>) {
    let mut stop = std::pin::pin!(stop);
    for attempt in 0.. {
        let Err(error) = control::recover(service, show::note, true).await else {
            return;
        };
        if !error.is_temporary() {
            return show::failure(&error.into(), false);
        }
        tracing::warn!(
            error = error.message,
            "could not recover everything; retrying"
        );
        tokio::select! {
            () = tokio::time::sleep(RECOVER * (1 << attempt.min(5))) => {}
            () = &mut stop => return,
        }
    }
}

/// Plugins and the operator's functions, which calls that come meanwhile wait for.
fn load(service: &Service) {
    let service = service.clone();
    service.remote().set_loading(true);
    tokio::spawn(async move {
        service.with_plugins().await;
        service.remote().set_loading(false);
        service.follow_plugins();
        service.plugins().start().await;
    });
}

/// The first run finds the sandbox ready; if it cannot start, that run will say why.
fn warm(service: &Service) {
    let jail = service.jail().clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = jail.warm() {
            tracing::warn!(%error, "the sandbox cannot start");
        }
    });
}

/// A wrong key is told of before somebody asks. Nobody waits for it.
fn check_keys(service: &Service) {
    let service = service.clone();
    tokio::spawn(async move { service.check_model_keys().await });
}

fn show_ready(ready: &StartupNotice, settings: &Settings) {
    show::line(&format!(
        "Callgate {} is ready: {}\ndata: {}\n",
        env!("CARGO_PKG_VERSION"),
        paint(Colour::Bold, &ready.url),
        settings.data.display()
    ));
    if let Some(url) = &ready.clients {
        show::line(&format!("remote clients: {}\n", paint(Colour::Bold, url)));
    }
    if let Some(login) = &ready.login {
        show::line(&format!(
            "Your key is in this link, which is shown once. It opens everything:\n  {}\n",
            paint(Colour::Bold, login)
        ));
    }
    show::line(&paint(Colour::Bold, "What to try, in another terminal"));
    super::demo::show_commands(&[
        ("callgate chat", "talk to it"),
        (
            "callgate send 'What time is it?'",
            "one message, one answer",
        ),
        ("callgate demo", "a tour of the sandbox and the gate"),
        (
            "callgate model list",
            "which models answer; a key makes them real",
        ),
        ("callgate methods", "what can be called"),
    ]);
    if ready.reached {
        show::note("requests must name this machine by localhost or a name in serve.hosts");
    }
}
