//! Which models there are: the configured ones; without any, those of the environment; without
//! those, the servers on this machine; and with nothing at all the offline demo.

use std::{collections::HashSet, path::Path, sync::Arc};

use callgate_contract::{Models, NamedModel};

use crate::{
    demo::Demo,
    environment,
    error::InvalidModel,
    local::{self, LocalServer},
    openai::OpenAi,
    script::Script,
    settings::{ModelSettings, Settings, Wire},
};

/// `environment` reads a variable. `servers` are asked only if nothing else is found: give
/// [`crate::USUAL_SERVERS`] to look on this machine, none not to.
pub async fn find(
    settings: &Settings,
    environment: impl Fn(&str) -> Option<String>,
    servers: &[LocalServer<'_>],
) -> Result<Models, InvalidModel> {
    let mut list = settings.list.clone();
    if list.is_empty() {
        list = environment::models(environment);
    }
    if list.is_empty() {
        list = local::models(servers).await;
    }
    let mut models = list.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let mut ids = HashSet::new();
    if let Some(twice) = models.iter().find(|model| !ids.insert(model.id.as_str())) {
        let id = twice.id.clone();
        return Err(InvalidModel::Twice { id });
    }
    let first = match models.is_empty() {
        true => demo(),
        false => models.remove(0),
    };
    let (default, vision) = (settings.default.clone(), settings.vision.clone());
    let models = Models::new(first, models, default.clone(), vision.clone());
    for id in [default, vision].into_iter().flatten() {
        named(&models, &id)?;
    }
    Ok(models)
}

/// The model of that id, or the script of `script:FILE`.
pub fn named(models: &Models, id: &str) -> Result<NamedModel, InvalidModel> {
    if let Some(model) = models.get(id) {
        return Ok(model.clone());
    }
    if let Some(file) = id.strip_prefix("script:") {
        return Ok(NamedModel {
            id: id.to_owned(),
            model: Arc::new(Script::open(Path::new(file))?),
        });
    }
    if id == Demo::ID {
        return Ok(demo());
    }
    let known = models.all().iter().map(|model| model.id.clone());
    Err(InvalidModel::Unknown {
        id: id.to_owned(),
        known: known.collect(),
    })
}

fn open(settings: ModelSettings) -> Result<NamedModel, InvalidModel> {
    let id = settings.id.clone();
    let model = match settings.wire {
        Wire::Openai => Arc::new(OpenAi::new(settings)?),
    };
    Ok(NamedModel { id, model })
}

fn demo() -> NamedModel {
    NamedModel {
        id: Demo::ID.to_owned(),
        model: Arc::new(Demo),
    }
}
