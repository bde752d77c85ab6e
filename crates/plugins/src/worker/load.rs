//! Plugins into and out of a worker.

use std::{collections::HashMap, net::SocketAddr, path::PathBuf, sync::Arc};

use callgate_contract::{Value, json};
use serde_json::Value as Json;
use tokio::time::timeout;

use super::{RunningProcess, Worker};
use crate::{
    LoadedPlugin, Source, WorkerError,
    failure::{Failure, described},
};

impl Worker {
    /// Adds plugins and loads them now, one after the other. One of a known path is loaded anew.
    pub(crate) async fn load(
        self: &Arc<Self>,
        sources: Vec<Source>,
    ) -> Vec<(Source, Result<LoadedPlugin, WorkerError>)> {
        for source in &sources {
            self.expect(source);
        }
        if let Some(running) = self.current()
            && !self.are_shown(&running, &sources).await
        {
            // Another process starts with a wider wall.
            self.stop().await;
        }
        let mut known = HashMap::new();
        if self.current().is_none() {
            known = match self.start().await {
                Ok(results) => results,
                Err(error) => sources
                    .iter()
                    .map(|source| (source.path.clone(), Err(error.clone())))
                    .collect(),
            };
        }
        let mut results = Vec::new();
        for source in sources {
            let result = match known.remove(&source.path) {
                Some(result) => result,
                None => self.load_one(&source).await,
            };
            results.push((source, result));
        }
        results
    }

    /// Shows the process where the plugins lie now; false where another is needed, for that or since
    /// there are packages now that it does not have.
    async fn are_shown(&self, running: &RunningProcess, sources: &[Source]) -> bool {
        let Some(plugins) = self.plugins.upgrade() else {
            return false;
        };
        if plugins.python_of(&self.name) != running.python {
            return false;
        }
        for source in sources {
            for place in plugins.places_of(source).into_iter().flatten() {
                if !running.live.show(&place).await {
                    return false;
                }
            }
        }
        true
    }

    /// Has the process that runs, if one does, let its plugins reach an address of ours.
    pub(crate) async fn let_reach(&self, address: SocketAddr) {
        if let Some(running) = self.current() {
            running.live.let_reach(address).await;
        }
    }

    /// Will load the plugin when it starts.
    pub(crate) fn expect(&self, source: &Source) {
        let mut state = self.state.lock();
        state.sources.retain(|known| known.path != source.path);
        state.sources.push(source.clone());
    }

    /// Starts, if there is anything to load, and returns when all of it is.
    pub(crate) async fn warm(self: &Arc<Self>) -> Result<(), WorkerError> {
        if self.has_plugins() {
            self.running().await?.all_loaded().await;
        }
        Ok(())
    }

    async fn load_one(self: &Arc<Self>, source: &Source) -> Result<LoadedPlugin, WorkerError> {
        let running = self.running().await?;
        self.load_into(&running, source).await
    }

    pub(crate) async fn unload(self: &Arc<Self>, plugin: &str, path: &PathBuf) {
        self.state
            .lock()
            .sources
            .retain(|source| source.path != *path);
        if let Some(running) = self.current() {
            running
                .loaded
                .send_modify(|(ids, _)| ids.retain(|id| id != plugin));
            let arguments = vec![("plugin".to_owned(), Value::Str(plugin.to_owned()))];
            let limit = self.limit();
            let asked = self.ask_live(&running.live, "unload", arguments, None);
            match timeout(limit, asked).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(plugin, %error, "plugin failed to unload"),
                Err(_) => tracing::warn!(plugin, "plugin unload timed out"),
            }
        }
    }

    pub(super) async fn load_into(
        self: &Arc<Self>,
        running: &RunningProcess,
        source: &Source,
    ) -> Result<LoadedPlugin, WorkerError> {
        let result = self.try_load(running, source).await;
        let plugins = self.plugins.upgrade();
        match &result {
            Ok(loaded) => {
                running.live.knows(&loaded.id, source.code().to_owned());
                let id = loaded.id.clone();
                self.state.lock().failed.remove(&id);
                if let Some(plugins) = plugins {
                    plugins.remember(source, loaded);
                    if !plugins.loaded(self, source, loaded).await {
                        self.hush(running, &id).await;
                    }
                }
                running.loaded.send_modify(|(ids, _)| ids.push(id));
            }
            Err(error) => {
                let mut state = self.state.lock();
                state.sources.retain(|known| known.path != source.path);
                if let Some(id) = plugins.and_then(|plugins| plugins.lost(source)) {
                    state.failed.insert(id, error.clone());
                }
            }
        }
        result
    }

    /// A plugin that the operator disabled is told so, each time it is loaded.
    async fn hush(&self, running: &RunningProcess, plugin: &str) {
        let arguments = vec![("plugin".to_owned(), Value::Str(plugin.to_owned()))];
        let told = self.ask_live(&running.live, "disabled", arguments, None);
        if let Err(error) = told.await {
            tracing::debug!(plugin, %error, "a plugin was not told that it is disabled");
        }
    }

    async fn try_load(
        &self,
        running: &RunningProcess,
        source: &Source,
    ) -> Result<LoadedPlugin, WorkerError> {
        let gone = || WorkerError::Ended {
            worker: self.name.clone(),
            reason: "the product is being stopped".to_owned(),
        };
        let plugins = self.plugins.upgrade().ok_or_else(gone)?;
        let name = source.name();
        running.live.knows(&name, source.code().to_owned());
        let text = |text: &str| Value::Str(text.to_owned());
        let data = plugins.data_of(&name).display().to_string();
        let options = json::from_json(Json::Object(source.options.clone()));
        let arguments = vec![
            (
                "path".to_owned(),
                text(&source.code().display().to_string()),
            ),
            ("id".to_owned(), Value::Null),
            ("data".to_owned(), text(&data)),
            (
                "options".to_owned(),
                options.unwrap_or(Value::Dict(Vec::new())),
            ),
        ];
        let _busy = running.live.busy(&name);
        let _patient = running.live.patient();
        let limit = plugins.options.load_limit;
        let asked = self.ask_live(&running.live, "load", arguments, None);
        let value = match timeout(limit, asked).await {
            Ok(answer) => answer?,
            Err(_) => {
                // It may hold the loop, and nothing else could be loaded.
                running.live.kill();
                running.live.over().await;
                return Err(WorkerError::Deadline {
                    step: format!("loading {name}"),
                    seconds: limit.as_secs(),
                });
            }
        };
        serde_json::from_value(described(&value)).map_err(|error| {
            WorkerError::Raised(Box::new(Failure {
                kind: "TypeError".to_owned(),
                message: format!("the flavour described {name} wrongly: {error}"),
                ..Failure::default()
            }))
        })
    }
}
