//! What listeners change on its way is on record: a turn that goes on, or is repeated where they are
//! not, comes out the same, and they hear of nothing twice that led to a further round.

use callgate_contract::{Part, Points};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json, json};

use super::Turn;
use crate::TurnError;

/// What the conversation keeps of what was asked.
pub(crate) const SAID: &str = "said";
const ANSWER: &str = "answer";

/// Of a call of tool mode, before it is made.
pub(crate) fn arguments_of(sequence: u64) -> String {
    format!("call/{sequence}/arguments")
}

/// The same of what the model is told of it.
pub(crate) fn result_of(sequence: u64) -> String {
    format!("call/{sequence}/result")
}

impl Turn {
    /// What it was made of in the execution that is on record.
    pub(super) fn altered<T: DeserializeOwned>(&self, place: &str) -> Option<T> {
        let made = self.earlier.altered.get(place)?;
        serde_json::from_value(made.clone()).ok()
    }

    pub(super) async fn alter(&self, place: &str, made: &impl Serialize) -> Result<(), TurnError> {
        let turns = self.agent.store().turns();
        turns.alter(self.facts.turn, place, &json!(made)).await?;
        Ok(())
    }

    /// The execution on record has come to a later round.
    fn is_past(&self) -> bool {
        let next = self.earlier.rounds.front();
        next.is_some_and(|next| next.number > self.state.round)
    }

    /// The arguments that the call is made with.
    pub(super) async fn before_call(
        &self,
        sequence: u64,
        method: &str,
        mut arguments: Map<String, Json>,
    ) -> Result<Map<String, Json>, TurnError> {
        let place = arguments_of(sequence);
        if let Some(made) = self.altered(&place) {
            return Ok(made);
        }
        let mut listeners = self.agent.listeners(Points::BEFORE_CALL).peekable();
        if listeners.peek().is_none() || self.record.has(sequence) {
            return Ok(arguments);
        }
        let asked = arguments.clone();
        for listener in listeners {
            listener
                .before_call(&self.facts, method, &mut arguments)
                .await;
        }
        if arguments != asked {
            self.alter(&place, &arguments).await?;
        }
        Ok(arguments)
    }

    /// The result as the model will read it.
    pub(super) async fn after_call(
        &self,
        sequence: u64,
        method: &str,
        mut result: String,
    ) -> Result<String, TurnError> {
        let place = result_of(sequence);
        if let Some(made) = self.altered(&place) {
            return Ok(made);
        }
        let mut listeners = self.agent.listeners(Points::AFTER_CALL).peekable();
        if listeners.peek().is_none() || self.is_past() {
            return Ok(result);
        }
        let was = result.clone();
        for listener in listeners {
            listener.after_call(&self.facts, method, &mut result).await;
        }
        if result != was {
            self.alter(&place, &result).await?;
        }
        Ok(result)
    }

    pub(super) async fn before_answer(
        &self,
        mut answer: Vec<Part>,
    ) -> Result<Vec<Part>, TurnError> {
        if let Some(made) = self.altered(ANSWER) {
            return Ok(made);
        }
        let was = answer.clone();
        for listener in self.agent.listeners(Points::BEFORE_ANSWER) {
            listener.before_answer(&self.facts, &mut answer).await;
        }
        if answer != was {
            self.alter(ANSWER, &answer).await?;
        }
        Ok(answer)
    }
}
