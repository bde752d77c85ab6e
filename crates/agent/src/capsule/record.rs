//! Between what the store keeps and what a capsule holds of it.

use std::collections::BTreeMap;

use callgate_contract::{
    Allowed, Binding, Effect, Exposure, JournalId, Kind, Method, MethodInfo, Origin, Principal,
    SessionKey, Trust,
};
use callgate_store::{
    Answer, CallIntent, CallOutcome, LogRow, RecordedCall, Round, Run, RunStart, Success, Tail,
    Turn, TurnStart, WrittenRow,
};
use serde_json::json;

use super::format::{
    AnswerRecord, Bytes, CallRecord, Finished, LogRecord, MethodRecord, OutcomeRecord, RoundRecord,
    RunRecord, TurnRecord,
};

impl MethodRecord {
    pub(super) fn of(method: &dyn Method) -> Self {
        let info = method.info().clone();
        MethodRecord {
            name: info.name,
            origin: info.origin.to_string(),
            aliases: info.aliases,
            title: info.title,
            description: info.description,
            doc: info.doc,
            parameters: info.parameters,
            returns: info.returns,
            kind: info.kind,
            effect: info.effect,
            exposure: info.exposure,
            binding: info.binding,
        }
    }

    /// Of one that is no longer there: what its calls tell.
    pub(super) fn guessed(origin: &str, name: &str, kind: Kind, effect: Effect) -> Self {
        MethodRecord {
            name: name.to_owned(),
            origin: origin.to_owned(),
            aliases: Vec::new(),
            title: name.to_owned(),
            description: String::new(),
            doc: String::new(),
            parameters: json!({"type": "object", "properties": {}}),
            returns: String::new(),
            kind,
            effect,
            exposure: Exposure::AI,
            binding: Binding::Loose,
        }
    }

    pub(super) fn info(&self) -> Option<MethodInfo> {
        Some(MethodInfo {
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            doc: self.doc.clone(),
            parameters: self.parameters.clone(),
            returns: self.returns.clone(),
            kind: self.kind,
            origin: origin(&self.origin)?,
            exposure: self.exposure,
            effect: self.effect,
            deadline: std::time::Duration::from_secs(10),
            binding: self.binding,
            leaf: false,
            trust: Trust::default(),
        })
    }
}

fn origin(text: &str) -> Option<Origin> {
    match text.split_once(':') {
        None if text == "builtin" => Some(Origin::Builtin),
        Some(("plugin", id)) => Some(Origin::Plugin(id.to_owned())),
        Some(("mcp", id)) => Some(Origin::Mcp(id.to_owned())),
        Some(("agent", id)) => Some(Origin::Agent(id.to_owned())),
        Some(("platform", id)) => Some(Origin::Platform(id.to_owned())),
        Some(("client", id)) => Some(Origin::Client(id.to_owned())),
        _ => None,
    }
}

impl From<WrittenRow> for LogRecord {
    fn from(WrittenRow { row, journal }: WrittenRow) -> Self {
        LogRecord {
            id: row.id,
            role: row.role,
            sender: row.sender,
            parts: row.parts,
            at: row.at,
            message_id: row.message_id,
            hidden: row.hidden,
            mentioned: row.mentioned,
            turn: row.turn,
            unfinished: row.unfinished,
            provenance: row.provenance,
            journal,
        }
    }
}

impl LogRecord {
    pub(super) fn row(&self, session: &SessionKey) -> WrittenRow {
        WrittenRow {
            row: LogRow {
                id: self.id,
                session: session.clone(),
                role: self.role,
                sender: self.sender.clone(),
                sender_role: None,
                sender_principal: None,
                mode: None,
                model: None,
                parts: self.parts.clone(),
                at: self.at,
                message_id: self.message_id.clone(),
                hidden: self.hidden,
                mentioned: self.mentioned,
                turn: self.turn,
                unfinished: self.unfinished,
                provenance: self.provenance.clone(),
            },
            journal: self.journal,
        }
    }
}

fn names(allowed: Allowed) -> Option<Vec<String>> {
    match allowed {
        Allowed::All => None,
        Allowed::Only(names) => Some(names),
    }
}

fn allowed(names: &Option<Vec<String>>) -> Allowed {
    names.clone().map_or(Allowed::All, Allowed::Only)
}

impl TurnRecord {
    /// What belongs to it is filled in later.
    pub(super) fn of(turn: Turn) -> Self {
        let start = turn.start;
        TurnRecord {
            id: start.id,
            conversation: start.conversation,
            user: start.principal.user().into_owned(),
            role: start.role,
            mode: start.mode,
            model: start.model,
            persona: start.persona,
            methods: names(start.allowed),
            parent: start.parent,
            depth: start.depth,
            plan: start.plan,
            started_at: turn.started_at,
            finish: turn.finish.map(|finish| Finished {
                stop: finish.stop,
                report: finish.report,
                at: finish.at,
            }),
            rounds: Vec::new(),
            calls: Vec::new(),
            runs: Vec::new(),
            messages: Vec::new(),
            altered: BTreeMap::new(),
        }
    }

