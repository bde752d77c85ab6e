//! [`Pace`]: how often and at which hours we speak where nobody has spoken to us.

use callgate_store::{Incoming, Spoken, Zone};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{HourRange, Prompting};

/// Where a number is 0 there is no such bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// After anything we said, for so long we join in nowhere in that chat.
    pub cooldown_seconds: u32,
    /// Answers that nobody asked us for, in any hour of one chat.
    pub per_hour: u32,
    pub quiet_hours: Vec<HourRange>,
    /// What is left unanswered in those.
    pub quiet: Quiet,
    pub time_zone: Zone,
    /// A message that its platform delivers so late is kept and not answered.
    pub stale_seconds: u32,
    /// For how long the messages of one person are gathered before they are answered.
    pub join_seconds: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quiet {
    /// What was not said to us.
    #[default]
    Unaddressed,
    Everything,
}

impl Pace {
    pub(crate) fn is_quiet(&self, now: Timestamp) -> bool {
        let mut hours = self.quiet_hours.iter();
        !self.quiet_hours.is_empty() && {
            let time = self.time_zone.time_of_day(now);
            hours.any(|range| range.contains(time))
        }
    }

    /// Is what we said before anything to go by?
    pub(crate) fn has_bounds(&self) -> bool {
        self.per_hour > 0 || self.cooldown_seconds > 0
    }

    /// May we speak again, after what we have said?
    pub(crate) fn has_room(&self, prompting: Prompting, spoken: Spoken, now: Timestamp) -> bool {
        let has_room = self.per_hour == 0 || spoken.unprompted < u64::from(self.per_hour);
        let pause = SignedDuration::from_secs(self.cooldown_seconds.into());
        let has_paused = |last: Timestamp| now.duration_since(last) >= pause;
        match prompting {
            Prompting::Addressed => true,
            Prompting::Timer => has_room,
            Prompting::Unaddressed => has_room && spoken.last.is_none_or(has_paused),
        }
    }

    /// Did the message come too late to be answered?
    pub(crate) fn is_stale(&self, incoming: &Incoming, now: Timestamp) -> bool {
        let late = i64::from(self.stale_seconds) * 1_000;
        late > 0
            && incoming
                .sent_at
                .is_some_and(|sent_at| now.as_millisecond().saturating_sub(sent_at) > late)
    }
}
