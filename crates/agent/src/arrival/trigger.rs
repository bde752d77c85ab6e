//! [`TurnTrigger`]: why a turn begins, and its beginning: under the session's lease it takes every message
//! that waits, and persona, mode and model are chosen.

use callgate_contract::{
    Cancel, ConversationId, Mode, Part, Principal, Provenance, Role, SessionKey,
};
use callgate_store::{Conversation, Lease, LogRow, Persona, Surroundings};

use super::{Arrived, Override};
use crate::{
    Agent, TurnAsk, TurnError, Watch,
    compact::Asker,
    session::LiveSession,
    turn::{SessionContext, Speakers, TurnOptions, own_words, words_of},
    when::Prompting,
};

/// Why a turn begins.
pub(crate) struct TurnTrigger {
    session: SessionKey,
    principal: Principal,
    role: Role,
    /// Who else has spoken in what it answers.
    others: Vec<Principal>,
    /// There is no turn unless this row waits still.
    waits: Option<i64>,
    /// A row that nobody else can take, and that is answered as well.
    pub(crate) reserved: Option<LogRow>,
    /// In place of what the rows say.
    pub(crate) prompt: Option<Vec<Part>>,
    /// In place of the session's current one.
    pub(crate) conversation: Option<ConversationId>,
    /// Without persona and history, and kept in no conversation.
    pub(crate) apart: bool,
    pub(crate) overrule: Override,
    pub(crate) watch: Watch,
    pub(crate) cancel: Cancel,
    pub(crate) options: TurnOptions,
}

impl TurnTrigger {
    pub(crate) fn new(session: SessionKey, principal: Principal, role: Role) -> Self {
        TurnTrigger {
            session,
            principal,
            role,
            others: Vec::new(),
            waits: None,
            reserved: None,
            prompt: None,
            conversation: None,
            apart: false,
            overrule: Override::default(),
            watch: Watch::default(),
            cancel: Cancel::default(),
            options: TurnOptions::default(),
        }
    }

    pub(crate) fn session(&self) -> &SessionKey {
        &self.session
    }
}

impl Agent {
    /// Answers a stored message and all that wait with it.
    pub(crate) async fn answer(
        &self,
        row: &LogRow,
        role: Role,
        prompting: Prompting,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let mut trigger = TurnTrigger::new(row.session.clone(), row.principal(), role);
        trigger.waits = Some(row.id);
        trigger.watch = watch;
        trigger.options.prompting = prompting;
        self.answer_on(trigger).await
    }

    /// Under the session's lease.
    pub(crate) async fn answer_under(
        &self,
        lease: Option<&Lease>,
        session: &LiveSession,
        mut trigger: TurnTrigger,
    ) -> Result<Arrived, TurnError> {
        let mut waiting = self.store().log().unanswered(&trigger.session).await?;
        if trigger
            .waits
            .is_some_and(|id| waiting.iter().all(|row| row.id != id))
        {
            return Ok(Arrived::Joined);
        }
        let prompting = trigger.options.prompting;
        if !self.has_room(&trigger.session, prompting).await? {
            // We have spoken since it was decided.
            let dismissed: Vec<i64> = trigger.waits.into_iter().collect();
            self.store().log().dismiss(&dismissed).await?;
            return Ok(Arrived::Heard);
        }
        let is_announcement = |row: &LogRow| row.provenance == Some(Provenance::Announcement);
        let mut own = waiting.iter().filter(|row| Some(row.id) == trigger.waits);
        if let Some(row) = own.find(|row| is_announcement(row)) {
            self.announce(row, trigger.role).await?;
            return Ok(Arrived::Command);
        }
        waiting.retain(|row| !is_announcement(row));
        if let Some(row) = &trigger.reserved {
            waiting.retain(|waiting| waiting.id != row.id);
        }
        self.narrow(&mut trigger, &waiting);
        let _running = session.runs(&trigger.cancel, &trigger.principal);
        let ask = self.ask_for(trigger, waiting).await?;
        let report = self.turn_under(lease, ask).await?;
        Ok(Arrived::Turn(report))
    }

