//! Writing values. What it writes, marshal reads without an error: hence the checks of
//! hashability and of texts also on this side.

use super::{
    CodecError, MAX_DEPTH, MAX_VALUES, check_hashable, code, integer, invalid, open, place, tag,
    text,
};
use crate::Value;

pub(super) fn write(out: &mut Vec<u8>, value: &Value) -> Result<bool, CodecError> {
    let mut writer = Writer {
        out,
        values_left: MAX_VALUES,
        plain: true,
    };
    writer.value(value, MAX_DEPTH)?;
    Ok(writer.plain)
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    values_left: usize,
    plain: bool,
}

impl Writer<'_> {
    /// `depth` is how many containers may still open.
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), CodecError> {
        self.values_left = self
            .values_left
            .checked_sub(1)
            .ok_or(CodecError::TooMany { limit: MAX_VALUES })?;
        match value {
            Value::Null => self.out.push(code::NONE),
            Value::Bool(false) => self.out.push(code::FALSE),
            Value::Bool(true) => self.out.push(code::TRUE),
            Value::Int(number) => self.int(*number),
            Value::BigInt(number) => match i64::try_from(number) {
                Ok(small) => self.int(small),
                Err(_) => {
                    self.out.push(code::LONG);
                    integer::write_big(self.out, number)
                        .ok_or_else(|| too_long(number.bits() / 8))?;
                }
            },
            Value::Float(number) => {
                self.out.push(code::FLOAT);
                self.out.extend_from_slice(&number.to_le_bytes());
            }
            Value::Str(text) => self.str(text)?,
            Value::Bytes(bytes) => self.bytes(bytes)?,
            Value::List(items) => self.items(code::LIST, items, depth)?,
            Value::Tuple(items) => self.items(code::TUPLE, items, depth)?,
            Value::Set(items) => self.members(code::SET, items, depth)?,
            Value::FrozenSet(items) => self.members(code::FROZENSET, items, depth)?,
            Value::Dict(entries) => self.dict(entries, depth)?,
            Value::DateTime(text) => self.checked(tag::DATETIME, text, text::is_datetime)?,
            Value::Date(text) => self.checked(tag::DATE, text, text::is_date)?,
            Value::Time(text) => self.checked(tag::TIME, text, text::is_time)?,
            Value::Decimal(text) => self.checked(tag::DECIMAL, text, text::is_decimal)?,
            Value::Path(text) => self.checked(tag::PATH, text, |_| true)?,
            Value::TimeDelta {
                days,
                seconds,
                microseconds,
            } => self.timedelta([*days, *seconds, *microseconds])?,
            Value::Uuid(uuid) => {
                self.tag(tag::UUID)?;
                self.bytes(uuid.as_bytes())?;
            }
            Value::Record { class, fields } => self.record(class, fields, depth)?,
            Value::Opaque { class, pickle } => {
                self.tag(tag::OPAQUE)?;
                self.head(code::TUPLE, 2)?;
                self.str(class)?;
                self.bytes(pickle)?;
            }
        }
        Ok(())
    }

    fn int(&mut self, number: i64) {
        match i32::try_from(number) {
            Ok(small) => self.small_int(small),
            Err(_) => {
                self.out.push(code::LONG);
                integer::write_i64(self.out, number);
            }
        }
    }

    fn small_int(&mut self, number: i32) {
        self.out.push(code::INT);
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    fn str(&mut self, text: &str) -> Result<(), CodecError> {
        self.head(code::STR, text.len())?;
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.head(code::BYTES, bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn head(&mut self, code: u8, length: usize) -> Result<(), CodecError> {
        let length = i32::try_from(length).map_err(|_| too_long(length as u64))?;
        self.out.push(code);
        self.out.extend_from_slice(&length.to_le_bytes());
        Ok(())
    }

    fn items(&mut self, code: u8, items: &[Value], depth: usize) -> Result<(), CodecError> {
        let depth = open(depth)?;
        self.head(code, items.len())?;
        for (index, item) in items.iter().enumerate() {
            self.value(item, depth)
                .map_err(|error| error.inside(|| place::index(index)))?;
        }
        Ok(())
    }

    fn members(&mut self, code: u8, items: &[Value], depth: usize) -> Result<(), CodecError> {
        for (index, item) in items.iter().enumerate() {
            check_hashable(item, || place::index(index))?;
        }
        self.items(code, items, depth)
    }

    fn dict(&mut self, entries: &[(Value, Value)], depth: usize) -> Result<(), CodecError> {
        let depth = open(depth)?;
        self.out.push(code::DICT);
        for (index, (key, value)) in entries.iter().enumerate() {
            check_hashable(key, || place::nth_key(index))?;
            self.value(key, depth)
                .map_err(|error| error.inside(|| place::nth_key(index)))?;
            self.value(value, depth)
                .map_err(|error| error.inside(|| place::key(key)))?;
        }
        self.out.push(code::END_OF_DICT);
        Ok(())
    }

    fn checked(
        &mut self,
        tag: &'static str,
        text: &str,
        valid: fn(&str) -> bool,
    ) -> Result<(), CodecError> {
        if !valid(text) {
            return Err(invalid(tag));
        }
        self.tag(tag)?;
        self.str(text)
    }

    fn timedelta(&mut self, parts: [i32; 3]) -> Result<(), CodecError> {
        if !text::is_timedelta(parts) {
            return Err(invalid(tag::TIMEDELTA));
        }
        self.tag(tag::TIMEDELTA)?;
        self.head(code::TUPLE, parts.len())?;
        for part in parts {
            self.small_int(part);
        }
        Ok(())
    }

    /// Fields are tuples, not a dict, so that a record can be a dict key where its fields can.
    fn record(
        &mut self,
        class: &str,
        fields: &[(String, Value)],
        depth: usize,
    ) -> Result<(), CodecError> {
        let depth = open(depth)?;
        self.tag(tag::RECORD)?;
        self.head(code::TUPLE, 2)?;
        self.str(class)?;
        self.head(code::TUPLE, fields.len())?;
        for (name, value) in fields {
            self.head(code::TUPLE, 2)?;
            self.str(name)?;
            self.value(value, depth)
                .map_err(|error| error.inside(|| place::field(name)))?;
        }
        Ok(())
    }

    fn tag(&mut self, tag: &str) -> Result<(), CodecError> {
        self.plain = false;
        self.head(code::TUPLE, 3)?;
        self.out.push(code::ELLIPSIS);
        self.str(tag)
    }
}

fn too_long(bytes: u64) -> CodecError {
    CodecError::TooLong {
        bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        limit: i32::MAX as usize,
    }
}
