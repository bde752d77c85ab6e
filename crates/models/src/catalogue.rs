//! Which models there are: the configured ones; without any, those of the environment; without
//! those, the servers on this machine; and with nothing at all the offline demo.

use std::{collections::HashSet, path::Path, sync::Arc};

use callgate_contract::{Models, NamedModel};

use crate::{
    demo::Demo,
    environment,
    error::InvalidModel,
    fallback::Fallback,
    local::{self, LocalServer},
    remote::Remote,
    script::Script,
    settings::{ModelSettings, Settings},
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
        list = environment::models(&environment);
    }
    if list.is_empty() {
        list = local::models(servers, environment("OLLAMA_HOST")).await;
    }
    let mut models = opened(list)?;
    let mut ids = HashSet::new();
    if let Some(twice) = models.iter().find(|model| !ids.insert(model.id.as_str())) {
        let id = twice.id.clone();
        return Err(InvalidModel::Twice { id });
    }
    let first = if models.is_empty() {
        demo()
    } else {
        models.remove(0)
    };
    let (default, vision) = (settings.default.clone(), settings.vision.clone());
    let embedding = settings.embedding.clone();
    let models = Models::new(first, models, default.clone(), vision.clone());
    for id in [default, vision, embedding.clone()].into_iter().flatten() {
        named(&models, &id)?;
    }
    Ok(models.with_embedding(embedding))
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

fn opened(list: Vec<ModelSettings>) -> Result<Vec<NamedModel>, InvalidModel> {
    let fallbacks: Vec<Vec<String>> = list.iter().map(|model| model.fallback.clone()).collect();
    let open = |settings: ModelSettings| {
        let id = settings.id.clone();
        let model = Arc::new(Remote::new(settings)?);
        Ok(NamedModel { id, model })
    };
    let plain: Vec<NamedModel> = list.into_iter().map(open).collect::<Result<_, _>>()?;
    let with_fallback = |(model, ids): (&NamedModel, Vec<String>)| {
        // A replacement stands for itself alone, so that two may name each other.
        let find = |id: &String| {
            plain
                .iter()
                .find(|other| other.id == *id && *id != model.id)
        };
        let others = ids.iter().map(|id| {
            find(id).cloned().ok_or_else(|| InvalidModel::Fallback {
                id: model.id.clone(),
                fallback: id.clone(),
            })
        });
        let others: Vec<NamedModel> = others.collect::<Result<_, _>>()?;
        let mut made = model.clone();
        if !others.is_empty() {
            made.model = Arc::new(Fallback::new(model.clone(), others));
        }
        Ok(made)
    };
    plain.iter().zip(fallbacks).map(with_fallback).collect()
}

fn demo() -> NamedModel {
    NamedModel {
        id: Demo::ID.to_owned(),
        model: Arc::new(Demo),
    }
}
