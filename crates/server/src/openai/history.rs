//! The asker's history, completed from our own record. An asker knows only the calls it was left with;
//! what we called in the same turn, and what a provider wants back unchanged, is put back in its place.

use callgate_contract::{JournalId, ModelMessage, SessionKey, ToolCall};

use super::{Failure, OpenAi};

/// Answers that one history may go back through.
const LONGEST: usize = 1_000;

impl OpenAi {
    /// In place of each answer that left calls to the asker, all of that answer.
    pub(super) async fn restored(
        &self,
        session: &SessionKey,
        messages: Vec<ModelMessage>,
    ) -> Result<Vec<ModelMessage>, Failure> {
        let mut restored = Vec::with_capacity(messages.len());
        for message in messages {
            let turn = match &message {
                ModelMessage::Assistant { tool_calls, .. } => turn_of(tool_calls),
                _ => None,
            };
            let kept = match turn {
                Some(turn) => self.agent()?.exchange(session, turn).await?,
                None => None,
            };
            match kept {
                Some(kept) => restored.extend(kept.added),
                None => restored.push(message),
            }
        }
        Ok(restored)
    }

    /// All that was said up to a stored response, oldest first.
    pub(super) async fn upto(
        &self,
        session: &SessionKey,
        response: &str,
    ) -> Result<(JournalId, Vec<ModelMessage>), Failure> {
        let missing = || Failure::no_response(response);
        let id = response.strip_prefix("resp_").and_then(journal);
        let id = id.ok_or_else(missing)?;
        let mut answers = Vec::new();
        let mut next = Some(id);
        while let Some(turn) = next {
            let kept = self.agent()?.exchange(session, turn).await?;
            let kept = kept.filter(|kept| kept.stored && answers.len() < LONGEST);
            let kept = kept.ok_or_else(missing)?;
            next = kept.previous;
            answers.push(kept);
        }
        let said = answers.into_iter().rev();
        let said = said.flat_map(|kept| kept.input.into_iter().chain(kept.added));
        Ok((id, said.collect()))
    }
}

/// The turn that all these calls were left by; the agent names them so.
fn turn_of(calls: &[ToolCall]) -> Option<JournalId> {
    let turn = |call: &ToolCall| journal(call.id.strip_prefix("call_")?.split_once('_')?.0);
    let first = turn(calls.first()?)?;
    calls
        .iter()
        .all(|call| turn(call) == Some(first))
        .then_some(first)
}

fn journal(text: &str) -> Option<JournalId> {
    text.parse().ok().map(JournalId)
}
