//! [`Replay`]: executes a capsule again, act by act, and stops at the first difference.

use std::{collections::BTreeSet, sync::Arc};

use callgate_contract::{JournalId, Limits, Models, NamedModel, Sandbox, SessionKey, TurnStop};
use callgate_gate::{Gate, GatePolicy};
use callgate_store::{LogRole, Store};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    CapsuleError,
    compare::{Difference, Found, Place, compare_run, compare_turn},
    files::{self, Shelf},
    format::{Capsule, RunRecord, TurnRecord},
    proxy::{NoModel, Nowhere, register},
    stage,
};
use crate::{Agent, AgentSettings, Coder, RunReport, Sessions, TurnError, Watch, Wiring};

/// Where a capsule is executed again. The store must be nobody else's.
pub struct Replay {
    pub store: Store,
    pub sandbox: Arc<dyn Sandbox>,
    pub limits: Limits,
    /// What code finds besides the standard library, as `name version`.
    pub packages: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Replayed {
    pub equal: bool,
    pub difference: Option<Difference>,
    /// Executed again.
    pub turns: u64,
    pub runs: u64,
    /// Answered from the record.
    pub calls: u64,
    /// What could not be executed again, and what may explain a difference.
    pub notes: Vec<String>,
}

/// What is executed again as a whole.
enum Act<'a> {
    Turn(&'a TurnRecord),
    Run(&'a RunRecord),
}

impl Act<'_> {
    fn time(&self) -> (Timestamp, Timestamp) {
        let (began, ended) = match self {
            Act::Turn(turn) => (
                turn.started_at,
                turn.finish.as_ref().map(|finish| finish.at),
            ),
            Act::Run(run) => (run.started_at, run.finish.as_ref().map(|finish| finish.at)),
        };
        (began, ended.unwrap_or(began))
    }
}

impl Replay {
    pub async fn perform(&self, capsule: &Capsule) -> Result<Replayed, CapsuleError> {
        let session = &capsule.header.session;
        self.refuse_occupied(session).await?;
        let gate = Gate::new(self.store.clone(), GatePolicy::default());
        register(&gate, &capsule.methods)?;
        let agent = self.agent(&gate, capsule);
        stage::personas(&self.store, capsule).await?;
        let opened = self.store.sessions().open(session).await?;
        let shelf = Shelf::new(self.store.files().session(&opened)?, capsule);
        let mut replayed = Replayed::default();
        replayed.notes.extend(self.foreign(capsule));
        let acts = acts(capsule, &mut replayed.notes);
        let mut going = Going {
            replay: self,
            capsule,
            agent,
            gate,
            shelf,
            done: Vec::new(),
            told: BTreeSet::new(),
        };
        for file in going.shelf.cut() {
            let note = format!("{file} was too large for the capsule: code that reads it differs");
            replayed.notes.push(note);
        }
        for act in &acts {
            replayed.difference = going.perform(act, &mut replayed).await?;
            if replayed.difference.is_some() {
                return Ok(replayed);
            }
        }
        replayed.difference = going.files();
        replayed.equal = replayed.difference.is_none();
        Ok(replayed)
    }

    async fn refuse_occupied(&self, session: &SessionKey) -> Result<(), CapsuleError> {
        match self.store.sessions().get(session).await? {
            Some(_) => Err(CapsuleError::Occupied(session.clone())),
            None => Ok(()),
        }
    }

    /// Packages that the code had and does not find here.
    fn foreign(&self, capsule: &Capsule) -> Option<String> {
        let had = capsule.header.packages.iter();
        let missing: Vec<&str> = had
            .filter(|package| !self.packages.contains(package))
            .map(String::as_str)
            .collect();
        let list = missing.join(", ");
        (!missing.is_empty()).then(|| format!("packages that are not here as they were: {list}"))
    }

    fn agent(&self, gate: &Gate, capsule: &Capsule) -> Agent {
        let model = NamedModel {
            id: "record".to_owned(),
            model: Arc::new(NoModel),
        };
        let settings = &capsule.header.settings;
        Agent::new(Wiring {
            coder: Coder {
                gate: gate.clone(),
                store: self.store.clone(),
                sandbox: self.sandbox.clone(),
                limits: self.limits.clone(),
            },
            models: Models::new(model, Vec::new(), None, None),
            settings: AgentSettings {
                rounds: settings.rounds,
                error_retries: settings.error_retries,
                observation: settings.observation,
                ..AgentSettings::default()
            },
            listeners: Vec::new(),
            outbox: Arc::new(Nowhere),
            packages: Vec::new(),
            sessions: Sessions::default(),
        })
    }
}

/// In the order in which they ended: an agent's turn before the one that asked it.
fn acts<'a>(capsule: &'a Capsule, notes: &mut Vec<String>) -> Vec<Act<'a>> {
    let mut acts = Vec::new();
    for turn in &capsule.turns {
        match &turn.finish {
            // A command, or an erased turn.
            _ if turn.rounds.is_empty() => {}
            None => notes.push(format!("turn {} has not ended: left out", turn.id.0)),
            Some(finish) if finish.report.is_null() => {
                notes.push(format!("turn {} was erased: left out", turn.id.0));
            }
            Some(_) => acts.push(Act::Turn(turn)),
        }
        if !turn.altered.is_empty() {
            let places: Vec<&str> = turn.altered.keys().map(String::as_str).collect();
            notes.push(format!(
                "turn {}: what plugins changed is taken as recorded: {}",
                turn.id.0,
                places.join(", ")
            ));
        }
        let runs = turn.runs.iter().filter(|_| turn.finish.is_some());
        for (run, why) in runs.filter_map(|run| Some((run, run.obstacle()?))) {
            notes.push(format!("run {} is taken as recorded: {why}", run.id.0));
        }
    }
    for run in &capsule.runs {
        match run.obstacle() {
            Some(why) => notes.push(format!("run {} is left out: {why}", run.id.0)),
            None => acts.push(Act::Run(run)),
        }
    }
    acts.sort_by_key(|act| act.time().1);
    acts
}

