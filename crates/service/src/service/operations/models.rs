//! Models over HTTP: listed, tried, written down, arranged. What changes is used at once.

use crate::{
    Listing, ServiceError,
    operations::{
        ChangeModel, FoundModels, FoundProvider, FoundServer, MadeModel, ModelTest, ModelView,
        NewModel,
    },
};
use callgate_contract::NamedModel;
use callgate_models::{PROVIDERS, USUAL_SERVERS, find, local_models, named};
use toml::Value;

use crate::Service;
use crate::{
    config::Edit,
    models::{KeyFrom, ModelDraft, ask, tried},
};

impl Service {
    pub async fn model_views(&self) -> Result<Vec<ModelView>, ServiceError> {
        let agent = self.agent().await?;
        let models = agent.models();
        let default = &models.choose(None).id;
        let is = |chosen: Option<&NamedModel>, id: &str| chosen.is_some_and(|it| it.id == id);
        let view = |model: &NamedModel| {
            let about = model.model.about();
            ModelView {
                id: model.id.clone(),
                wire: about.wire,
                name: about.name,
                accepts: model.model.accepts(),
                price: about.price,
                fallback: about.fallback,
                source: self.source(&model.id).to_owned(),
                default: model.id == *default,
                vision: is(models.vision(), &model.id),
                embedding: is(models.embedding(), &model.id),
            }
        };
        Ok(models.all().iter().map(view).collect())
    }

    pub async fn model_view(&self, id: &str) -> Result<ModelView, ServiceError> {
        let mut views = self.model_views().await?.into_iter();
        views.find(|view| view.id == id).ok_or_else(|| unknown(id))
    }

    pub async fn add_model(&self, new: NewModel) -> Result<MadeModel, ServiceError> {
        let (check, default) = (new.check, new.default);
        let wanted = wanted(new);
        if wanted.id.trim().is_empty() {
            return Err(ServiceError::invalid(
                "a model needs an id",
                "give it a name of your own",
            ));
        }
        let taken = |failure: ServiceError| ServiceError::conflict(failure.message, failure.hint);
        wanted.fits(&self.configured()).map_err(taken)?;
        let (entry, settings) = wanted.put_together()?;
        let mut test = None;
        if check {
            let verdict = tried(settings).await?;
            if let Some(failure) = verdict.failure.clone().filter(|_| !verdict.key_is_good) {
                let hint = format!(
                    "{}; `check: false` writes it down all the same",
                    failure.hint
                );
                return Err(ServiceError::refused(failure.message, hint));
            }
            test = Some(verdict.into());
        }
        entry.append_to(self.config_file())?;
        if default {
            self.write_default(Some(&wanted.id))?;
        }
        self.read_config().await?;
        let model = self.model_view(&wanted.id).await?;
        Ok(MadeModel { model, test })
    }

    pub async fn find_model_offers(&self) -> FoundModels {
        found().await
    }

    /// Without writing it down.
    pub async fn try_model(&self, new: NewModel) -> Result<ModelTest, ServiceError> {
        let (_, settings) = wanted(new).put_together()?;
        Ok(tried(settings).await?.into())
    }

    pub async fn test_model(&self, id: &str) -> Result<ModelTest, ServiceError> {
        let mut settings = self.configured().models()?;
        for model in &mut settings.list {
            // A replacement must not answer for a model that fails, nor patience hide that it does.
            model.fallback.clear();
            model.retries = 0;
        }
        let embeds = settings.embedding.as_deref() == Some(id);
        let known = self.agent().await?.models().get(id).cloned();
        let alone = find(&settings, |name| std::env::var(name).ok(), USUAL_SERVERS).await;
        let alone = alone.map_err(ServiceError::from)?;
        let model = match named(&alone, id) {
            Ok(model) => model,
            Err(_) => known.ok_or_else(|| unknown(id))?,
        };
        Ok(ask(id, &*model.model, embeds).await.into())
    }