    /// A turn acts for whoever began it. What others say is in it too, so that it may do no more than the
    /// least of them. How it is answered is what the newest message that says so asked for.
    fn narrow(&self, trigger: &mut TurnTrigger, waiting: &[LogRow]) {
        for row in waiting.iter().chain(&trigger.reserved) {
            trigger.role = trigger.role.min(self.role_at_arrival(row));
            let speaker = row.principal();
            if speaker != trigger.principal && !trigger.others.contains(&speaker) {
                trigger.others.push(speaker);
            }
        }
        let newest = || waiting.iter().chain(&trigger.reserved).rev();
        let mode = newest().find_map(|row| row.mode);
        let model = newest().find_map(|row| row.model.clone());
        let overrule = &mut trigger.overrule;
        overrule.mode = overrule.mode.or(mode);
        overrule.model = overrule.model.take().or(model);
    }

    async fn ask_for(
        &self,
        trigger: TurnTrigger,
        waiting: Vec<LogRow>,
    ) -> Result<TurnAsk, TurnError> {
        let session = trigger.session;
        let asker = Asker {
            principal: &trigger.principal,
            cancel: &trigger.cancel,
        };
        let asked = match trigger.conversation {
            Some(id) => self.store().conversations().get(id).await?,
            None => None,
        };
        let mut surroundings = Surroundings::default();
        let conversation = match (trigger.apart, asked) {
            (true, _) => None,
            (false, Some(asked)) => Some(asked),
            (false, None) => {
                let conversations = self.store().conversations();
                surroundings = conversations.surroundings(&session).await?;
                match surroundings.conversation.take() {
                    Some(current) => Some(current),
                    None => Some(self.conversation(&session).await?),
                }
            }
        };
        let (persona, history) = match &conversation {
            Some(conversation) => {
                let persona = self.store().personas().answering(conversation).await?;
                let history = self.compacted(conversation, persona.as_ref(), asker);
                let history = history.await?;
                (persona, Some(history))
            }
            None => (None, None),
        };
        let (mode, model) = self
            .chosen(&session, persona.as_ref(), trigger.overrule)
            .await?;
        let mut own = waiting.iter().rev();
        let newest = own.find(|row| row.principal() == trigger.principal);
        let nickname = newest.and_then(|row| row.sender.as_ref());
        let nickname = nickname.map(|sender| sender.name.clone());
        let mut rows: Vec<i64> = waiting.iter().map(|row| row.id).collect();
        rows.extend(trigger.reserved.as_ref().map(|row| row.id));
        let mut said = waiting;
        if trigger.prompt.is_none() {
            said.extend(trigger.reserved);
        }
        let is_own = |row: &LogRow| {
            matches!(row.provenance, None | Some(Provenance::Planned))
                && row.principal() == trigger.principal
        };
        let all_own = trigger.prompt.is_none() && said.iter().all(is_own);
        let own = (!all_own).then(|| {
            let own = said.iter().filter(|row| is_own(row));
            own.flat_map(|row| own_words(&row.parts)).collect()
        });
        let mut parts = words_of(said);
        parts.extend(trigger.prompt.unwrap_or_default());
        Ok(TurnAsk {
            session,
            principal: trigger.principal,
            role: trigger.role,
            speakers: Speakers {
                others: trigger.others,
                own,
            },
            parts,
            rows,
            conversation: conversation.map(|conversation| conversation.id),
            history,
            persona,
            mode,
            model,
            parent: None,
            options: trigger.options,
            watch: trigger.watch,
            cancel: trigger.cancel,
            known: SessionContext {
                nickname,
                surroundings,
            },
        })
    }

    /// The mode and model of the session's next turn.
    pub(crate) async fn chosen(
        &self,
        session: &SessionKey,
        persona: Option<&Persona>,
        overrule: Override,
    ) -> Result<(Mode, String), TurnError> {
        let settings = self.store().settings().session(session).await?.value;
        let mode = overrule
            .mode
            .or(settings.mode)
            .or_else(|| persona.map(|persona| persona.mode));
        let model = overrule
            .model
            .or(settings.model)
            .or_else(|| persona.and_then(|persona| persona.model.clone()));
        let model = self.models().choose(model.as_deref()).id.clone();
        Ok((mode.unwrap_or_default(), model))
    }

    /// The session's current conversation, begun if there is none.
    pub(crate) async fn conversation(
        &self,
        session: &SessionKey,
    ) -> Result<Conversation, TurnError> {
        let current = self.store().conversations().current(session).await?;
        Ok(self
            .store()
            .conversations()
            .get_or_create(session, current)
            .await?)
    }
}
