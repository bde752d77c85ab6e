//! [`Mutant`]: a session whose state breaks one rule, in what it hears or in what it says. That the
//! simulation finds each of them is how we know that it looks.

use crate::session::{
    event::{SessionAction, SessionEvent},
    state::SessionState,
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Mutant {
    /// Work that was cut off counts as done.
    ForgetsInterruptions,
    /// Nobody asks whether the one before left something.
    TrustsTheLastHolder,
    /// What was left is looked for and not seen.
    SeesNothing,
    /// Messages that were left are seen, turns are not.
    SeesNoTurns,
    /// Turns that were left are seen, messages are not.
    SeesNoMessages,
    /// What its own process works on is taken up as well.
    ForgetsClaims,
    KeepsTheLease,
    LosesTickets,
    DeliversTwice,
    NeverDelivers,
    /// A second turn is begun beside the first.
    Overlaps,
    /// After a failure nothing more is tried.
    GivesUp,
    /// A turn that cannot be resumed stays open.
    LeavesTurnsOpen,
}

pub(super) const MUTANTS: [Mutant; 13] = [
    Mutant::ForgetsInterruptions,
    Mutant::TrustsTheLastHolder,
    Mutant::SeesNothing,
    Mutant::SeesNoTurns,
    Mutant::SeesNoMessages,
    Mutant::ForgetsClaims,
    Mutant::KeepsTheLease,
    Mutant::LosesTickets,
    Mutant::DeliversTwice,
    Mutant::NeverDelivers,
    Mutant::Overlaps,
    Mutant::GivesUp,
    Mutant::LeavesTurnsOpen,
];

impl Mutant {
    pub(super) fn step(
        self,
        state: &mut SessionState,
        mut event: SessionEvent,
    ) -> Vec<SessionAction> {
        let wanted = matches!(event, SessionEvent::TurnWanted(_));
        match (self, &mut event) {
            (Mutant::ForgetsInterruptions, SessionEvent::Released { ended, .. }) => *ended = true,
            (Mutant::TrustsTheLastHolder, SessionEvent::LeaseHeld { was_left, .. }) => {
                *was_left = false;
            }
            (Mutant::SeesNothing, SessionEvent::Found(found)) => *found = Default::default(),
            (Mutant::SeesNoTurns, SessionEvent::Found(found)) => found.turns.clear(),
            (Mutant::SeesNoMessages, SessionEvent::Found(found)) => found.rows.clear(),
            (Mutant::ForgetsClaims, SessionEvent::Claimed(_)) => return Vec::new(),
            (Mutant::ForgetsClaims, SessionEvent::Released { ended: true, .. }) => {
                return Vec::new();
            }
            (Mutant::ForgetsClaims, SessionEvent::Released { .. }) => {
                event = SessionEvent::Interrupted;
            }
            (Mutant::LosesTickets, SessionEvent::TurnWanted(ticket)) if ticket.0 % 3 == 0 => {
                return Vec::new();
            }
            (Mutant::NeverDelivers, SessionEvent::DeliveryWanted) => return Vec::new(),
            (Mutant::LeavesTurnsOpen, SessionEvent::CannotResume(_)) => {
                event = SessionEvent::Performed;
            }
            _ => {}
        }
        let mut actions = state.step(event);
        match self {
            Mutant::KeepsTheLease => {
                let gives_up = actions.contains(&SessionAction::GiveUpLease);
                actions.retain(|action| *action != SessionAction::GiveUpLease);
                if gives_up {
                    actions.extend(state.step(SessionEvent::LeaseGivenUp));
                }
            }
            Mutant::DeliversTwice if actions.contains(&SessionAction::Deliver) => {
                actions.push(SessionAction::Deliver);
            }
            Mutant::Overlaps if wanted && actions.is_empty() => {
                actions.push(SessionAction::TakeLease);
            }
            Mutant::GivesUp => {
                actions.retain(|action| !matches!(action, SessionAction::Pause(_)));
            }
            _ => {}
        }
        actions
    }
}
