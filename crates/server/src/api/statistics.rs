//! How methods fare, from what the journal has of them, and who may call them.

use std::collections::BTreeMap;

use axum::{Json as Body, extract::State};
use callgate_contract::{MethodInfo, SessionKey};
use callgate_store::{PastCall, Persona};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api, Outcome,
    list::List,
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/statistics",
            "How methods fared in the newest 10000 recorded calls, the most called first",
            all,
        )
        .gives::<List<Fared>>();
}

/// Of one method, the newest calls that are looked at.
const SAMPLED: u32 = 1_000;
/// Of all methods together.
const LATEST: u32 = 10_000;
/// Counted no further.
const COUNTED: u32 = 100_000;
const LAST: usize = 20;

/// Of one method, over its newest 1000 recorded calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Statistics {
    /// On record, counted up to 100000.
    calls: u64,
    /// How many of them the other numbers are of.
    sampled: u64,
    errors: u64,
    /// Between 0 and 1.
    error_rate: f64,
    p50_micros: Option<u64>,
    p99_micros: Option<u64>,
    /// The newest first.
    last: Vec<LastCall>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LastCall {
    /// The run or turn that made it.
    journal: String,
    sequence: u64,
    turn: Option<String>,
    /// When that run or turn began.
    #[schemars(with = "Option<String>")]
    at: Option<Timestamp>,
    session: Option<SessionKey>,
    user: Option<String>,
    /// Who was answering in that turn.
    persona: Option<String>,
    error: Option<String>,
    /// None where nobody knows how it ended.
    micros: Option<u64>,
}

/// Of one method among the latest calls of all.
#[derive(Debug, Serialize, JsonSchema)]
struct Fared {
    /// `origin/name`.
    method: String,
    calls: u64,
    errors: u64,
    p50_micros: Option<u64>,
    p99_micros: Option<u64>,
    /// When the run or turn of the last call began.
    #[schemars(with = "Option<String>")]
    last_at: Option<Timestamp>,
}

/// Who may call a method, beyond its exposure.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Callers {
    /// The operator is asked before each call.
    asks_approval: bool,
    /// Remote callers may, by the operator's setting.
    remote_by_setting: bool,
    /// Personas that hold it, the built-in one among them.
    personas: Vec<String>,
    /// Sessions in which its plugin is switched off.
    disabled_in: Vec<SessionKey>,
}

pub(super) async fn of(api: &Api, info: &MethodInfo) -> Result<Statistics, Problem> {
    let name = format!("{}/{}", info.origin, info.name);
    let journal = api.store().journal();
    let calls = journal.calls_of(&name, SAMPLED).await?;
    let tally = Tally::of(&calls);
    Ok(Statistics {
        calls: journal.count_of(&name, COUNTED).await?,
        sampled: calls.len() as u64,
        errors: tally.errors,
        error_rate: tally.rate(),
        p50_micros: tally.quantile(0.50),
        p99_micros: tally.quantile(0.99),
        last: calls.into_iter().take(LAST).map(LastCall::from).collect(),
    })
}

pub(super) async fn callers(api: &Api, info: &MethodInfo) -> Result<Callers, Problem> {
    let full = format!("{}/{}", info.origin, info.name);
    let mut personas = vec![Persona::built_in()];
    personas.extend(api.store().personas().list().await?);
    let holds = |persona: &Persona| {
        let names = persona.methods.as_ref();
        names.is_none_or(|names| names.iter().any(|name| *name == info.name || *name == full))
    };
    let plugin = match &info.origin {
        callgate_contract::Origin::Plugin(plugin) => Some(plugin.clone()),
        _ => None,
    };
    let disabled_in = match plugin {
        None => Vec::new(),
        Some(id) => {
            let plugins = api.service().plugin_views(None).await.into_iter();
            let mut own = plugins.filter(|plugin| plugin.id == id);
            own.next()
                .map(|plugin| plugin.disabled_in)
                .unwrap_or_default()
        }
    };
    Ok(Callers {
        asks_approval: api.gate().asks_for(&full),
        remote_by_setting: api.gate().opens_to_remote(&full),
        personas: personas
            .into_iter()
            .filter(holds)
            .map(|it| it.name)
            .collect(),
        disabled_in,
    })
}

async fn all(State(api): State<Api>) -> Outcome<List<Fared>> {
    let calls = api.store().journal().latest_calls(LATEST).await?;
    let mut by_method: BTreeMap<String, Vec<PastCall>> = BTreeMap::new();
    for call in calls {
        by_method.entry(call.method.clone()).or_default().push(call);
    }
    let fared = |(method, calls): (String, Vec<PastCall>)| {
        let tally = Tally::of(&calls);
        Fared {
            method,
            calls: calls.len() as u64,
            errors: tally.errors,
            p50_micros: tally.quantile(0.50),
            p99_micros: tally.quantile(0.99),
            last_at: calls.first().and_then(began),
        }
    };
    let mut items: Vec<Fared> = by_method.into_iter().map(fared).collect();
    items.sort_by_key(|it| std::cmp::Reverse(it.calls));
    Ok(Body(List { items, next: None }))
}

impl From<PastCall> for LastCall {
    fn from(call: PastCall) -> Self {
        let at = began(&call);
        let (error, micros) = match call.ended {
            Some(ended) => (ended.error, Some(ended.micros)),
            None => (None, None),
        };
        LastCall {
            journal: call.journal.0.to_string(),
            sequence: call.sequence,
            turn: call.turn.map(|id| id.0.to_string()),
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
