//! callgate.toml while the server runs: read again when one of our operations changes it, and when somebody
//! does so by hand. What can be used at once is; of the rest the log says that it waits for a restart.

use std::{path::Path, time::Duration};

use serde_json::json;

use crate::{
    News, Service, ServiceError,
    config::{Config, keys::KEYS},
    operations::is_live,
};

/// Between two looks at the file.
const LOOK: Duration = Duration::from_secs(1);

impl Service {
    /// Reads the configuration again, and uses what can be used at once.
    pub(crate) async fn read_config(&self) -> Result<(), ServiceError> {
        let file = Some(self.config_file()).filter(|it| it.exists());
        let now = Config::load(self.data(), file)?;
        self.gate().set_rules(now.rule.clone(), &now.approval.ask);
        self.gate().set_preferred(now.plugins.prefer.clone());
        self.platforms().know(&now.platform);
        self.set_configured(now);
        if let Some(agent) = self.running_agent() {
            agent.models().replace(self.find_models().await?);
            agent.set_settings(self.configured().turns());
            let service = self.clone();
            tokio::spawn(async move { service.check_model_keys().await });
        }
        if self.platforms().is_open() {
            self.platforms().follow(self)?;
        }
        Ok(())
    }

    /// For as long as it is awaited. What cannot be read changes nothing.
    pub async fn follow_config(&self) {
        let mut known = written(self.config_file());
        loop {
            tokio::time::sleep(LOOK).await;
            let now = written(self.config_file());
            if now == known {
                continue;
            }
            known = now;
            let before = json!(*self.configured());
            if let Err(error) = self.read_config().await {
                tracing::warn!(%error, "callgate.toml was changed and cannot be used; the server goes on with what it had");
                continue;
            }
            let after = json!(*self.configured());
            if before == after {
                // It was one of our own operations.
                continue;
            }
            let changed = KEYS.iter().filter(|key| {
                let (section, field) = (key.section(), key.field());
                before[section][field] != after[section][field] && !is_live(key.name)
            });
            let waiting: Vec<&str> = changed.map(|key| key.name).collect();
            tracing::info!(
                used_after_a_restart = waiting.join(", "),
                "callgate.toml was changed and read again"
            );
            let keeps_otherwise = ["journal", "keep"].iter().any(|it| before[it] != after[it]);
            if keeps_otherwise && let Err(error) = self.prune().await {
                tracing::warn!(%error, "could not remove what is old; trying again");
            }
            for news in [News::Models {}, News::Rules {}, News::Platforms {}] {
                self.live().announce(&news);
            }
        }
    }
}

/// What is in the file, as far as it can be read.
fn written(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok()
}
