//! How a turn begins, anew or from its record.

use std::{sync::Arc, time::Instant};

use callgate_contract::{
    Allowed, Budget, Caller, Cancel, Grant, JournalId, Mode, Surface, TurnFacts, Usage,
};
use callgate_store::{Lease, Persona, StoreError, TurnStart};
use tracing::Instrument;

use super::{
    EarlierExecution, PendingStart, RequestContext, Turn, TurnAsk, TurnOptions, TurnPlan,
    TurnProgress, TurnReport, budget,
    plan::STEP_VERSION,
    state::{TurnRules, TurnState},
    taint::vouch_for_setting,
};
use crate::{
    Agent, TurnError, Watch, asked::rounds, delegate::both, recall::History, record::Record,
    session::LiveSession, when::Prompting,
};

/// Messages one turn may send.
const MESSAGES: u64 = 100;
/// Newer log rows among which a turn that goes on looks for those that had joined it.
const JOINED: u32 = 1_000;

impl Agent {
    /// Begins and runs a turn.
    pub async fn turn(&self, ask: TurnAsk) -> Result<TurnReport, TurnError> {
        self.loop_of(ask).await.map(|(report, _)| report)
    }

    /// The same, with what is left of it.
    pub(crate) async fn loop_of(&self, ask: TurnAsk) -> Result<(TurnReport, Turn), TurnError> {
        self.loop_under(None, ask).await
    }

    /// Begins and runs the turn that answers a session, under its lease.
    pub(crate) async fn turn_under(
        &self,
        lease: Option<&Lease>,
        ask: TurnAsk,
    ) -> Result<TurnReport, TurnError> {
        let looped = self.loop_under(lease, ask).await;
        looped.map(|(report, _)| report)
    }

    async fn loop_under(
        &self,
        lease: Option<&Lease>,
        ask: TurnAsk,
    ) -> Result<(TurnReport, Turn), TurnError> {
        let _going = self.sessions().under_way.enter();
        let parts = ask.parts.clone();
        let mut turn = self.prepare(lease, ask).await?;
        let span = turn.span();
        let report = turn.run(parts).instrument(span).await?;
        Ok((report, turn))
    }

    /// A turn that is on record and has not asked anything yet.
    pub(crate) async fn begin(&self, ask: TurnAsk) -> Result<Turn, TurnError> {
        let mut turn = self.prepare(None, ask).await?;
        turn.begin_now().await?;
        Ok(turn)
    }

    /// On record unless nothing sees the turn before it asks: then it is with its first round.
    async fn prepare(&self, lease: Option<&Lease>, ask: TurnAsk) -> Result<Turn, TurnError> {
        let returned = ask.options.returned.as_ref();
        let id = returned.map_or_else(JournalId::fresh, |asker| asker.id);
        let mark = match ask.rows.iter().max() {
            Some(newest) => *newest,
            None => {
                let newest = self.store().log().list(&ask.session, 1).await?;
                newest.last().map_or(0, |row| row.id)
            }
        };
        let companion = ask.options.companion.as_ref();
        let hands_over = companion.is_some_and(|companion| companion.delivers);
        let start = TurnStart {
            id,
            session: ask.session,
            conversation: ask.conversation,
            principal: ask.principal,
            role: ask.role,
            mode: ask.mode,
            model: self.models().choose(Some(&ask.model)).id.clone(),
            persona: ask.persona.as_ref().map(|persona| persona.name.clone()),
            allowed: match returned {
                Some(asker) => both(&asker.methods, persona_methods(ask.persona.as_ref())),
                None => allowed(ask.persona.as_ref()),
            },
            parent: ask.parent.as_ref().map(|parent| parent.turn),
            depth: ask.parent.as_ref().map_or(0, |parent| parent.depth + 1),
            unprompted: ask.options.prompting != Prompting::Addressed,
            plan: TurnPlan {
                version: STEP_VERSION,
                others: ask.speakers.others.clone(),
                own: ask.speakers.own,
                parts: ask.parts,
                mark,
                handed_over: hands_over,
                rounds: ask.options.rounds,
                returned: returned.is_some(),
                command: None,
                refusal: None,
                announcement: None,
            }
            .to_json(),
        };
        let claim = self.claim_turn(&start.session, id);
        let unbegun = PendingStart {
            lease: lease.cloned(),
            start: start.clone(),
            rows: ask.rows,
        };
        let grant = match (ask.parent, &ask.options.budget) {
            (Some(parent), _) => Some(parent.grant),
            (None, Some(budget)) => Some(Arc::new(Grant {
                methods: start.allowed.clone(),
                budget: budget.clone(),
                expires: None,
                others: ask.speakers.others.into(),
                taint: TurnPlan::of(&start).taint(),
            })),
            (None, None) => None,
        };
        let mut turn = Turn::new(
            self.clone(),
            start,
            ask.persona,
            grant,
            ask.watch,
            ask.cancel,
        );
        let brought = ask.options.history.clone().map(History::from);
        turn.context.history = brought.or(ask.history);
        turn.claim = Some(claim);
        turn.unbegun = Some(unbegun);
        turn.context.session = ask.known;
        turn.options = ask.options;
        turn.state.rules = turn.rules();
        if turn.is_seen() {
            turn.begin_now().await?;
        }
        Ok(turn)
    }

