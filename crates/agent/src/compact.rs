//! Compaction: a long history is summarised by a row of its own. Nothing is deleted; later turns see
//! the summary and what came after it.

use callgate_contract::{
    Cancel, FinishReason, ModelMessage, ModelRequest, Origin, Part, Payer, Principal,
};
use callgate_store::{Conversation, NewMessage, Persona};
use serde_json::json;

use crate::{
    Agent, TurnError,
    language::Language,
    recall::History,
    spending::{Need, Spender},
};

const INSTRUCTION: &str = "Summarise the conversation above for your own later use: what the people \
    want, what was decided, done and found out, names, numbers and open questions. Leave out small \
    talk. Write it as notes, in the language of the conversation.";

/// Messages at the end that are kept as they are.
const KEPT: usize = 6;

/// For whom it is done.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) cancel: &'a Cancel,
}

impl Asker<'_> {
    fn spender(self, conversation: &Conversation) -> Spender {
        Spender {
            session: conversation.session.clone(),
            principal: self.principal.clone(),
            conversation: Some(conversation.id),
            payer: Payer {
                origin: Some(Origin::Builtin.to_string()),
                method: Some("compact".to_owned()),
                ..Payer::default()
            },
            stopped: self.cancel.clone(),
            language: Language::default(),
        }
    }
}

impl Agent {
    /// The history, summarised first if it has grown too long.
    pub(crate) async fn compacted(
        &self,
        conversation: &Conversation,
        persona: Option<&Persona>,
        asker: Asker<'_>,
    ) -> Result<History, TurnError> {
        let history = self.history(conversation).await?;
        if history.tokens <= self.settings().history_tokens {
            return Ok(history);
        }
        drop(history);
        self.compact(conversation, persona, asker).await?;
        let conversations = self.store().conversations();
        let conversation = conversations.get(conversation.id).await?;
        match conversation {
            Some(conversation) => self.history(&conversation).await,
            None => Ok(History::default()),
        }
    }

    /// False if there is too little to summarise, nothing left to pay for it, or the model did not
    /// manage.
    pub(crate) async fn compact(
        &self,
        conversation: &Conversation,
        persona: Option<&Persona>,
        asker: Asker<'_>,
    ) -> Result<bool, TurnError> {
        let conversations = self.store().conversations();
        let rows = conversations.context(conversation.id).await?;
        let Some(upto) = rows.len().checked_sub(KEPT + 1) else {
            return Ok(false);
        };
        // A tool's result must not lose the call it belongs to.
        let is_result = |row: &callgate_store::HistoryRow| row.message["role"] == "tool";
        let mut upto = upto;
        while upto > 0 && rows.get(upto + 1).is_some_and(is_result) {
            upto -= 1;
        }
        let old = rows.get(..=upto).unwrap_or_default();
        let Some(last) = old.last() else {
            return Ok(false);
        };
        let told = old.iter().map(|row| row.message.to_string());
        let told = told.collect::<Vec<_>>().join("\n");
        let mut request = ModelRequest::new(vec![
            ModelMessage::system(persona.map_or("", |persona| &persona.system_prompt)),
            ModelMessage::User {
                parts: vec![Part::text(told), Part::text(INSTRUCTION)],
            },
        ]);
        let settings = self
            .store()
            .settings()
            .session(&conversation.session)
            .await?
            .value;
        let model = self.models().choose(settings.model.as_deref());
        let spender = asker.spender(conversation);
        let admitted = self.admit(&spender, model, || Need::of(&request)).await?;
        let Ok(limit) = admitted else {
            return Ok(false);
        };
        request.output_limit = limit.as_ref().map(|limit| limit.tokens);
        let reply = tokio::select! {
            reply = model.model.complete(request) => reply,
            () = asker.cancel.cancelled() => return Ok(false),
        };
        let summary = match reply {
            Ok(reply) => {
                let by = reply.model.as_deref().unwrap_or(&model.id);
                self.spent(&spender, by, reply.usage).await;
                // Half a summary would stand for all that was said.
                match reply.finish {
                    FinishReason::Length => return Ok(false),
                    _ => reply.text,
                }
            }
            Err(error) => {
                tracing::warn!(%error, "could not summarise the history");
                return Ok(false);
            }
        };
        if summary.trim().is_empty() {
            return Ok(false);
        }
        let message = json!({
            "role": "user",
            "content": format!("[Summary of the conversation so far]\n{summary}"),
        });
        let summary = NewMessage::from(message);
        conversations
            .compact(conversation.id, last.position, &summary)
            .await?;
        Ok(true)
    }
}
