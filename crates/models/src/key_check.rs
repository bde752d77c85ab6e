//! Whether providers take the keys of models. They are asked for their lists of models, which costs nothing; what else
//! may be wrong with a server is for a request to find.

use std::time::Duration;

use callgate_contract::ModelError;
use tokio::task::JoinSet;

use crate::{
    environment,
    remote::Remote,
    settings::{ModelSettings, Settings},
};

/// A provider that is slower is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A model that has a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedKey {
    pub model: String,
    /// The provider's words, where it refuses the key.
    pub refused: Option<ModelError>,
}

/// Every model with a key, by id. `environment` reads a variable.
pub async fn check_keys(
    settings: &Settings,
    environment: impl Fn(&str) -> Option<String>,
) -> Vec<CheckedKey> {
    let mut list = settings.list.clone();
    if list.is_empty() {
        list = environment::models(&environment);
    }
    let mut checking = JoinSet::new();
    for model in list {
        checking.spawn(check(model));
    }
    let mut checked: Vec<CheckedKey> = checking.join_all().await.into_iter().flatten().collect();
    checked.sort_by(|one, other| one.model.cmp(&other.model));
    checked
}

async fn check(settings: ModelSettings) -> Option<CheckedKey> {
    let model = settings.id.clone();
    let refused = Remote::new(settings).ok()?.refused_key(PATIENCE).await?;
    Some(CheckedKey { model, refused })
}
