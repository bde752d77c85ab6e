//! Whose words move a turn. Those of the one it acts for, and of the configuration, may choose where things
//! go; what anybody or anything else has said makes such choices questionable. The gate asks accordingly.

use callgate_contract::{ModelMessage, Part, Provenance, SessionType, Taint};
use callgate_store::{LogRole, LogRow, Persona, TurnStart};

use super::{Turn, TurnPlan};

/// As the page and the operator read where words came from.
const OTHERS: &str = "others in this chat";
const ATTACHMENTS: &str = "attachments";
const EARLIER: &str = "earlier turns";
const NOTES: &str = "notes";
const PLUGINS: &str = "plugins";
const CLIENT_TOOLS: &str = "the client's tools";

/// What somebody has said themselves: no quotation, no picture, no file.
pub(crate) fn own_words(parts: &[Part]) -> Vec<String> {
    let own = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.clone()),
        Part::Mention { id, name } => Some(format!("{id} {name}")),
        _ => None,
    });
    own.collect()
}

fn holds_more(parts: &[Part]) -> bool {
    parts.iter().any(|part| {
        !matches!(
            part,
            Part::Text { .. } | Part::Mention { .. } | Part::Face { .. }
        )
    })
}

impl TurnPlan {
    /// Of what it answers alone.
    pub(super) fn taint(&self) -> Taint {
        let taint = Taint::tracked();
        match &self.own {
            Some(own) => {
                own.iter().for_each(|words| taint.said(words));
                taint.mark(OTHERS);
            }
            None => own_words(&self.parts)
                .iter()
                .for_each(|words| taint.said(words)),
        }
        if holds_more(&self.parts) {
            taint.mark(ATTACHMENTS);
        }
        taint
    }
}

/// What is configured, and where it is said, may choose too.
pub(super) fn vouch_for_setting(taint: &Taint, start: &TurnStart, persona: Option<&Persona>) {
    taint.vouch(&start.session.to_string());
    taint.vouch(start.session.id());
    taint.vouch(&start.session.chat_key());
    taint.vouch(&start.principal.user());
    if let Some(persona) = persona {
        taint.vouch(&persona.system_prompt);
    }
}

impl Turn {
    fn taint(&self) -> &Taint {
        &self.caller.grant.taint
    }

    /// A turn below another goes on with that one's account.
    fn has_own_account(&self) -> bool {
        self.facts.depth == 0
    }

    /// What the first round holds besides what it answers. `rows` are those of the chat that it is shown.
    pub(super) fn note_context(&self, rows: &[LogRow]) {
        if !self.has_own_account() {
            return;
        }
        let is_strange = |row: &LogRow| match row.provenance {
            Some(Provenance::Plugin(_) | Provenance::Timer) => true,
            // What a method said is known from the turn that called it.
            Some(Provenance::Method(_)) => false,
            Some(Provenance::Planned | Provenance::Announcement) => false,
            None => row.role == LogRole::User && row.principal() != self.caller.principal,
        };
        let shared = self.facts.session.kind() != SessionType::FriendMessage;
        if rows.iter().any(is_strange) || (shared && !self.shows_chat() && !self.is_returned()) {
            self.taint().mark(OTHERS);
        }
        if self.context.session.surroundings.tainted {
            self.taint().mark(EARLIER);
        }
        let brought = self.options.history.is_some() && !self.is_returned();
        if self.options.system.is_some() || brought {
            self.taint().mark(PLUGINS);
        }
    }

    /// A history that whoever asks has brought along.
    pub(super) fn note_brought(&self, history: &[ModelMessage]) {
        if !self.has_own_account() {
            return;
        }
        for message in history {
            match message {
                ModelMessage::User { parts } => {
                    own_words(parts)
                        .iter()
                        .for_each(|words| self.taint().said(words));
                    if holds_more(parts) {
                        self.taint().mark(ATTACHMENTS);
                    }
                }
                ModelMessage::Tool { .. } => self.taint().mark(CLIENT_TOOLS),
                ModelMessage::System { .. } | ModelMessage::Assistant { .. } => {}
            }
        }
    }

    pub(super) fn note_notes(&self) {
        self.taint().mark(NOTES);
    }

    /// Plugins have added to a request, or changed it.
    pub(super) fn note_plugins(&self) {
        self.taint().mark(PLUGINS);
    }

    /// Messages that joined are of the one it acts for.
    pub(super) fn note_joined(&self, rows: &[LogRow]) {
        for row in rows {
            let own = own_words(&row.parts);
            own.iter().for_each(|words| self.taint().said(words));
            if holds_more(&row.parts) {
                self.taint().mark(ATTACHMENTS);
            }
        }
    }
}
