//! Personas, as people see and change them.

use callgate_contract::Origin;
use callgate_store::{NewPersona, Persona, PersonaUpdate, StoreError};
use serde_json::{Value as Json, json};

use super::Service;
use crate::{
    ServiceError,
    request::{Methods, SetPersona},
};

impl Service {
    pub(super) async fn personas(&self) -> Result<Json, ServiceError> {
        let mut personas = vec![Persona::built_in()];
        personas.extend(self.store.personas().list().await?);
        Ok(json!(personas))
    }

    pub(super) async fn persona(&self, name: &str) -> Result<Json, ServiceError> {
        let built_in = Persona::built_in();
        if built_in.name == name {
            return Ok(json!(built_in));
        }
        Ok(json!(self.store.personas().get(name).await?))
    }

    /// Makes the persona, or changes what is given of it.
    pub(super) async fn set_persona(&self, set: SetPersona) -> Result<Json, ServiceError> {
        let personas = self.store.personas();
        let methods = set.methods.map(|methods| match methods {
            Methods::All => None,
            Methods::Only(names) => Some(names),
        });
        let model = set.model.map(|id| Some(id).filter(|id| !id.is_empty()));
        let persona = match personas.get(&set.name).await {
            Ok(_) => {
                let update = PersonaUpdate {
                    system_prompt: set.prompt,
                    begin_dialogs: set.dialogs,
                    methods,
                    mode: set.mode,
                    model,
                };
                personas.update(&set.name, &update).await?
            }
            Err(StoreError::UnknownPersona(_)) => {
                let Some(system_prompt) = set.prompt else {
                    return Err(ServiceError::refused(
                        format!(
                            "there is no persona '{}' yet, and no prompt to make it",
                            set.name
                        ),
                        "give --prompt TEXT, or --prompt @FILE",
                    ));
                };
                let new = NewPersona {
                    name: set.name,
                    system_prompt,
                    begin_dialogs: set.dialogs,
                    methods: methods.flatten(),
                    mode: set.mode.unwrap_or_default(),
                    model: model.flatten(),
                };
                personas.create(&new).await?
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(agent) = self.agent.get()
            && let Err(error) = agent.register_persona(&persona)
        {
            tracing::warn!(persona = persona.name, %error, "a persona cannot be a method");
        }
        Ok(json!(persona))
    }

    /// One of that name is an error, unless it is to be replaced whole.
    pub(super) async fn take_persona(
        &self,
        persona: SetPersona,
        replace: bool,
    ) -> Result<Json, ServiceError> {
        let name = &persona.name;
        if *name == Persona::built_in().name {
            return Err(ServiceError::refused(
                format!("'{name}' is the built-in persona"),
                "choose another name with --name NAME",
            ));
        }
        match self.store.personas().get(name).await {
            Ok(_) if replace => self.set_persona(persona).await,
            Err(StoreError::UnknownPersona(_)) => self.set_persona(persona).await,
            Ok(_) => Err(ServiceError::refused(
                format!("there is a persona '{name}' already"),
                "choose another name with --name NAME, or overwrite it with --replace",
            )),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn delete_persona(&self, name: String) -> Result<Json, ServiceError> {
        self.store.personas().delete(&name).await?;
        self.gate.unregister_origin(&Origin::Agent(name.clone()));
        Ok(json!({ "deleted": name }))
    }

    /// Each persona is a method too; with none, no agent is needed to offer them.
    pub(super) async fn offer_personas(&self) -> Result<(), ServiceError> {
        if self.agent.get().is_none() && !self.store.personas().list().await?.is_empty() {
            self.agent().await?;
        }
        Ok(())
    }
}
