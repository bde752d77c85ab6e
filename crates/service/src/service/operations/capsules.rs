//! Sessions as files and personas of other programs, over HTTP.

use crate::{
    ServiceError,
    operations::{TakePersona, WhichCapsule},
};
use callgate_agent::{capsule, cards};
use serde_json::{Value as Json, json};

use crate::Service;
use crate::{capsules, request::SetPersona};

impl Service {
    pub async fn capsule_file(&self, which: WhichCapsule) -> Result<Vec<u8>, ServiceError> {
        let capsule = self.capsule(&which.session, which.turn).await?;
        let mut bytes = Vec::new();
        capsule::write(&capsule, &mut bytes)?;
        Ok(bytes)
    }

    pub async fn replay_file(&self, bytes: Vec<u8>) -> Result<Json, ServiceError> {
        let read = tokio::task::spawn_blocking(move || capsule::read(bytes.as_slice()));
        let capsule = read.await.map_err(ServiceError::internal)??;
        self.replay_here(&capsule).await
    }

    pub async fn replay_turn(&self, which: WhichCapsule) -> Result<Json, ServiceError> {
        let capsule = self.capsule(&which.session, which.turn).await?;
        self.replay_here(&capsule).await
    }

    /// In a place of its own on this machine.
    pub async fn replay_here(&self, capsule: &capsule::Capsule) -> Result<Json, ServiceError> {
        let home = self.store.files().sessions_path().parent();
        let home = home.unwrap_or(std::path::Path::new("."));
        let replayed = capsules::replay(&self.config, home, None, capsule).await?;
        Ok(json!(replayed))
    }

    pub async fn take_card(&self, take: TakePersona) -> Result<Vec<Json>, ServiceError> {
        let cards = cards::read(&take.bytes, take.greeting)?;
        if take.name.is_some() && cards.len() > 1 {
            let error = format!("there are {} personas in it, and one name", cards.len());
            return Err(ServiceError::invalid(error, "leave out the name"));
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
