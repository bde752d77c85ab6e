//! The asker's history, completed from our own record. An asker knows only the calls it was left with;
//! what we called in the same turn, and what a provider wants back unchanged, is put back in its place.

use callgate_agent::Stored;
use callgate_contract::{JournalId, ModelMessage, SessionKey, ToolCall};
use jiff::Timestamp;

use super::{Failure, OpenAi};

/// Answers that one history may go back through.
const LONGEST: usize = 1_000;

/// A response that was stored.
pub(super) struct StoredResponse {
    pub(super) turn: JournalId,
    pub(super) at: Timestamp,
    previous: Option<JournalId>,
    pub(super) input: Vec<ModelMessage>,
    added: Vec<ModelMessage>,
    pub(super) stored: Stored,
}

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
                Some((_, kept)) => restored.extend(kept.added),
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
        let id = turn_of_response(response).ok_or_else(missing)?;
        let answers = self.chain(session, id).await?.ok_or_else(missing)?;
        let said = answers.into_iter();
        let said = said.flat_map(|it| it.input.into_iter().chain(it.added));
        Ok((id, said.collect()))
    }

    /// A stored response after all that it went on from, oldest first; `None` where one is missing.
    pub(super) async fn chain(
        &self,
        session: &SessionKey,
        id: JournalId,
    ) -> Result<Option<Vec<StoredResponse>>, Failure> {
        let mut answers = Vec::new();
        let mut next = Some(id);
        while let Some(turn) = next {
            let answer = self.stored(session, turn).await?;
            let Some(answer) = answer.filter(|_| answers.len() < LONGEST) else {
                return Ok(None);
            };
            next = answer.previous;
            answers.push(answer);
        }
        answers.reverse();
        Ok(Some(answers))
    }

    pub(super) async fn stored(
        &self,
        session: &SessionKey,
        turn: JournalId,
    ) -> Result<Option<StoredResponse>, Failure> {
        let kept = self.agent()?.exchange(session, turn).await?;
        Ok(kept.and_then(|(at, kept)| {
            Some(StoredResponse {
                turn,
                at,
                previous: kept.previous,
                input: kept.input,
                added: kept.added,
                stored: kept.answer?,
            })
        }))
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

pub(super) fn turn_of_response(id: &str) -> Option<JournalId> {
    id.strip_prefix("resp_").and_then(journal)
}

fn journal(text: &str) -> Option<JournalId> {
    text.parse().ok().map(JournalId)
}