    pub async fn change_model(&self, ask: ChangeModel) -> Result<ModelView, ServiceError> {
        let view = self.model_view(&ask.id).await?;
        if let Some(fallback) = &ask.fallback {
            self.configured_only(&ask.id)?;
            for id in fallback {
                self.configured_only(id)?;
            }
            let ids: Vec<Value> = fallback.iter().map(|id| Value::from(id.as_str())).collect();
            let mut edit = Edit::open(self.config_file())?;
            edit.set_of_model(&ask.id, "fallback", &Value::from(ids))?;
            edit.save()?;
        }
        match ask.default {
            Some(true) => self.write_default(Some(&ask.id))?,
            Some(false) if view.default => self.write_default(None)?,
            _ => {}
        }
        if let Some(vision) = ask.vision.filter(|vision| *vision != view.vision) {
            let id = vision.then(|| Value::from(ask.id.as_str()));
            let mut edit = Edit::open(self.config_file())?;
            edit.set("models", "vision", id.as_ref())?;
            edit.save()?;
        }
        self.read_config().await?;
        self.model_view(&ask.id).await
    }

    pub async fn delete_model(&self, id: &str) -> Result<(), ServiceError> {
        self.model_view(id).await?;
        self.configured_only(id)?;
        let config = self.configured();
        let mut edit = Edit::open(self.config_file())?;
        for (field, chosen) in [
            ("default", &config.models.default),
            ("vision", &config.models.vision),
            ("embedding", &config.models.embedding),
        ] {
            if chosen.as_deref() == Some(id) {
                edit.set("models", field, None)?;
            }
        }
        for other in config.models()?.list {
            let rest: Vec<Value> = other
                .fallback
                .iter()
                .filter(|it| *it != id)
                .map(|it| Value::from(it.as_str()))
                .collect();
            if rest.len() < other.fallback.len() {
                edit.set_of_model(&other.id, "fallback", &Value::from(rest))?;
            }
        }
        edit.remove_model(id)?;
        edit.save()?;
        self.read_config().await
    }

    fn configured_only(&self, id: &str) -> Result<(), ServiceError> {
        let config = self.configured();
        if config.models.list.iter().any(|entry| entry.id() == id) {
            return Ok(());
        }
        let error = format!("'{id}' is not in the configuration file");
        let hint = "it was found in the environment or on this machine: add it first";
        Err(ServiceError::conflict(error, hint))
    }

    fn write_default(&self, id: Option<&str>) -> Result<(), ServiceError> {
        let mut edit = Edit::open(self.config_file())?;
        edit.set("models", "default", id.map(Value::from).as_ref())?;
        edit.save()
    }
}

fn unknown(id: &str) -> ServiceError {
    ServiceError::not_found(format!("no model '{id}'"), Listing::Models)
}

fn wanted(new: NewModel) -> ModelDraft {
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let key = match (said(new.key), said(new.key_env)) {
        (Some(key), _) => Some(KeyFrom::Itself(key.trim().to_owned())),
        (None, Some(name)) => Some(KeyFrom::Variable(name)),
        (None, None) => None,
    };
    ModelDraft {
        id: new.id,
        provider: said(new.provider),
        base_url: said(new.base_url),
        model: said(new.model),
        wire: said(new.wire),
        key,
        fallback: new.fallback,
        image: new.image,
        audio: new.audio,
    }
}

async fn found() -> FoundModels {
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let providers = PROVIDERS.iter().map(|provider| {
        let variables = provider.key_variables();
        FoundProvider {
            id: provider.id.to_owned(),
            base_url: provider.base_url.to_owned(),
            model: provider.model.to_owned(),
            key_found: variables.iter().find(is_set).cloned(),
            variables,
        }
    });
    let mut servers: Vec<FoundServer> = Vec::new();
    let host = std::env::var("OLLAMA_HOST").ok();
    for model in local_models(USUAL_SERVERS, host).await {
        let (server, _) = model.id.split_once('/').unwrap_or((&model.id, ""));
        let name = model.name().to_owned();
        match servers.iter_mut().find(|it| it.name == server) {
            Some(known) => known.models.push(name),
            None => servers.push(FoundServer {
                name: server.to_owned(),
                base_url: model.base_url.clone(),
                models: vec![name],
            }),
        }
    }
    FoundModels {
        providers: providers.collect(),
        servers,
    }
}
