//! Taking a session out of the store. What was erased stays erased; keys, configuration and what
//! only the operator reads of failures are never looked at.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callgate_contract::{Caller, Grant, JournalId, Principal, Role, SessionKey, Surface};
use callgate_gate::Gate;
use callgate_store::{NewPersona, Store, Turn, WrittenRow};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::{
    CapsuleError, VERSION, files,
    format::{
        CallRecord, Capsule, ConversationRecord, Header, Limits, LogRecord, MethodRecord,
        RunRecord, TurnRecord,
    },
};
use crate::{AgentSettings, host, turn::TurnPlan};

/// What a capsule says of the place it comes from.
pub struct About {
    /// The version of callgate.
    pub callgate: String,
    /// What code finds besides the standard library, as `name version`.
    pub packages: Vec<String>,
    pub settings: AgentSettings,
}

/// The whole session, or one turn with the agents it called.
pub async fn export(
    store: &Store,
    gate: &Gate,
    session: &SessionKey,
    turn: Option<JournalId>,
    about: About,
) -> Result<Capsule, CapsuleError> {
    let turns = match turn {
        Some(turn) => family(store, session, turn).await?,
        None => store.turns().list(session, u32::MAX).await?,
    };
    let mut log = store.capsules().log(session).await?;
    let runs = match turn {
        Some(_) => Vec::new(),
        None => alone(store, session).await?,
    };
    if log.is_empty() && turns.is_empty() && runs.is_empty() {
        return Err(CapsuleError::Nothing(session.clone()));
    }
    if turn.is_some() {
        let mark = turns.iter().map(|turn| TurnPlan::of(&turn.start).mark);
        let mark = mark.min().unwrap_or_default();
        let ended = turns
            .iter()
            .map(|turn| turn.finish.as_ref().map(|finish| finish.at));
        let ended = ended.max().flatten().unwrap_or(Timestamp::MAX);
        let ours = |id: Option<JournalId>| turns.iter().any(|turn| id == Some(turn.start.id));
        log.retain(|WrittenRow { row, journal }| {
            let meanwhile = row.id > mark && row.at <= ended;
            meanwhile || ours(row.turn) || ours(*journal)
        });
    }
    let mut records = Vec::with_capacity(turns.len());
    for turn in turns {
        records.push(taken(store, turn).await?);
    }
    let conversations = match turn {
        Some(_) => Vec::new(),
        None => conversations(store, session).await?,
    };
    let settings = about.settings;
    Ok(Capsule {
        header: Header {
            version: VERSION,
            callgate: about.callgate,
            packages: about.packages,
            session: session.clone(),
            exported_at: Timestamp::now(),
            turn,
            settings: Limits {
                rounds: settings.rounds,
                error_retries: settings.error_retries,
                observation: settings.observation,
            },
        },
        personas: personas(store, &records).await?,
        methods: methods(gate, session, &records, &runs),
        conversations,
        log: log.into_iter().map(LogRecord::from).collect(),
        turns: records,
        runs,
        files: files::take(store, session).await?,
    })
}

/// A turn and those of the agents it called, oldest first.
async fn family(
    store: &Store,
    session: &SessionKey,
    turn: JournalId,
) -> Result<Vec<Turn>, CapsuleError> {
    let mut family = vec![store.turns().get(turn).await?];
    if family.iter().any(|turn| turn.start.session != *session) {
        let session = session.clone();
        return Err(CapsuleError::OtherSession { turn, session });
    }
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        let children = store.turns().children(parent.start.id).await?;
        family.extend(children);
        next += 1;
    }
    Ok(family)
}

async fn taken(store: &Store, turn: Turn) -> Result<TurnRecord, CapsuleError> {
    let mut record = TurnRecord::of(turn);
    let rounds = crate::asked::rounds(store, record.id).await?;
    record.rounds = rounds.into_iter().map(Into::into).collect();
    record.calls = calls(store, record.id).await?;
    record.altered = store.turns().altered(record.id).await?;
    for run in store.turns().runs(record.id).await? {
        let calls = store.journal().recorded(run.start.id).await?;
        record.runs.extend(RunRecord::of(run, calls));
    }
    if let Some(conversation) = record.conversation {
        let added = store.capsules().added(conversation, record.id).await?;
        record.messages = added.into_iter().map(|row| row.message).collect();
    }
    Ok(record)
}

