//! `model_list` and `model_embed`: which models there are, and texts as vectors.

use callgate_contract::{
    Cancel, Effect, Embeddings, Kind, MethodError, ModelError, NamedModel, Payer, Principal,
    SessionKey, Value,
};
use callgate_gate::{Call, Function, method as made};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{failed, gone, hosted, value};
use crate::{
    Agent, TurnError,
    language::Language,
    spending::{Need, Spender},
};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

pub(super) fn list(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |_: Call, _: Nothing| {
        let agent = agent.upgrade();
        async move { value(agent.ok_or_else(gone)?.model_rows()) }
    };
    let method = made("model_list", Kind::Tool, handler).effect(Effect::Pure);
    hosted(method.doc("The models there are, the default one first.")).leaf()
}

#[derive(Deserialize, JsonSchema)]
struct Texts {
    /// An id; none is the model configured for this.
    #[serde(default)]
    model: Option<String>,
    input: Vec<String>,
    /// For those that know several; most know one.
    #[serde(default)]
    dimensions: Option<u32>,
}

pub(super) fn method(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, texts: Texts| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.embed(&call, texts).await }
    };
    let method = made("model_embed", Kind::Tool, handler).effect(Effect::Idempotent);
    hosted(method.doc("A vector for each text."))
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum NoVectors {
    /// Whoever asks has spent what it may; in words for the user.
    #[error("{0}")]
    Budget(String),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Spending(#[from] TurnError),
}

impl Agent {
    /// A vector for each text: asked for within the budgets of who pays, and on its account.
    pub async fn vectors(
        &self,
        (session, principal): (&SessionKey, &Principal),
        payer: Payer,
        model: &NamedModel,
        texts: Vec<String>,
    ) -> Result<Embeddings, NoVectors> {
        let spender = Spender {
            session: session.clone(),
            principal: principal.clone(),
            conversation: None,
            payer,
            stopped: Cancel::default(),
            language: Language::default(),
        };
        let need = || Need::of_texts(&texts);
        let admitted = self.admit(&spender, model, need).await?;
        let _held = admitted.map_err(NoVectors::Budget)?;
        let made = model.model.embed(texts).await?;
        self.spent(&spender, &model.id, made.usage).await;
        Ok(made)
    }

    fn model_rows(&self) -> Json {
        let first = &self.models().choose(None).id;
        let embedding = self.models().embedding().map(|model| &model.id);
        let mut models: Vec<_> = self.models().all().iter().collect();
        models.sort_by_key(|model| model.id != *first);
        let row = |model: &&callgate_contract::NamedModel| {
            let (about, accepts) = (model.model.about(), model.model.accepts());
            // The one model that does everything is still one to chat with.
            let embeds = embedding == Some(&model.id) && model.id != *first;
            json!({
                "id": model.id,
                "kind": if embeds { "embedding" } else { "chat" },
                "name": about.name,
                "wire": about.wire,
                "vision": accepts.image,
                "audio": accepts.audio,
            })
        };
        models.iter().map(row).collect()
    }

    async fn embed(&self, call: &Call, texts: Texts) -> Result<Value, MethodError> {
        let wanted = texts.model.filter(|id| !id.is_empty());
        let model = match wanted {
            Some(id) => self.models().get(&id),
            None => self.models().embedding(),
        };
        let model = model.ok_or_else(|| {
            MethodError::new("no such model makes embeddings: configure models.embedding")
        })?;
        let caller = &call.caller;
        let who = (&caller.session, &caller.principal);
        let payer = caller.grant.budget.payer().clone();
        let made = self.vectors(who, payer, model, texts.input).await;
        let made = made.map_err(failed)?;
        let mut vectors = made.vectors;
        if let Some(dimensions) = texts.dimensions {
            for vector in &mut vectors {
                vector.truncate(dimensions as usize);
            }
        }
        value(json!(vectors))
    }
}
