//! What the first round is asked: persona and methods first (the same from turn to turn, so that
//! providers can cache them), then the history, then the moment.

use callgate_contract::{Caller, MethodInfo, Mode, ModelMessage, Part, Provenance};
use callgate_store::{LogRow, Note as StoredNote};

use super::{
    Turn,
    altered::SAID,
    event::Event,
    spoken::{images, show},
};
use crate::{
    TurnError,
    asked::Past,
    prompt::{Note, Person, PromptContext, Runtime, runtime, system_prompt},
};

/// Newest rows of the log that code mode may be shown.
const ROWS: u32 = 200;
/// Newest rows among which the user's own tell their name.
const NEWEST: u32 = 4;

impl Turn {
    pub(crate) async fn begin_request(&mut self, parts: Vec<Part>) -> Result<Event, TurnError> {
        let said = self.build_request(parts).await?;
        Ok(Event::Prepared {
            request: std::mem::take(&mut self.state.request),
            said,
            stopped: self.options.stopped,
        })
    }

    /// Into the turn's own request; gives what the conversation keeps of what was said.
    async fn build_request(&mut self, parts: Vec<Part>) -> Result<Option<Vec<Part>>, TurnError> {
        if let Some(recorded) = self.recorded_request() {
            self.note_recorded().await?;
            self.state.request.messages = recorded.into();
            return Ok(Some(self.altered(SAID).unwrap_or(parts)));
        }
        self.address_user().await?;
        if let Some(asker) = &mut self.options.returned {
            self.state.request.options = std::mem::take(&mut asker.options);
        }
        if self.options.bare {
            self.begin_bare().await?;
            return Ok(None);
        }
        let shows_chat = self.shows_chat();
        let rows = if shows_chat {
            self.own(self.rows(ROWS).await?).await?
        } else if self.context.session.nickname.is_some() {
            Vec::new()
        } else {
            self.rows(NEWEST).await?
        };
        self.note_context(&rows);
        let ours = self.system_prompt();
        let system = match &self.options.system {
            Some(given) => format!("{given}\n\n{ours}"),
            None => ours,
        };
        self.state
            .request
            .messages
            .push(ModelMessage::system(system));
        self.push_dialogs();
        let moment = self.moment(&rows).await?;
        if shows_chat {
            let mut shown = vec![Part::text(show(&rows))];
            shown.extend(images(&rows));
            shown.push(Part::text(moment));
            self.state
                .request
                .messages
                .push(ModelMessage::User { parts: shown });
        } else {
            self.push_history().await?;
            let mut asked = parts.clone();
            asked.push(Part::text(moment));
            self.state
                .request
                .messages
                .push(ModelMessage::User { parts: asked });
        }
        let kept = self.show_request(parts.clone()).await;
        if kept != parts {
            self.alter(SAID, &kept).await?;
        }
        Ok(Some(kept))
    }

    /// With the history alone, after a persona's own words where there is one.
    async fn begin_bare(&mut self) -> Result<(), TurnError> {
        let history = self.context.history.take().unwrap_or_default().messages;
        self.note_context(&[]);
        self.note_brought(&history);
        if self.persona.is_none() {
            self.state.request.messages = history;
            return Ok(());
        }
        let system = self.system_prompt();
        self.state
            .request
            .messages
            .push(ModelMessage::system(system));
        self.push_dialogs();
        self.state.request.messages.extend(history.iter().cloned());
        let moment = self.moment(&[]).await?;
        if let Some(ModelMessage::User { parts }) = self.state.request.messages.last_mut() {
            parts.push(Part::text(moment));
        }
        Ok(())
    }

    /// An agent called as a method sees its task and nothing of the chat.
    pub(crate) fn shows_chat(&self) -> bool {
        self.facts.mode == Mode::Code && self.facts.depth == 0
    }