async fn calls(store: &Store, journal: JournalId) -> Result<Vec<CallRecord>, CapsuleError> {
    let calls = store.journal().recorded(journal).await?;
    Ok(calls.into_iter().map(CallRecord::from).collect())
}

async fn alone(store: &Store, session: &SessionKey) -> Result<Vec<RunRecord>, CapsuleError> {
    let mut records = Vec::new();
    for run in store.journal().alone(session).await? {
        let calls = store.journal().recorded(run.start.id).await?;
        records.extend(RunRecord::of(run, calls));
    }
    Ok(records)
}

async fn conversations(
    store: &Store,
    session: &SessionKey,
) -> Result<Vec<ConversationRecord>, CapsuleError> {
    let mut records = Vec::new();
    for conversation in store.conversations().list(Some(session), None).await? {
        let history = store.conversations().history(conversation.id).await?;
        records.push(ConversationRecord {
            id: conversation.id,
            title: conversation.title,
            persona: conversation.persona,
            created_at: conversation.created_at,
            messages: history.into_iter().map(|row| row.message).collect(),
        });
    }
    Ok(records)
}

/// Those that answered; one deleted since is not there to take.
async fn personas(store: &Store, turns: &[TurnRecord]) -> Result<Vec<NewPersona>, CapsuleError> {
    let names = turns.iter().filter_map(|turn| turn.persona.as_deref());
    let names: BTreeSet<&str> = names.collect();
    let mut all = store.personas().list().await?;
    all.retain(|persona| names.contains(persona.name.as_str()));
    Ok(all.into_iter().map(NewPersona::from).collect())
}

/// What the session's code and models may use now, and what they have used.
fn methods(
    gate: &Gate,
    session: &SessionKey,
    turns: &[TurnRecord],
    runs: &[RunRecord],
) -> Vec<MethodRecord> {
    let mut found = BTreeMap::new();
    for surface in [Surface::Code, Surface::ToolCall] {
        let caller = Caller {
            session: session.clone(),
            principal: Principal::System,
            role: Role::Member,
            surface,
            journal: JournalId::NONE,
            depth: 0,
            grant: Arc::new(Grant::everything()),
        };
        for method in gate.catalogue(&caller) {
            let record = MethodRecord::of(method.as_ref());
            found.insert(format!("{}/{}", record.origin, record.name), record);
        }
    }
    let of_turns = turns.iter().flat_map(|turn| &turn.runs).chain(runs);
    let of_runs = of_turns.clone().flat_map(|run| &run.calls);
    for call in turns.iter().flat_map(|turn| &turn.calls).chain(of_runs) {
        // What was no method has no origin.
        let Some((origin, name)) = call.method.rsplit_once('/') else {
            continue;
        };
        // Nobody but that loop could call it.
        if host::is_loop(origin) {
            continue;
        }
        found.entry(call.method.clone()).or_insert_with(|| {
            let known = gate.find(&call.method);
            known.map_or_else(
                || MethodRecord {
                    parameters: told_parameters(of_turns.clone(), name),
                    ..MethodRecord::guessed(origin, name, call.kind, call.effect)
                },
                |method| MethodRecord::of(method.as_ref()),
            )
        });
    }
    found.into_values().collect()
}

/// Of a method that is no longer there: what reports of runs call the arguments of its calls.
fn told_parameters<'a>(runs: impl Iterator<Item = &'a RunRecord>, name: &str) -> Json {
    let mut properties = Map::new();
    let reports = runs.filter_map(|run| run.finish.as_ref()?.report["calls"].as_array());
    for call in reports.flatten().filter(|call| call["method"] == name) {
        let named = call["arguments"].as_object().into_iter().flatten();
        // By position where not even then a name was known.
        let named = named.filter(|(name, _)| name.parse::<usize>().is_err());
        properties.extend(named.map(|(name, _)| (name.clone(), json!({}))));
    }
    json!({"type": "object", "properties": properties})
}
