//! Do providers take the keys of models?

use callgate_models::{CheckedKey, check_keys};

use crate::{ServiceError, config::Config, operations::Check};

const HINT: &str =
    "give it another key: `callgate model add`, the page under Models, or callgate.toml";

pub(super) async fn check(config: &Config) -> Vec<Check> {
    match config.models() {
        Ok(settings) => {
            let checked = check_keys(&settings, |name| std::env::var(name).ok()).await;
            checked.into_iter().map(told).collect()
        }
        Err(error) => vec![Check::fail("models", error)],
    }
}

fn told(checked: CheckedKey) -> Check {
    let name = format!("model {}", checked.model);
    match checked.refused {
        None => Check::ok(&name, "its provider says nothing against the key"),
        Some(error) => Check::fail(&name, ServiceError::refused(error.to_string(), HINT)),
    }
}
