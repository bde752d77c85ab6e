//! [`Points`]: a set of the moments a listener can hear of.

use std::ops::{BitOr, BitOrAssign};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points(u16);

impl Points {
    pub const NONE: Points = Points(0);
    /// Asked for a verdict: no turn takes the message before.
    pub const ARRIVED: Points = Points(1);
    pub const COLLECT: Points = Points(1 << 1);
    pub const SYSTEM_ROW: Points = Points(1 << 2);
    pub const RESET: Points = Points(1 << 3);
    pub const BEFORE_MODEL: Points = Points(1 << 4);
    pub const AFTER_MODEL: Points = Points(1 << 5);
    pub const BEFORE_CALL: Points = Points(1 << 6);
    pub const AFTER_CALL: Points = Points(1 << 7);
    pub const BEFORE_ANSWER: Points = Points(1 << 8);
    pub const AFTER_TURN: Points = Points(1 << 9);
    pub const DELIVER: Points = Points(1 << 10);

    /// Are all of `other` in it?
    pub const fn contains(self, other: Points) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Points {
    type Output = Points;

    fn bitor(self, other: Points) -> Points {
        Points(self.0 | other.0)
    }
}

impl BitOrAssign for Points {
    fn bitor_assign(&mut self, other: Points) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::Points;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let points = Points::ARRIVED | Points::COLLECT;
        assert!(points.contains(Points::COLLECT));
        assert!(!points.contains(Points::COLLECT | Points::RESET));
        assert!(points.contains(Points::NONE) && !Points::NONE.contains(points));
    }
}