    pub(super) fn start(&self, session: &SessionKey) -> TurnStart {
        TurnStart {
            id: self.id,
            session: session.clone(),
            conversation: self.conversation,
            principal: Principal::person(session, self.user.as_str()),
            role: self.role,
            mode: self.mode,
            model: self.model.clone(),
            persona: self.persona.clone(),
            allowed: allowed(&self.methods),
            parent: self.parent,
            depth: self.depth,
            unprompted: false,
            plan: self.plan.clone(),
        }
    }
}

impl From<Round> for RoundRecord {
    fn from(round: Round) -> Self {
        RoundRecord {
            number: round.number,
            request: round.request,
            asked_at: round.asked_at,
            attempts: round.attempts,
            answer: round.answer.map(|answer| AnswerRecord {
                reply: answer.reply,
                usage: answer.usage,
                at: answer.at,
            }),
        }
    }
}

impl RoundRecord {
    pub(super) fn round(&self) -> Round {
        Round {
            number: self.number,
            request: self.request.clone(),
            asked_at: self.asked_at,
            attempts: self.attempts,
            answer: self.answer.as_ref().map(|answer| Answer {
                reply: answer.reply.clone(),
                usage: answer.usage,
                money: None,
                at: answer.at,
            }),
        }
    }
}

impl RunRecord {
    /// `None` of a run whose code was erased.
    pub(super) fn of(run: Run, calls: Vec<RecordedCall>) -> Option<Self> {
        let start = run.start;
        Some(RunRecord {
            id: start.id,
            user: start.principal.user().into_owned(),
            role: start.role,
            surface: start.surface,
            code: start.code?,
            methods: names(start.allowed),
            seed: Bytes(start.seed.to_vec()),
            round: start.turn.map(|(_, round)| round),
            started_at: run.started_at,
            finish: run.finish.map(|finish| Finished {
                stop: finish.stop,
                report: finish.report,
                at: finish.at,
            }),
            clocks: run.tail.clocks,
            threaded: run.tail.threaded,
            calls: calls.into_iter().map(CallRecord::from).collect(),
        })
    }

    /// `None` if the seed is none.
    pub(super) fn start(
        &self,
        session: &SessionKey,
        turn: Option<JournalId>,
    ) -> Option<(RunStart, Tail)> {
        let start = RunStart {
            id: self.id,
            session: session.clone(),
            principal: Principal::person(session, self.user.as_str()),
            role: self.role,
            surface: self.surface,
            code: Some(self.code.clone()),
            allowed: allowed(&self.methods),
            seed: self.seed.0.clone().try_into().ok()?,
            turn: turn.zip(self.round),
        };
        let tail = Tail {
            clocks: self.clocks.clone(),
            threaded: self.threaded,
        };
        Some((start, tail))
    }
}

impl From<RecordedCall> for CallRecord {
    fn from(call: RecordedCall) -> Self {
        let RecordedCall { intent, outcome } = call;
        CallRecord {
            sequence: intent.sequence,
            method: intent.method,
            kind: intent.kind,
            effect: intent.effect,
            arguments: Bytes(intent.arguments),
            clocks: intent.clocks,
            threaded: intent.threaded,
            outcome: outcome.map(OutcomeRecord::from),
        }
    }
}

impl From<CallOutcome> for OutcomeRecord {
    fn from(outcome: CallOutcome) -> Self {
        let (error, success) = match outcome.result {
            Ok(success) => (None, Some(success)),
            Err(error) => (Some(error), None),
        };
        let (value, text, parts) = match success {
            Some(success) => (Some(Bytes(success.value)), success.text, success.parts),
            None => (None, None, Vec::new()),
        };
        OutcomeRecord {
            micros: outcome.micros,
            error,
            value,
            text,
            parts,
        }
    }
}

impl CallRecord {
    pub(super) fn call(&self, journal: JournalId) -> RecordedCall {
        RecordedCall {
            intent: CallIntent {
                journal,
                sequence: self.sequence,
                method: self.method.clone(),
                kind: self.kind,
                effect: self.effect,
                arguments: self.arguments.0.clone(),
                clocks: self.clocks.clone(),
                threaded: self.threaded,
                decided_by: None,
            },
            outcome: self.outcome.as_ref().map(|outcome| CallOutcome {
                result: match &outcome.error {
                    Some(error) => Err(error.clone()),
                    None => Ok(Success {
                        value: outcome.value.clone().unwrap_or_default().0,
                        text: outcome.text.clone(),
                        parts: outcome.parts.clone(),
                    }),
                },
                detail: None,
                micros: outcome.micros,
            }),
        }
    }
}
