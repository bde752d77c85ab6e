//! What happens in a session and what is to be done about it: [`SessionEvent`] and [`SessionAction`].
//! Between them stands whoever performs actions; what decides is [`super::state::SessionState`].

use std::time::Duration;

use callgate_contract::JournalId;

/// A request for a turn, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(pub(crate) u64);

/// What this process works on, so that nobody takes it up from the record meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// A message that is being stored: its row has no number yet.
    Arriving,
    Row(i64),
    Turn(JournalId),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionEvent {
    TurnWanted(Ticket),
    /// Something may be on record that nobody works on.
    Interrupted,
    Claimed(Claim),
    /// `ended`: whatever is to be done about it is on record.
    Released {
        claim: Claim,
        ended: bool,
    },
    /// `was_left`: whoever had the session before did not give it up; `closing`: no turn begins any more.
    LeaseHeld {
        was_left: bool,
        closing: bool,
    },
    /// Another instance has the session, and lives.
    LeaseDenied,
    LeaseGivenUp,
    /// Another instance has taken the session from us.
    LeaseLost,
    Found(Leftovers),
    /// The turn has ended, or waits for an approval, or there was none to begin.
    Performed,
    /// Nobody knows how far it came; the record does.
    Failed,
    /// The turn on record can never be resumed, and why.
    CannotResume(String),
    PauseEnded,
    DeliveryWanted,
    Delivered(Delivered),
    /// The pause after a delivery is over.
    DeliveryDue,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// What is left waits for somebody to come.
    Done,
    /// The same, until a platform's rate limit ends.
    Limited(Duration),
    /// The store failed.
    Failed,
}

/// What is on record and has not come to its end, each oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Leftovers {
    pub(crate) turns: Vec<JournalId>,
    /// Messages that no turn has taken.
    pub(crate) rows: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionAction {
    TakeLease,
    GiveUpLease,
    /// The lease is ours no longer and stays as it is on record: whoever takes it next knows by that that
    /// something was left.
    LeaveLease,
    Pause(Pause),
    /// Read what was left.
    Look,
    Resume(JournalId),
    /// Ends a turn that cannot be resumed, so that those after it can begin.
    EndTurn {
        turn: JournalId,
        why: String,
    },
    Answer(Ticket),
    /// No turn begins any more.
    TurnAway(Ticket),
    /// Do what is to be done about a message that was stored and no more.
    TakeUp(i64),
    Deliver,
    /// Pause, then deliver.
    DeliverLater(DeliveryPause),
    /// Everything that was left has come to its end.
    Settled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryPause {
    /// So often it has failed in a row.
    Failed(u32),
    Limited(Duration),
}

/// How often it was tried before: the pause grows with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Another instance has the session.
    Denied(u32),
    Failed(u32),
}
