//! [`VectorsAsk`]: texts as vectors, for whoever asks as it would ask for an answer. It is a turn of
//! one round, on record and paid for like any other; the vectors themselves are kept nowhere.

use callgate_contract::{
    Cancel, Embeddings, JournalId, Mode, ModelMessage, ModelReply, ModelRequest, Principal, Role,
    SessionKey, TurnStop,
};
use callgate_store::KeptRequest;

use super::{Parent, Returned, SessionContext, Speakers, Turn, TurnAsk, TurnOptions};
use crate::{Agent, NoVectors, Watch, language::Language, spending::Need, texts};

/// What is asked.
pub struct VectorsAsk {
    pub session: SessionKey,
    pub principal: Principal,
    pub role: Role,
    /// The id of a model that makes vectors.
    pub model: String,
    pub texts: Vec<String>,
    /// On whose behalf, where it is a plugin that asks: it pays.
    pub parent: Option<Parent>,
}

impl Agent {
    /// A vector for each text.
    pub async fn vectors_for(&self, asked: VectorsAsk) -> Result<Embeddings, NoVectors> {
        let ask = TurnAsk {
            session: asked.session,
            principal: asked.principal,
            role: asked.role,
            speakers: Speakers::default(),
            parts: Vec::new(),
            rows: Vec::new(),
            conversation: None,
            history: None,
            persona: None,
            mode: Mode::Tools,
            model: asked.model,
            parent: asked.parent,
            options: TurnOptions {
                tools: Some(Vec::new()),
                returned: Some(Returned {
                    id: JournalId::fresh(),
                    ..Returned::default()
                }),
                ..TurnOptions::default()
            },
            watch: Watch::default(),
            cancel: Cancel::default(),
            known: SessionContext::default(),
        };
        let _going = self.sessions().under_way.enter();
        let mut turn = self.begin(ask).await?;
        let need = || Need::of_texts(&asked.texts);
        let _held = match turn.admit(&turn.model, need).await? {
            Ok(held) => held,
            Err(reason) => {
                turn.finish(TurnStop::Budget, reason.clone()).await?;
                return Err(NoVectors::Budget(reason));
            }
        };
        match turn.embed(asked.texts).await {
            Ok(made) => {
                turn.finish(TurnStop::Answered, described(&made)).await?;
                Ok(made)
            }
            Err(NoVectors::Model(error)) => {
                let text = texts::model_failed(Language::default(), &error);
                turn.finish(TurnStop::Error, text).await?;
                Err(NoVectors::Model(error))
            }
            Err(error) => Err(error),
        }
    }
}

impl Turn {
    async fn embed(&mut self, texts: Vec<String>) -> Result<Embeddings, NoVectors> {
        self.state.round += 1;
        let said: Vec<ModelMessage> = texts.iter().map(ModelMessage::user).collect();
        let kept = if self.agent.settings().keep_requests {
            let text = serde_json::to_string(&ModelRequest::new(said)).ok();
            text.map(|text| KeptRequest {
                text,
                shared_in: None,
            })
        } else {
            None
        };
        let (turn, round) = (self.facts.turn, self.state.round);
        let turns = self.agent.store().turns();
        let recorded = turns.asked(turn, round, kept).await;
        recorded.map_err(crate::TurnError::from)?;
        let made = self.model.model.embed(texts).await?;
        let reply = ModelReply {
            text: described(&made),
            usage: made.usage,
            ..ModelReply::default()
        };
        let json = serde_json::to_value(&reply).unwrap_or_default();
        let charge = self.charge(&self.model.id, made.usage);
        let recorded = turns.replied(turn, round, &json, &charge).await;
        recorded.map_err(crate::TurnError::from)?;
        Ok(made)
    }
}

/// What is kept in the place of the vectors.
fn described(made: &Embeddings) -> String {
    let length = made.vectors.first().map_or(0, Vec::len);
    match made.vectors.len() {
        1 => format!("[1 vector of {length} numbers]"),
        count => format!("[{count} vectors of {length} numbers]"),
    }
}
