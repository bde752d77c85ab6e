//! Compaction: a long history is summarised by a row of its own. Nothing is deleted; later turns see
//! the summary and what came after it.

use callgate_contract::{Messages, ModelMessage, ModelRequest, Part};
use callgate_store::{Conversation, NewMessage, Persona};
use serde_json::json;

use crate::{Agent, TurnError};

const INSTRUCTION: &str = "Summarise the conversation above for your own later use: what the people \
    want, what was decided, done and found out, names, numbers and open questions. Leave out small \
    talk. Write it as notes, in the language of the conversation.";

/// Messages at the end that are kept as they are.
const KEPT: usize = 6;

impl Agent {
    /// The history, summarised first if it has grown too long.
    pub(crate) async fn compacted(
        &self,
        conversation: &Conversation,
        persona: Option<&Persona>,
    ) -> Result<Messages, TurnError> {
        let history = self.history(conversation).await?;
        if history.tokens <= self.settings().history_tokens {
            return Ok(history.messages);
        }
        drop(history);
        self.compact(conversation, persona).await?;
        let conversations = self.store().conversations();
        let conversation = conversations.get(conversation.id).await?;
        match conversation {
            Some(conversation) => Ok(self.history(&conversation).await?.messages),
            None => Ok(Messages::default()),
        }
    }

    /// False if there is too little to summarise, or the model did not manage.
    pub(crate) async fn compact(
        &self,
        conversation: &Conversation,
        persona: Option<&Persona>,
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
        let request = ModelRequest::new(vec![
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
        let summary = match model.model.complete(request).await {
            Ok(reply) if !reply.text.trim().is_empty() => reply.text,
            Ok(_) => return Ok(false),
            Err(error) => {
                tracing::warn!(%error, "the history could not be summarised");
                return Ok(false);
            }
        };
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
