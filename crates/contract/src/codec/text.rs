//! The strict syntax of the types that travel as text. What passes here, Python revives.

/// Days, seconds and microseconds as `timedelta` normalises them.
pub(super) fn is_timedelta([days, seconds, microseconds]: [i32; 3]) -> bool {
    (-999_999_999..=999_999_999).contains(&days)
        && (0..86_400).contains(&seconds)
        && (0..1_000_000).contains(&microseconds)
}

/// `2024-02-29T12:30:00.000001+08:00[Asia/Shanghai]`; a zone needs an offset beside it.
pub(super) fn is_datetime(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.date()
        && cursor.byte(b'T')
        && cursor.clock()
        && (cursor.done() || (cursor.offset() && (cursor.done() || cursor.zone())))
        && cursor.done()
}

/// `2024-02-29`
pub(super) fn is_date(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.date() && cursor.done()
}

/// `12:30:00.000001+08:00` or `12:30:00[Asia/Shanghai]`: without a day a zone has no offset.
pub(super) fn is_time(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.clock()
        && match cursor.rest.first() {
            Some(b'[') => cursor.zone(),
            Some(_) => cursor.offset(),
            None => true,
        }
        && cursor.done()
}

/// `-1.50E+3`, `Infinity`, `-sNaN12`
pub(super) fn is_decimal(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.byte(b'-');
    if cursor.word(b"Infinity") {
        return cursor.done();
    }
    let signalling = cursor.byte(b's');
    if cursor.word(b"NaN") {
        cursor.digits();
        return cursor.done();
    }
    if signalling || cursor.digits() == 0 || (cursor.byte(b'.') && cursor.digits() == 0) {
        return false;
    }
    if cursor.byte(b'E') {
        let signed = cursor.byte(b'+') || cursor.byte(b'-');
        // decimal.MAX_EMAX has 18 digits; beyond it Python cannot make the number.
        if !signed || !(1..=18).contains(&cursor.digits()) {
            return false;
        }
    }
    cursor.done()
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Cursor {
            rest: text.as_bytes(),
        }
    }

    fn done(&self) -> bool {
        self.rest.is_empty()
    }

    fn word(&mut self, word: &[u8]) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn byte(&mut self, byte: u8) -> bool {
        self.word(&[byte])
    }

    fn digits(&mut self) -> usize {
        let count = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        count
    }

    /// Exactly `width` digits.
    fn number(&mut self, width: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(width)?;
        let number = digits.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit()
                .then(|| number * 10 + u32::from(byte - b'0'))
        })?;
        self.rest = rest;
        Some(number)
    }

    fn below(&mut self, limit: u32) -> bool {
        self.number(2).is_some_and(|number| number < limit)
    }

    fn date(&mut self) -> bool {
        let Some(year @ 1..) = self.number(4) else {
            return false;
        };
        if !self.byte(b'-') {
            return false;
        }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match self.number(2) {
            Some(2) if leap => 29,
            Some(2) => 28,
            Some(4 | 6 | 9 | 11) => 30,
            Some(1..=12) => 31,
            _ => return false,
        };
        self.byte(b'-') && self.number(2).is_some_and(|day| (1..=days).contains(&day))
    }

    fn clock(&mut self) -> bool {
        self.below(24)
            && self.byte(b':')
            && self.below(60)
            && self.byte(b':')
            && self.below(60)
            && self.fraction()
    }

    fn fraction(&mut self) -> bool {
        !self.byte(b'.') || self.number(6).is_some()
    }

    fn offset(&mut self) -> bool {
        (self.byte(b'+') || self.byte(b'-'))
            && self.below(24)
            && self.byte(b':')
            && self.below(60)
            && (!self.byte(b':') || (self.below(60) && self.fraction()))
    }

    /// A key of the zone database. It names a file there, so it must not climb out of it.
    fn zone(&mut self) -> bool {
        let Some(key) = self
            .rest
            .strip_prefix(b"[")
            .and_then(|rest| rest.strip_suffix(b"]"))
        else {
            return false;
        };
        self.rest = &[];
        key.len() <= 128
            && key.split(|byte| *byte == b'/').all(|part| {
                part.first().is_some_and(u8::is_ascii_alphanumeric)
                    && part
                        .iter()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(byte))
            })
    }
}