    /// Of a turn that goes on: exactly what its first round was asked, up to the first reply.
    fn recorded_request(&self) -> Option<Vec<ModelMessage>> {
        let first = self.earlier.rounds.front()?;
        let messages = first.request.as_ref()?.get("messages")?.clone();
        serde_json::from_value(messages).ok()
    }

    /// What it held is as questionable as it was, or more: nobody has kept whose words it was made of.
    async fn note_recorded(&self) -> Result<(), TurnError> {
        let rows = if self.shows_chat() {
            self.rows(ROWS).await?
        } else {
            Vec::new()
        };
        self.note_context(&rows);
        if self.agent.has_listeners() {
            self.note_plugins();
        }
        Ok(())
    }

    pub(crate) fn system_prompt(&self) -> String {
        self.system_prompt_of(&self.round_caller())
    }

    /// With the methods that `caller` has.
    pub(crate) fn system_prompt_of(&self, caller: &Caller) -> String {
        let methods = self.agent.gate().catalogue(caller);
        let persona = self.persona.as_ref();
        let persona = persona.map_or_else(String::new, |persona| persona.system_prompt.clone());
        let prompts = &self.agent.rendered().prompts;
        prompts.get(&methods, (self.facts.mode, persona), |(mode, persona)| {
            let infos: Vec<&MethodInfo> = methods.iter().map(|method| method.info()).collect();
            let packages: Vec<&str> = self.agent.packages().iter().map(String::as_str).collect();
            system_prompt(&PromptContext {
                mode: *mode,
                persona,
                methods: &infos,
                packages: &packages,
            })
        })
    }

    fn push_dialogs(&mut self) {
        let persona = self.persona.as_ref();
        let dialogs = persona.and_then(|persona| persona.begin_dialogs.clone());
        let dialogs = dialogs.unwrap_or_default();
        // Compat(astrbot): a plugin may store a line without its answer; then none is used.
        if !dialogs.len().is_multiple_of(2) {
            let persona = persona.map(|persona| &persona.name);
            tracing::warn!(?persona, "ignored an odd number of opening lines");
            return;
        }
        for (place, text) in dialogs.into_iter().enumerate() {
            self.state.request.messages.push(match place % 2 {
                0 => ModelMessage::user(text),
                _ => ModelMessage::assistant(text),
            });
        }
    }

    async fn push_history(&mut self) -> Result<(), TurnError> {
        let history = match (self.context.history.take(), self.facts.conversation) {
            (Some(history), _) => history,
            (None, None) => return Ok(()),
            (None, Some(id)) => match self.agent.store().conversations().get(id).await? {
                Some(conversation) => self.agent.history(&conversation).await?,
                None => return Ok(()),
            },
        };
        self.context.past = history.lies.map(|(conversation, extent)| Past {
            conversation,
            extent,
            at: self.state.request.messages.len(),
            count: history.messages.len(),
        });
        let history = history.messages.iter().cloned();
        self.state.request.messages.extend(history);
        Ok(())
    }

    async fn rows(&self, newest: u32) -> Result<Vec<LogRow>, TurnError> {
        let log = self.agent.store().log();
        let mut rows = log.list(&self.facts.session, newest).await?;
        rows.retain(|row| !row.hidden);
        Ok(rows)
    }

    /// What other conversations of the session were asked and answered stays theirs. A copy of a
    /// conversation has the turns it was copied with.
    async fn own(&self, mut rows: Vec<LogRow>) -> Result<Vec<LogRow>, TurnError> {
        let Some(conversation) = self.facts.conversation else {
            return Ok(rows);
        };
        if !self.context.session.surroundings.others {
            return Ok(rows);
        }
        let store = self.agent.store();
        let (turns, session) = (store.turns(), &self.facts.session);
        let mut elsewhere = turns.elsewhere(session, conversation, ROWS).await?;
        if elsewhere.is_empty() {
            return Ok(rows);
        }
        let history = store.conversations().history(conversation).await?;
        elsewhere.retain(|turn| !history.iter().any(|row| row.turn == Some(*turn)));
        // What this turn answers is its own, also while that is not on record.
        let answered = self.unbegun.as_ref().map_or(&[][..], |turn| &turn.rows);
        // What was said to people has no turn of its own: it follows what it answers.
        let mut theirs = false;
        rows.retain(|row| {
            if answered.contains(&row.id) {
                theirs = false;
            } else if let Some(turn) = row.turn {
                theirs = elsewhere.contains(&turn);
            }
            !theirs
        });
        Ok(rows)
    }

