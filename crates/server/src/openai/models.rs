//! `/v1/models`, and which of them a request means: a persona; `bare`, which brings no words of ours;
//! `model/<id>`, the configured model itself.

use axum::{
    Extension, Json as Body,
    extract::{Path, State},
};
use callgate_contract::{Allowed, Models, NamedModel};
use callgate_store::{Persona, StoreError};
use serde_json::{Value as Json, json};

use super::{Failure, OpenAi, access::Asker};
use callgate_service::Capability;

const BARE: &str = "bare";
const RAW: &str = "model/";

/// What answers.
#[derive(Debug)]
pub(super) struct ModelSelection {
    pub(super) persona: Option<Persona>,
    /// The configured model's id.
    pub(super) model: String,
    pub(super) methods: Allowed,
}

pub(super) async fn list(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
) -> Result<Body<Json>, Failure> {
    let mut data = Vec::new();
    if asker.holds(Capability::Chat) {
        let personas = openai.store().personas().list().await?;
        data.push(row(&Persona::built_in().name, 0, "callgate"));
        let made = |persona: &Persona| persona.created_at.as_second();
        data.extend(
            personas
                .iter()
                .map(|it| row(&it.name, made(it), "callgate")),
        );
        data.push(row(BARE, 0, "callgate"));
    }
    if asker.holds(Capability::Models) {
        let models = openai.agent()?.models().all().iter();
        data.extend(models.map(|model| {
            let about = model.model.about();
            let owner = about.wire.as_deref().unwrap_or("callgate");
            row(&format!("{RAW}{}", model.id), 0, owner)
        }));
    }
    Ok(Body(json!({"object": "list", "data": data})))
}

pub(super) async fn show(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
) -> Result<Body<Json>, Failure> {
    let chosen = openai.choose(&asker, &id).await?;
    let made = chosen.persona.map_or(0, |it| it.created_at.as_second());
    Ok(Body(row(&id, made, "callgate")))
}

fn row(id: &str, created: i64, owner: &str) -> Json {
    json!({"id": id, "object": "model", "created": created, "owned_by": owner})
}

impl OpenAi {
    pub(super) async fn choose(
        &self,
        asker: &Asker,
        name: &str,
    ) -> Result<ModelSelection, Failure> {
        let models = self.agent()?.models();
        if let Some(id) = name.strip_prefix(RAW) {
            asker.require(&[Capability::Models])?;
            let model = models.get(id).ok_or_else(|| Failure::no_model(name))?;
            return Ok(raw(model));
        }
        if asker.holds(Capability::Chat)
            && let Some(persona) = self.persona(name).await?
        {
            let wanted = persona.as_ref().and_then(|it| it.model.as_deref());
            return Ok(ModelSelection {
                model: models.choose(wanted).id.clone(),
                persona,
                methods: asker.methods.clone(),
            });
        }
        let raws = asker.holds(Capability::Models);
        match raws.then(|| named(models, name)).flatten() {
            Some(model) => Ok(raw(model)),
            None if asker.holds(Capability::Chat) => Err(Failure::no_model(name)),
            // Of what it may not use a key learns nothing, not even whether it is there.
            None => Err(Failure::forbidden(Capability::Chat.scope())),
        }
    }

    /// The inner `None` is a model without one.
    async fn persona(&self, name: &str) -> Result<Option<Option<Persona>>, Failure> {
        let personas = self.store().personas();
        if name == BARE {
            return Ok(Some(None));
        }
        // The operator may have chosen who answers where nobody else was.
        if name == Persona::built_in().name {
            return Ok(Some(Some(personas.default(None).await?)));
        }
        match personas.get(name).await {
            Ok(persona) => Ok(Some(Some(persona))),
            Err(StoreError::UnknownPersona(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn raw(model: &NamedModel) -> ModelSelection {
    ModelSelection {
        persona: None,
        model: model.id.clone(),
        methods: Allowed::Only(Vec::new()),
    }
}

/// Plugins know a model by its id, or by the provider's name of it.
pub(super) fn named<'a>(models: &'a Models, name: &str) -> Option<&'a NamedModel> {
    let by_name = |model: &&NamedModel| model.model.about().name.as_deref() == Some(name);
    let id = name.strip_prefix(RAW).unwrap_or(name);
    let found = models.get(id);
    found.or_else(|| models.all().iter().find(by_name))
}
