//! Personas: who answers, and what a model is told to be.

mod import;

use callgate_agent::{Override, Preview};
use callgate_contract::{Mode, Origin, SessionKey};
use callgate_store::{NewPersona, Persona, PersonaUpdate, StoreError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Deleted, List};
use crate::{Capability, Hint, Operation, Requester, Service, ServiceError};

pub use import::{ImportPersonas, ImportedPersona};

/// The built-in one first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListPersonas {}

impl Operation for ListPersonas {
    type Response = List<PersonaView>;
    const NAME: &'static str = "personas.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let default = default_name(service).await?;
        let stored = service.store().personas().list().await?;
        let all = std::iter::once(Persona::built_in()).chain(stored);
        let views = all.map(|persona| PersonaView::new(persona, &default));
        Ok(List::whole(views.collect()))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetPersona {
    pub name: String,
}

impl Operation for GetPersona {
    type Response = PersonaView;
    const NAME: &'static str = "personas.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let built_in = Persona::built_in();
        let persona = if self.name == built_in.name {
            built_in
        } else {
            service.store().personas().get(&self.name).await?
        };
        Ok(PersonaView::new(persona, &default_name(service).await?))
    }
}

/// Makes a persona, or changes one: what is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPersona {
    pub name: String,
    /// Not to be left out of a new one.
    pub system_prompt: Option<String>,
    /// User and assistant in turn.
    pub begin_dialogs: Option<Vec<String>>,
    /// Null holds all methods, an empty list none.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub methods: Option<Option<Vec<String>>>,
    pub mode: Option<Mode>,
    /// Null leaves the choice to the session.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub model: Option<Option<String>>,
    /// Make it the one that answers where nobody chose another, or no longer.
    pub default: Option<bool>,
}

/// Null is something else than nothing.
fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl Operation for SetPersona {
    type Response = PersonaView;
    const NAME: &'static str = "personas.set";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let personas = service.store().personas();
        let name = self.name.clone();
        let update = PersonaUpdate {
            system_prompt: self.system_prompt,
            begin_dialogs: self.begin_dialogs,
            methods: self.methods,
            mode: self.mode,
            model: self.model,
        };
        let persona = match personas.update(&name, &update).await {
            Err(StoreError::UnknownPersona(_)) => personas.create(&new(name, update)?).await?,
            updated => updated?,
        };
        match self.default {
            Some(true) => personas.set_default(Some(&persona.name)).await?,
            Some(false) if default_name(service).await? == persona.name => {
                personas.set_default(None).await?;
            }
            _ => {}
        }
        // It is a method too. An agent that is made later finds it by itself.
        if let Some(agent) = service.running_agent()
            && let Err(error) = agent.register_persona(&persona)
        {
            tracing::warn!(persona = persona.name, %error, "could not register a persona as a method");
        }
        Ok(PersonaView::new(persona, &default_name(service).await?))
    }
}

fn new(name: String, fields: PersonaUpdate) -> Result<NewPersona, ServiceError> {
    let Some(system_prompt) = fields.system_prompt else {
        return Err(ServiceError::invalid(
            format!("there is no persona '{name}' yet, and no prompt to make it"),
            Hint::PersonaPrompt,
        ));
    };
    Ok(NewPersona {
        name,
        system_prompt,
        begin_dialogs: fields.begin_dialogs,
        methods: fields.methods.flatten(),
        mode: fields.mode.unwrap_or_default(),
        model: fields.model.flatten(),
    })
}

/// What a model would be asked with a persona that is not saved.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewPersona {
    #[serde(default)]
    pub name: String,
    pub system_prompt: String,
    #[serde(default)]
    pub begin_dialogs: Vec<String>,
    pub methods: Option<Vec<String>>,
    #[serde(default)]
    pub mode: Mode,
    pub model: Option<String>,
    /// Where it would answer; the asker's own session where none is named.
    pub session: Option<SessionKey>,
}

impl Operation for PreviewPersona {
    type Response = Preview;
    const NAME: &'static str = "personas.preview";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let session = match self.session {
            Some(session) => session,
            None => requester.session()?,
        };
        let overrule = Override {
            mode: Some(self.mode),
            model: self.model.clone(),
            role: Some(requester.role()),
            ..Override::default()
        };
        let now = Timestamp::now();
        let persona = Persona {
            id: 0,
            name: self.name,
            system_prompt: self.system_prompt,
            begin_dialogs: Some(self.begin_dialogs),
            methods: self.methods,
            mode: self.mode,
            model: self.model,
            created_at: now,
            updated_at: now,
        };
        let agent = service.running_agent().ok_or_else(ServiceError::starting)?;
        let preview = agent.preview_with(&session, requester.into(), overrule, Some(persona));
        Ok(preview.await?)
    }
}

/// Sessions that chose it fall back to the default.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeletePersona {
    pub name: String,
}

impl Operation for DeletePersona {
    type Response = Deleted;
    const NAME: &'static str = "personas.delete";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.store().personas().delete(&self.name).await?;
        let method = Origin::Agent(self.name.clone());
        service.gate().unregister_origin(&method);
        Ok(Deleted { deleted: self.name })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PersonaView {
    /// Ascending; 0 is the built-in one.
    pub id: i64,
    pub name: String,
    pub system_prompt: String,
    /// User and assistant in turn.
    pub begin_dialogs: Vec<String>,
    /// None holds all methods, an empty list none.
    pub methods: Option<Vec<String>>,
    pub mode: Mode,
    /// None leaves the choice to the session.
    pub model: Option<String>,
    /// It answers where nobody chose another.
    pub default: bool,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
}

impl PersonaView {
    fn new(persona: Persona, default: &str) -> Self {
        PersonaView {
            default: persona.name == default,
            id: persona.id,
            name: persona.name,
            system_prompt: persona.system_prompt,
            begin_dialogs: persona.begin_dialogs.unwrap_or_default(),
            methods: persona.methods,
            mode: persona.mode,
            model: persona.model,
            created_at: persona.created_at,
            updated_at: persona.updated_at,
        }
    }
}

async fn default_name(service: &Service) -> Result<String, ServiceError> {
    Ok(service.store().personas().default(None).await?.name)
}
