//! How methods fare, from what the journal has of them, and who may call them.

use std::collections::BTreeMap;

use callgate_contract::{JournalId, MethodInfo, Origin, SessionKey};
use callgate_store::{PastCall, Persona};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Of one method, the newest calls that are looked at.
const SAMPLED: u32 = 1_000;
/// Of all methods together.
const LATEST: u32 = 10_000;
/// Counted no further.
const COUNTED: u32 = 100_000;
const LAST: usize = 20;

/// How methods fared in the newest 10000 recorded calls, the most called first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListStatistics {}

/// Of one method among the latest calls of all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodSummary {
    /// `origin/name`.
    pub method: String,
    pub calls: u64,
    pub errors: u64,
    pub p50_micros: Option<u64>,
    pub p99_micros: Option<u64>,
    /// When the run or turn of the last call began.
    #[schemars(with = "Option<String>")]
    pub last_at: Option<Timestamp>,
}

impl Operation for ListStatistics {
    type Response = List<MethodSummary>;
    const NAME: &'static str = "statistics.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let mut by_method: BTreeMap<String, Vec<PastCall>> = BTreeMap::new();
        for call in service.store().journal().latest_calls(LATEST).await? {
            by_method.entry(call.method.clone()).or_default().push(call);
        }
        let summary = |(method, calls): (String, Vec<PastCall>)| {
            let tally = Tally::of(&calls);
            MethodSummary {
                method,
                calls: calls.len() as u64,
                errors: tally.errors,
                p50_micros: tally.quantile(0.50),
                p99_micros: tally.quantile(0.99),
                last_at: calls.first().and_then(began),
            }
        };
        let mut items: Vec<MethodSummary> = by_method.into_iter().map(summary).collect();
        items.sort_by_key(|it| std::cmp::Reverse(it.calls));
        Ok(List::whole(items))
    }
}

/// Of one method, over its newest 1000 recorded calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodStatistics {
    /// On record, counted up to 100000.
    pub calls: u64,
    /// How many of them the other numbers are of.
    pub sampled: u64,
    pub errors: u64,
    /// Between 0 and 1.
    pub error_rate: f64,
    pub p50_micros: Option<u64>,
    pub p99_micros: Option<u64>,
    /// The newest first.
    pub last: Vec<RecordedCall>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordedCall {
    /// The run or turn that made it.
    pub journal: JournalId,
    pub sequence: u64,
    pub turn: Option<JournalId>,
    /// When that run or turn began.
    #[schemars(with = "Option<String>")]
    pub at: Option<Timestamp>,
    pub session: Option<SessionKey>,
    pub user: Option<String>,
    /// Who was answering in that turn.
    pub persona: Option<String>,
    pub error: Option<String>,
    /// None where nobody knows how it ended.
    pub micros: Option<u64>,
}

/// Who may call a method, beyond its exposure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodCallers {
    /// The operator is asked before each call.
    pub asks_approval: bool,
    /// Remote callers may, by the operator's setting.
    pub remote_by_setting: bool,
    /// Personas that hold it, the built-in one among them.
    pub personas: Vec<String>,
    /// Sessions in which its plugin is switched off.
    pub disabled_in: Vec<SessionKey>,
}

impl Service {
    pub(super) async fn method_statistics(
        &self,
        info: &MethodInfo,
    ) -> Result<MethodStatistics, ServiceError> {
        let name = format!("{}/{}", info.origin, info.name);
        let journal = self.store().journal();
        let calls = journal.calls_of(&name, SAMPLED).await?;
        let tally = Tally::of(&calls);
        Ok(MethodStatistics {
            calls: journal.count_of(&name, COUNTED).await?,
            sampled: calls.len() as u64,
            errors: tally.errors,
            error_rate: tally.rate(),
            p50_micros: tally.quantile(0.50),
            p99_micros: tally.quantile(0.99),
            last: calls
                .into_iter()
                .take(LAST)
                .map(RecordedCall::from)
                .collect(),
        })
    }

    pub(super) async fn method_callers(
        &self,
        info: &MethodInfo,
    ) -> Result<MethodCallers, ServiceError> {
        let full = format!("{}/{}", info.origin, info.name);
        let mut personas = vec![Persona::built_in()];
        personas.extend(self.store().personas().list().await?);
        personas.retain(|persona| {
            let names = persona.methods.as_ref();
            names.is_none_or(|names| names.iter().any(|name| *name == info.name || *name == full))
        });
        let disabled_in = match &info.origin {
            Origin::Plugin(id) => self.plugins().disabled_in(id),
            _ => Vec::new(),
        };
        Ok(MethodCallers {
            asks_approval: self.gate().asks_for(&full),
            remote_by_setting: self.gate().opens_to_remote(&full),
            personas: personas.into_iter().map(|persona| persona.name).collect(),
            disabled_in,
        })
    }
}

impl From<PastCall> for RecordedCall {
    fn from(call: PastCall) -> Self {
        let at = began(&call);
        let (error, micros) = match call.ended {
            Some(ended) => (ended.error, Some(ended.micros)),
            None => (None, None),
        };
        RecordedCall {
            journal: call.journal,
            sequence: call.sequence,
            turn: call.turn,
            at,
            session: call.session,
            user: call.user,
            persona: call.persona,
            error,
            micros,
        }
    }
}

/// An id tells when it was made, where it was made from a clock.
fn began(call: &PastCall) -> Option<Timestamp> {
    let (seconds, nanos) = call.journal.0.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()
}

struct Tally {
    errors: u64,
    ended: u64,
    /// Ascending.
    micros: Vec<u64>,
}

impl Tally {
    fn of(calls: &[PastCall]) -> Self {
        let ended = calls.iter().filter_map(|call| call.ended.as_ref());
        let mut micros: Vec<u64> = ended.clone().map(|ended| ended.micros).collect();
        micros.sort_unstable();
        Tally {
            errors: ended.filter(|ended| ended.error.is_some()).count() as u64,
            ended: micros.len() as u64,
            micros,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "at most some thousand")]
    fn rate(&self) -> f64 {
        match self.ended {
            0 => 0.0,
            ended => self.errors as f64 / ended as f64,
        }
    }

    /// The time that this share of calls did not exceed.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most some thousand, and never negative"
    )]
    fn quantile(&self, share: f64) -> Option<u64> {
        let place = (self.micros.len() as f64 * share).ceil() as usize;
        self.micros.get(place.saturating_sub(1)).copied()
    }
}