    /// Goes on with a turn that was cut off or has waited for an approval, under its session's lease.
    pub(crate) async fn go_on(
        &self,
        id: JournalId,
        live: &LiveSession,
        watch: Watch,
    ) -> Result<TurnReport, TurnError> {
        let found = self.store().turns().get(id).await?;
        if let Some(finish) = found.finish {
            return Err(TurnError::Ended {
                turn: id,
                stop: finish.stop,
            });
        }
        let lease = live.lease();
        let leases = self.store().leases();
        let adopted = match &lease {
            Some(lease) => leases.adopt_under(lease, id).await?,
            None => false,
        };
        if !adopted {
            return Err(StoreError::Elsewhere(id).into());
        }
        let key = self.store().keys().of_turn(id).await?;
        let watch = self.ending_with(key.as_deref(), &live.key, watch);
        let start = found.start;
        let session = start.session.clone();
        let claim = self.claim_turn(&session, id);
        let plan = TurnPlan::of(&start);
        if plan.version > STEP_VERSION {
            return Err(TurnError::Newer { turn: id });
        }
        let persona = match start.persona.as_deref() {
            Some(name) if name == Persona::built_in().name => Some(Persona::built_in()),
            Some(name) => match self.store().personas().get(name).await {
                Ok(persona) => Some(persona),
                // Deleted since.
                Err(StoreError::UnknownPersona(_)) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        let turns = self.store().turns();
        let rounds = rounds(self.store(), id).await?;
        let runs = turns.runs(id).await?;
        let calls = self.store().journal().recorded(id).await?;
        let mut newer = self
            .store()
            .log()
            .since(&session, plan.mark, JOINED)
            .await?;
        newer.retain(|row| row.turn == Some(id));
        let cancel = Cancel::default();
        let _running = live.runs(&cancel, &start.principal);
        let mut turn = Turn::new(self.clone(), start, persona, None, watch, cancel);
        turn.claim = Some(claim);
        turn.earlier.handed_over = plan.handed_over;
        turn.options.rounds = plan.rounds;
        turn.state.rules = turn.rules();
        turn.earlier.rounds = rounds.into();
        turn.earlier.runs = runs;
        turn.earlier.joined = newer;
        turn.earlier.altered = turns.altered(id).await?;
        turn.record = Record::new(self.gate().clone(), turn.caller.clone(), calls);
        let span = turn.span();
        turn.run(plan.parts).instrument(span).await
    }
}

/// A persona that names methods holds those; none named holds none.
pub(super) fn allowed(persona: Option<&Persona>) -> Allowed {
    both(&Allowed::All, persona_methods(persona))
}

fn persona_methods(persona: Option<&Persona>) -> Option<&[String]> {
    persona.and_then(|persona| persona.methods.as_deref())
}

impl Turn {
    /// Puts the turn on record, if it is not.
    pub(super) async fn begin_now(&mut self) -> Result<(), TurnError> {
        if let Some(unbegun) = self.unbegun.take() {
            let PendingStart { lease, start, rows } = unbegun;
            let turns = self.agent.store().turns();
            turns.begin_under(lease.as_ref(), &start, &rows).await?;
        }
        Ok(())
    }

    /// Do plugins see it between its beginning, its rounds and its end? What they are shown is on record
    /// before.
    pub(super) fn is_seen(&self) -> bool {
        self.options.companion.is_some() || self.agent.has_listeners()
    }

    pub(super) fn new(
        agent: Agent,
        start: TurnStart,
        persona: Option<Persona>,
        inherited: Option<Arc<Grant>>,
        watch: Watch,
        cancel: Cancel,
    ) -> Self {
        let model = agent.models().choose(Some(&start.model)).clone();
        let plan = TurnPlan::of(&start);
        let log_mark = plan.mark;
        // A sub-agent may use what its persona holds, paid from the budget of the turn above.
        let methods = start.allowed.clone();
        let grant = match inherited {
            Some(grant) => grant,
            None => Arc::new(Grant {
                methods,
                budget: Budget::new(agent.coder().limits.calls, MESSAGES),
                expires: None,
                taint: plan.taint(),
                others: plan.others.into(),
            }),
        };
        if start.parent.is_none() {
            vouch_for_setting(&grant.taint, &start, persona.as_ref());
            for known in &agent.settings().known_values {
                grant.taint.vouch(known);
            }
        }
        let grant = budget::in_hands_of(&start, &grant, &cancel);
        let facts = TurnFacts {
            turn: start.id,
            session: start.session.clone(),
            conversation: start.conversation,
            user: start.principal.user().into_owned(),
            principal: start.principal.clone(),
            mode: start.mode,
            model: model.id.clone(),
            depth: start.depth,
        };
        let surface = match start.mode {
            Mode::Code => Surface::Code,
            Mode::Tools => Surface::ToolCall,
        };
        let caller = Caller {
            session: start.session,
            principal: start.principal,
            role: start.role,
            surface,
            journal: start.id,
            depth: start.depth,
            grant,
        };
        Turn {
            record: Record::new(agent.gate().clone(), caller.clone(), Vec::new()),
            state: TurnState::new(TurnRules {
                turn: facts.turn,
                mode: facts.mode,
                rounds: agent.settings().rounds,
                error_retries: agent.settings().error_retries,
                last_words: None,
                returned: None,
                joins: facts.depth == 0,
            }),
            agent,
            facts,
            caller,
            persona,
            model,
            watch,
            cancel,
            earlier: EarlierExecution::default(),
            options: TurnOptions::default(),
            context: RequestContext::default(),
            progress: TurnProgress {
                usage: Usage::default(),
                looked_at: None,
                refused: false,
                failure: None,
                log_mark,
                began: Instant::now(),
            },
            claim: None,
            unbegun: None,
        }
    }

    /// By which the turn is decided, once its options are known.
    fn rules(&self) -> TurnRules {
        let returned = self.options.returned.as_ref();
        TurnRules {
            rounds: self.options.rounds.unwrap_or(self.agent.settings().rounds),
            last_words: self.options.last_words.clone(),
            joins: self.facts.depth == 0 && returned.is_none(),
            returned: returned.map(|asker| asker.tools.clone()),
            ..self.state.rules.clone()
        }
    }
}
