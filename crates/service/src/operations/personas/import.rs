//! Personas of other programs, taken over.

use callgate_agent::cards::{self, Card, Source};
use callgate_store::{Persona, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PersonaView, SetPersona};
use crate::{Capability, Hint, Operation, Requester, Service, ServiceError, operations::List};

/// Takes over what a file of another program held.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportPersonas {
    cards: Vec<ImportedCard>,
    /// In place of personas of these names.
    replace: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ImportedCard {
    persona: SetPersona,
    source: Source,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportedPersona {
    #[serde(flatten)]
    pub persona: PersonaView,
    /// `sillytavern` or `astrbot`.
    #[schemars(with = "String")]
    pub source: Source,
    /// What people should know of it, and what was left out.
    pub notes: Vec<String>,
}

impl ImportPersonas {
    /// Of a character card (PNG or JSON) or AstrBot's JSON. `name` is in place of its own; `greeting`
    /// chooses among a card's, 0 being the usual one.
    pub fn read(
        file: &[u8],
        name: Option<&str>,
        greeting: usize,
        replace: bool,
    ) -> Result<Self, ServiceError> {
        let cards = cards::read(file, greeting)?;
        if name.is_some() && cards.len() > 1 {
            let error = format!("the file holds {} personas, and one name", cards.len());
            return Err(ServiceError::invalid(error, "leave out the name"));
        }
        let cards = cards.into_iter().map(|card| ImportedCard::new(card, name));
        let cards = cards.collect();
        Ok(ImportPersonas { cards, replace })
    }
}

impl ImportedCard {
    fn new(card: Card, name: Option<&str>) -> Self {
        let persona = card.persona;
        ImportedCard {
            persona: SetPersona {
                name: name.map_or(persona.name, str::to_owned),
                system_prompt: Some(persona.system_prompt),
                begin_dialogs: Some(persona.begin_dialogs.unwrap_or_default()),
                methods: Some(persona.methods),
                mode: Some(persona.mode),
                model: Some(persona.model),
                default: None,
            },
            source: card.source,
            notes: card.notes,
        }
    }
}

impl Operation for ImportPersonas {
    type Response = List<ImportedPersona>;
    const NAME: &'static str = "personas.import";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let mut imported = Vec::new();
        for card in self.cards {
            refuse_taken(service, &card.persona.name, self.replace).await?;
            imported.push(ImportedPersona {
                persona: card.persona.execute(service, requester).await?,
                source: card.source,
                notes: card.notes,
            });
        }
        Ok(List::whole(imported))
    }
}

async fn refuse_taken(service: &Service, name: &str, replace: bool) -> Result<(), ServiceError> {
    if name == Persona::built_in().name {
        let error = format!("'{name}' is the built-in persona");
        return Err(ServiceError::refused(error, Hint::OtherName));
    }
    match service.store().personas().get(name).await {
        Err(StoreError::UnknownPersona(_)) => Ok(()),
        Ok(_) if replace => Ok(()),
        Ok(_) => Err(ServiceError::refused(
            format!("there is a persona '{name}' already"),
            Hint::OtherNameOrReplace,
        )),
        Err(error) => Err(error.into()),
    }
}