/// A replay under way.
struct Going<'a> {
    replay: &'a Replay,
    capsule: &'a Capsule,
    agent: Agent,
    gate: Gate,
    shelf: Shelf<'a>,
    /// When the acts so far were first performed.
    done: Vec<(Timestamp, Timestamp)>,
    /// Rows of the log that are there.
    told: BTreeSet<i64>,
}

impl Going<'_> {
    async fn perform(
        &mut self,
        act: &Act<'_>,
        replayed: &mut Replayed,
    ) -> Result<Option<Difference>, CapsuleError> {
        let (began, ended) = act.time();
        let done = std::mem::take(&mut self.done);
        let made = |at: Timestamp| within(&done, at);
        let named = |file: &str| match act {
            Act::Turn(turn) => files::names(turn, file),
            Act::Run(run) => run.calls.iter().any(|call| files::speaks(call, file)),
        };
        self.shelf.give(began, ended, made, named)?;
        self.done = done;
        self.done.push((began, ended));
        match act {
            Act::Turn(turn) => {
                replayed.turns += 1;
                let executed = turn.runs.iter().filter(|run| run.obstacle().is_none());
                replayed.runs += executed.count() as u64;
                let of_runs = turn.runs.iter().map(|run| run.calls.len());
                replayed.calls += (turn.calls.len() + of_runs.sum::<usize>()) as u64;
                self.turn(turn).await
            }
            Act::Run(run) => {
                replayed.runs += 1;
                replayed.calls += run.calls.len() as u64;
                self.run(run).await
            }
        }
    }

    async fn run(&mut self, run: &RunRecord) -> Result<Option<Difference>, CapsuleError> {
        let (store, session) = (&self.replay.store, &self.capsule.header.session);
        stage::run(store, session, run, None).await?;
        let report: RunReport = self.agent.coder().resume(run.id, None).await?;
        let place = Place {
            run: Some(run.id),
            ..Place::default()
        };
        Ok(compare_run(&place, run, &json!(report)))
    }

    async fn turn(&mut self, turn: &TurnRecord) -> Result<Option<Difference>, CapsuleError> {
        self.tell_log(turn).await?;
        let (store, session) = (&self.replay.store, &self.capsule.header.session);
        stage::turn(store, session, turn).await?;
        match self.agent.resume(turn.id, Watch::default()).await {
            // What is on record is resumed before anything new.
            Ok(_) | Err(TurnError::Ended { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let messages = match turn.conversation {
            Some(conversation) => {
                let added = store.capsules().added(conversation, turn.id).await?;
                added.into_iter().map(|row| row.message).collect()
            }
            None => Vec::new(),
        };
        let found = Found {
            finish: store.turns().get(turn.id).await?.finish,
            runs: store.turns().runs(turn.id).await?,
            messages,
        };
        Ok(compare_turn(&self.gate, turn, &found))
    }

    /// The log as it stood when the turn was about to end: its answer is its own to write.
    async fn tell_log(&mut self, turn: &TurnRecord) -> Result<(), CapsuleError> {
        let answer = self.answer_of(turn);
        let (_, ended) = Act::Turn(turn).time();
        let answers: BTreeSet<i64> = self
            .capsule
            .turns
            .iter()
            .filter(|turn| !turn.rounds.is_empty() && turn.finish.is_some())
            .filter_map(|turn| self.answer_of(turn))
            .collect();
        let mut rows = Vec::new();
        for record in &self.capsule.log {
            let before = match answer {
                Some(answer) => record.id < answer,
                None => record.at <= ended,
            };
            if before && !answers.contains(&record.id) && self.told.insert(record.id) {
                rows.push(record.row(&self.capsule.header.session));
            }
        }
        Ok(self.replay.store.capsules().put_log(&rows).await?)
    }

    /// The row that the turn's end wrote: the last one of its journal, if that is its answer.
    fn answer_of(&self, turn: &TurnRecord) -> Option<i64> {
        let finish = turn.finish.as_ref()?;
        let text = finish.report["text"].as_str()?;
        if text.is_empty() || turn.depth > 0 || finish.stop == TurnStop::Silent {
            return None;
        }
        let by = |id: Option<JournalId>| id == Some(turn.id);
        let mut rows = self.capsule.log.iter().rev();
        let last = rows.find(|row| row.role == LogRole::Assistant && by(row.journal))?;
        (crate::history::text_of(&last.parts) == text).then_some(last.id)
    }

    fn files(&self) -> Option<Difference> {
        let made = |at: Timestamp| within(&self.done, at);
        let (path, expected, found) = self.shelf.difference(self.capsule, made)?;
        let shown = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            json!({ "bytes": bytes.len(), "begins": text.chars().take(200).collect::<String>() })
        };
        Some(Difference {
            place: Place {
                file: Some(path),
                ..Place::default()
            },
            what: "file".to_owned(),
            expected: shown(&expected),
            found: found.map_or(json!(null), |found| shown(&found)),
        })
    }
}

fn within(times: &[(Timestamp, Timestamp)], at: Timestamp) -> bool {
    times
        .iter()
        .any(|(began, ended)| *began <= at && at <= *ended)
}
