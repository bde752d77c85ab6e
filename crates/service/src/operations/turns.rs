//! Turns and their journal: what was asked, what was answered, what was called.

mod call;

use std::collections::HashMap;

use callgate_agent::{ModelFailure, RunReport};
use callgate_contract::{
    JournalId, Mode, ModelMessage, ModelOptions, ModelReply, Part, SessionKey, ToolSpec, TurnStop,
    Usage,
};
use callgate_store::{LogRow, Round, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

pub use call::{CallView, DecidedBy};

use super::{List, Page, journal_id};
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// Characters of what was asked that a list shows.
const SHOWN: usize = 160;

/// The latest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTurns {
    pub session: Option<SessionKey>,
    /// `said`: also how what was asked begins.
    pub with: Option<TurnDetail>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListTurns {
    type Response = List<TurnView>;
    const NAME: &'static str = "turns.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let before = self.page.after()?.map(JournalId);
        let limit = self.page.limit();
        let turns = service.store().turns();
        let mut found = turns
            .before(self.session.as_ref(), before, limit + 1)
            .await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = more
            .then(|| found.last().map(|turn| journal_id(turn.start.id)))
            .flatten();
        let said = match self.with {
            Some(TurnDetail::Said) => said(service, &found).await?,
            None => HashMap::new(),
        };
        let view = |turn: Turn| TurnView {
            said: said.get(&turn.start.id).cloned(),
            ..TurnView::from(turn)
        };
        let items = found.into_iter().map(view).collect();
        Ok(List { items, next })
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnDetail {
    Said,
}

/// One with its journal.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTurn {
    pub id: String,
}

impl Operation for GetTurn {
    type Response = TurnWithJournal;
    const NAME: &'static str = "turns.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let missing = || ServiceError::not_found(format!("no turn {}", self.id), Listing::Turns);
        let turn = JournalId(self.id.parse().map_err(|_| missing())?);
        let turns = service.store().turns();
        let found = turns.get(turn).await?;
        let mut runs = Vec::new();
        for run in turns.runs(turn).await? {
            runs.push(CodeView {
                run: journal_id(run.start.id),
                round: run.start.turn.map_or(0, |(_, round)| round),
                calls: call::of_journal(service, &found, run.start.id).await?,
                code: run.start.code.unwrap_or_default(),
                report: run.finish.and_then(|finish| recorded(finish.report)),
            });
        }
        let rounds = callgate_agent::rounds(service.store(), turn).await?;
        let calls = call::of_journal(service, &found, turn).await?;
        let children = turns.children(turn).await?;
        let mut said = said(service, std::slice::from_ref(&found)).await?;
        Ok(TurnWithJournal {
            turn: TurnView {
                said: said.remove(&turn),
                ..found.into()
            },
            rounds: rounds.into_iter().map(RoundView::from).collect(),
            calls,
            runs,
            children: children.into_iter().map(TurnView::from).collect(),
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    pub id: String,
    pub session: SessionKey,
    pub conversation: Option<String>,
    pub user: String,
    pub mode: Mode,
    pub model: String,
    pub persona: Option<String>,
    /// The turn whose agent this one is.
    pub parent: Option<String>,
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub ended_at: Option<Timestamp>,
    /// None while it runs, or waits for an approval.
    pub stop: Option<TurnStop>,
    /// Why its model gave no answer, where that is how it ended.
    pub failure: Option<ModelFailure>,
    /// The beginning of what was asked: of one turn, and in lists asked `with=said`. None for agents.
    pub said: Option<String>,
}

impl From<Turn> for TurnView {
    fn from(turn: Turn) -> Self {
        let Turn {
            start,
            started_at,
            finish,
        } = turn;
        TurnView {
            id: journal_id(start.id),
            session: start.session,
            conversation: start.conversation.map(|id| id.to_string()),
            user: start.principal.user().into_owned(),
            mode: start.mode,
            model: start.model,
            persona: start.persona,
            parent: start.parent.map(journal_id),
            started_at,
            ended_at: finish.as_ref().map(|finish| finish.at),
            stop: finish.as_ref().map(|finish| finish.stop),
            failure: finish
                .and_then(|mut finish| recorded(finish.report.get_mut("failure")?.take())),
            said: None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnWithJournal {
    #[serde(flatten)]
    pub turn: TurnView,
    pub rounds: Vec<RoundView>,
    /// Of tool mode; those of code are in its runs.
    pub calls: Vec<CallView>,
    pub runs: Vec<CodeView>,
    /// Turns of the agents it called.
    pub children: Vec<TurnView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundView {
    pub number: u32,
    /// What the model was asked, where that is kept. With `after`: the first so many messages of the
    /// request before it, then these `messages`; and the same `tools` unless there are others.
    pub request: Option<RecordedRequest>,
    pub reply: Option<ModelReply>,
    pub usage: Option<Usage>,
    /// In millionths of the operator's currency, where a price is known.
    pub money: Option<u64>,
    /// More than 1 after a crash that hid an answer.
    pub attempts: u32,
    #[schemars(with = "String")]
    pub asked_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub answered_at: Option<Timestamp>,
}

impl From<Round> for RoundView {
    fn from(round: Round) -> Self {
        let answer = round.answer;
        RoundView {
            number: round.number,
            request: round.request.and_then(recorded),
            usage: answer.as_ref().and_then(|answer| answer.usage),
            money: answer.as_ref().and_then(|answer| answer.money),
            answered_at: answer.as_ref().map(|answer| answer.at),
            reply: answer.and_then(|answer| recorded(answer.reply)),
            attempts: round.attempts,
            asked_at: round.asked_at,
        }
    }
}

/// What a model was asked, as a journal keeps it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRequest {
    /// So many messages of the request before it come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    #[serde(default)]
    pub messages: Vec<ModelMessage>,
    /// The same as before where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolSpec>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<ModelOptions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
    /// What cannot be shown any more, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What an older version wrote may be of another shape: then it is not shown.
fn recorded<T: DeserializeOwned>(json: Json) -> Option<T> {
    serde_json::from_value(json).ok()
}

/// Code of a turn, and what it did.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CodeView {
    pub run: String,
    pub round: u32,
    pub code: String,
    /// The report of the run; none while it runs.
    pub report: Option<RunReport>,
    pub calls: Vec<CallView>,
}

/// How what each turn was asked begins.
async fn said(
    service: &Service,
    turns: &[Turn],
) -> Result<HashMap<JournalId, String>, ServiceError> {
    let ids: Vec<JournalId> = turns.iter().map(|turn| turn.start.id).collect();
    let rows = service.store().log().asked(&ids).await?;
    let brief = |row: LogRow| {
        let texts = row.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.trim()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join(" ");
        Some((row.turn?, text.chars().take(SHOWN).collect()))
    };
    Ok(rows.into_iter().filter_map(brief).collect())
}