    async fn moment(&self, rows: &[LogRow]) -> Result<String, TurnError> {
        let notes: Vec<StoredNote> = if self.context.session.surroundings.notes {
            self.agent.store().notes().list(&self.facts.session).await?
        } else {
            Vec::new()
        };
        if !notes.is_empty() {
            self.note_notes();
        }
        let shown: Vec<Note> = notes
            .iter()
            .map(|note| Note {
                name: &note.name,
                text: &note.text,
            })
            .collect();
        let own = |row: &&LogRow| row.principal() == self.caller.principal;
        let own = rows.iter().rev().filter(own);
        let mut sender = own.filter_map(|row| row.sender.as_ref());
        Ok(runtime(&Runtime {
            now: &jiff::Zoned::now(),
            session: &self.facts.session,
            user: Person {
                id: &self.facts.user,
                nickname: match (&self.context.session.nickname, sender.next()) {
                    (Some(nickname), _) => nickname,
                    (None, sender) => sender.map_or("", |sender| &sender.name),
                },
            },
            notes: &shown,
            unread: 0,
        }))
    }

    /// Messages that came in while the turn was busy join its next round.
    pub(super) async fn join_new_messages(&mut self) -> Result<Event, TurnError> {
        let mut joining = self.rejoining();
        let arrivals = self.agent.store().log().arrivals(&self.facts.session);
        let nothing_new = arrivals.is_some() && arrivals == self.progress.looked_at;
        if !self.has_recorded_reply() && !nothing_new {
            self.progress.looked_at = arrivals;
            joining.extend(self.take_waiting().await?);
        }
        self.note_joined(&joining);
        Ok(Event::Joined((!joining.is_empty()).then(|| show(&joining))))
    }

    /// Of the messages that joined an execution cut off since, those that this round was asked
    /// with; all that are left where the round has no reply yet.
    fn rejoining(&mut self) -> Vec<LogRow> {
        let asked_at = match self.earlier.rounds.front() {
            Some(round) if self.has_recorded_reply() => Some(round.asked_at),
            _ => None,
        };
        let later = |row: &LogRow| asked_at.is_some_and(|asked_at| row.at > asked_at);
        let upto = self.earlier.joined.iter().position(later);
        let rest = self
            .earlier
            .joined
            .split_off(upto.unwrap_or(self.earlier.joined.len()));
        std::mem::replace(&mut self.earlier.joined, rest)
    }

    async fn take_waiting(&self) -> Result<Vec<LogRow>, TurnError> {
        let log = self.agent.store().log();
        let mut waiting = log.unanswered(&self.facts.session).await?;
        // Others wait for a turn of their own, and so does what came with less than this one may do.
        waiting.retain(|row| {
            row.principal() == self.caller.principal
                && row.provenance != Some(Provenance::Announcement)
                && self.agent.role_at_arrival(row) >= self.caller.role
        });
        // So does what is to be answered in another way, with all that came after it.
        let fits = |row: &LogRow| {
            row.mode.is_none_or(|mode| mode == self.facts.mode)
                && row
                    .model
                    .as_ref()
                    .is_none_or(|model| *model == self.facts.model)
        };
        let upto = waiting.iter().position(|row| !fits(row));
        waiting.truncate(upto.unwrap_or(waiting.len()));
        if !waiting.is_empty() {
            let ids: Vec<i64> = waiting.iter().map(|row| row.id).collect();
            log.take_for_turn(self.facts.turn, &ids).await?;
        }
        Ok(waiting)
    }
}
