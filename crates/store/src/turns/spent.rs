//! What turns cost, summed for budgets and for the operator. A turn's agents count as its own.

use callgate_contract::{ConversationId, JournalId};
use serde::Serialize;

use super::Turns;
use crate::{
    Counted, StoreError,
    counted::Values,
    row::{self, get},
    tx::Tx,
};

/// Which turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    Turn(JournalId),
    Conversation(ConversationId),
    /// Those that began since then, and what was asked since then.
    Of(Counted<'a>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Of methods.
    pub calls: u64,
    /// Time worked; of a turn that has not ended, only what its model took.
    pub millis: u64,
    /// In millionths of the operator's currency; `None` where no price was known.
    pub money: Option<u64>,
    /// Requests to models whose price was not known.
    pub unpriced: u64,
}

/// Of the turns that have ended, calls and time are on their row; of the others they are counted.
const OF_TURNS: &str = "
    COALESCE(CAST(SUM(calls) AS BIGINT), 0) + (
        SELECT COUNT(*) FROM call WHERE journal IN (SELECT id FROM running)
        OR journal IN (SELECT journal FROM run WHERE run.turn IN (SELECT id FROM running))
    ) AS calls,
    COALESCE(CAST(SUM(millis) AS BIGINT), 0) + (
        SELECT COALESCE(CAST(SUM(answered_at - asked_at) AS BIGINT), 0) FROM model_request
        WHERE turn IN (SELECT id FROM running) AND answered_at IS NOT NULL
          AND round IS NOT NULL
    ) AS millis";

const OF_MODELS: &str = "
    COALESCE(CAST(SUM(tokens_in) AS BIGINT), 0) AS tokens_in,
    COALESCE(CAST(SUM(tokens_out) AS BIGINT), 0) AS tokens_out,
    CAST(SUM(money) AS BIGINT) AS money,
    COUNT(*) - COUNT(money) AS unpriced";

impl Turns<'_> {
    pub async fn spent(&self, scope: Scope<'_>) -> Result<Spent, StoreError> {
        self.0.flush().await?;
        let mut values = Values::default();
        let in_tree = || "turn IN (SELECT id FROM tree)".to_owned();
        let (turns, requests) = match scope {
            Scope::Turn(turn) => (format!("id = {}", values.id(turn.0)), in_tree()),
            Scope::Conversation(id) => {
                let turns = format!("conversation = {}", values.id(id.0));
                (turns, in_tree())
            }
            Scope::Of(counted) => (
                counted.condition("started_at", &mut values),
                counted.condition("asked_at", &mut values),
            ),
        };
        let read = move |tx: &mut dyn Tx| {
            let select = format!(
                "WITH RECURSIVE tree (id) AS (
                     SELECT id FROM turn WHERE {turns}
                     UNION SELECT turn.id FROM turn JOIN tree ON turn.parent = tree.id),
                 running (id) AS (
                     SELECT id FROM turn WHERE stop IS NULL AND id IN (SELECT id FROM tree)),
                 work AS (SELECT {OF_TURNS} FROM turn WHERE id IN (SELECT id FROM tree)),
                 models AS (SELECT {OF_MODELS} FROM model_request
                            WHERE answered_at IS NOT NULL AND {requests})
                 SELECT * FROM work CROSS JOIN models"
            );
            let row = tx.query_one(&select, &values.parameters())?;
            let sum = |column: &'static str| -> Result<u64, StoreError> {
                row::read_count(column, get(&row, column)?)
            };
            let money: Option<i64> = get(&row, "money")?;
            Ok(Spent {
                tokens_in: sum("tokens_in")?,
                tokens_out: sum("tokens_out")?,
                calls: sum("calls")?,
                millis: sum("millis")?,
                money: money
                    .map(|money| row::read_count("money", money))
                    .transpose()?,
                unpriced: sum("unpriced")?,
            })
        };
        self.0.database.read(read).await
    }
}
