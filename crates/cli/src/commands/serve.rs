//! `callgate serve`: the process that stays. Ready at once; what takes time (the sandbox, models,
//! what the last owner left) is done behind it.

use std::{net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use callgate_server::{Hosts, Site, keep_time};
use serde_json::json;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use super::run::interrupted;
use crate::{
    app::{App, Settings},
    args::{Common, Serve},
    door::{self, Door, Purpose},
    failure::Failure,
    show::{self, Colour, paint},
};

/// How long what is under way may take once we are to end. What is not finished by then is on
/// record, and goes on at the next start.
const GRACE: Duration = Duration::from_secs(10);

pub async fn perform(common: &Common, serve: Serve) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let address = serve.listen.unwrap_or(settings.config.serve.listen);
    let listener = bind(address).await?;
    let address = listener.local_addr().unwrap_or(address);
    let door = Door::open(&settings, Purpose::Stay).await?;
    let Some(app) = door.app().cloned() else {
        return Err(Failure::new(
            "another callgate is running on this data directory",
            "end it first, or choose another directory with --data DIR",
        ));
    };
    let (stop, stopped) = watch::channel(());
    // Dropped at the end: what is still under way is on record.
    let mut tasks = JoinSet::new();
    tasks.spawn(web(listener, site(&app), until(stopped.clone())));
    tasks.spawn(catch_up(app.clone(), until(stopped)));
    warm(&app);
    match common.json {
        true => {
            show::json(&json!({ "address": format!("http://{address}"), "data": settings.data }))
        }
        false => show_ready(address, &settings),
    }
    let asked = interrupted().await;
    if asked && !common.json {
        show::note("ending: finishing what is under way; once more to leave at once");
    }
    drop(stop);
    let drained = async {
        while tasks.join_next().await.is_some() {}
        door.close().await;
    };
    tokio::select! {
        () = drained => {}
        () = tokio::time::sleep(GRACE) => show::note("what is not finished goes on at the next start"),
        true = interrupted() => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = "choose another one with --listen ADDR; port 0 takes a free one";
        Failure::new(format!("cannot listen on {address}: {error}"), hint)
    })
}

fn site(app: &App) -> Site {
    let jail = app.jail().clone();
    Site {
        hosts: Hosts::new(app.config().serve.hosts.clone()),
        metrics: app.metrics().clone(),
        waiting: Arc::new(move || jail.waiting()),
    }
}

/// Returns when the other end is dropped.
async fn until(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

async fn web(listener: TcpListener, site: Site, stop: impl Future<Output = ()> + Send + 'static) {
    if let Err(error) = callgate_server::serve(listener, site, stop).await {
        tracing::error!(%error, "HTTP is no longer served");
    }
}

/// Ends or continues what the last owner left, and keeps time.
async fn catch_up(app: App, stop: impl Future<Output = ()>) {
    let agent = match app.agent().await {
        Ok(agent) => agent,
        Err(failure) => return show::failure(&failure, false),
    };
    let recover = async {
        door::recover_runs(&app).await?;
        app.recover_turns().await
    };
    // Side by side: a turn that goes on may take long, and a timer cannot wait.
    let (recovered, ()) = tokio::join!(recover, keep_time(agent, stop));
    if let Err(failure) = recovered {
        show::failure(&failure, false);
    }
}

/// The first run finds the sandbox ready; if it cannot start, that run will say why.
fn warm(app: &App) {
    let jail = app.jail().clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = jail.warm() {
            tracing::warn!(%error, "the sandbox cannot start");
        }
    });
}

fn show_ready(address: SocketAddr, settings: &Settings) {
    let url = format!("http://{address}");
    show::line(&format!(
        "Callgate {} is ready: {}\ndata: {}\n",
        env!("CARGO_PKG_VERSION"),
        paint(Colour::Bold, &url),
        settings.data.display()
    ));
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
    if !address.ip().is_loopback() {
        show::note("requests must name this machine by localhost or a name in serve.hosts");
    }
}
