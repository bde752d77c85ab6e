//! Sessions as files and personas of other programs, over HTTP.

use callgate_agent::{capsule, cards};
use callgate_server::{
    Refused,
    operations::{CapsuleOperations, TakePersona, WhichCapsule},
};
use serde_json::{Value as Json, json};

use super::super::App;
use crate::{capsules, failure::Failure, request::SetPersona};

impl App {
    pub(super) fn capsule_operations(&self) -> CapsuleOperations {
        CapsuleOperations {
            export: self.operation(|app, ask| async move { Ok(app.capsule_file(ask).await?) }),
            replay: self.operation(|app, bytes: Vec<u8>| async move {
                let read = tokio::task::spawn_blocking(move || capsule::read(bytes.as_slice()));
                let capsule = read.await.map_err(|_| gone())?;
                let capsule = capsule.map_err(|error| bad(&error.to_string(), error.hint()))?;
                Ok(app.replay_here(&capsule).await?)
            }),
            replay_turn: self.operation(|app, ask: WhichCapsule| async move {
                let capsule = app.capsule(&ask.session, ask.turn).await?;
                Ok(app.replay_here(&capsule).await?)
            }),
            import_persona: self.operation(|app, take| async move { app.take_card(take).await }),
        }
    }

    async fn capsule_file(&self, which: WhichCapsule) -> Result<Vec<u8>, Failure> {
        let capsule = self.capsule(&which.session, which.turn).await?;
        let mut bytes = Vec::new();
        capsule::write(&capsule, &mut bytes)?;
        Ok(bytes)
    }

    /// In a place of its own on this machine.
    async fn replay_here(&self, capsule: &capsule::Capsule) -> Result<Json, Failure> {
        let home = self.store.files().sessions_path().parent();
        let home = home.unwrap_or(std::path::Path::new("."));
        let replayed = capsules::replay(&self.config, home, None, capsule).await?;
        Ok(json!(replayed))
    }

    async fn take_card(&self, take: TakePersona) -> Result<Vec<Json>, Refused> {
        let cards = cards::read(&take.bytes, take.greeting)
            .map_err(|error| bad(&error.to_string(), error.hint()))?;
        if take.name.is_some() && cards.len() > 1 {
            let error = format!("there are {} personas in it, and one name", cards.len());
            return Err(bad(&error, "leave out the name"));
        }
        let mut taken = Vec::new();
        for card in cards {
            let set = SetPersona::from_card(card.persona, take.name.clone());
            let mut persona = self.take_persona(set, take.replace).await?;
            persona["source"] = json!(card.source);
            persona["notes"] = json!(card.notes);
            taken.push(persona);
        }
        Ok(taken)
    }
}

fn bad(error: &str, hint: &str) -> Refused {
    Refused::bad(error, hint)
}

fn gone() -> Refused {
    bad("this was cut off", "the server's log says why")
}
