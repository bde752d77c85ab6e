//! Reading values from bytes that may be hostile. It never panics, never recurses deeper than
//! [`MAX_DEPTH`] allows, and never reserves memory on the word of a count alone.

use super::{
    CodecError, MAX_DEPTH, MAX_VALUES, check_hashable, code, integer, invalid, open, place, tag,
    text,
};
use crate::Value;

/// Records and opaque objects exist only on the way to the sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Host,
    Sandbox,
}

pub(super) fn read(bytes: &[u8], toward: Direction) -> Result<Value, CodecError> {
    let mut reader = Reader {
        bytes,
        offset: 0,
        values_left: MAX_VALUES,
        toward,
    };
    let value = reader.value(MAX_DEPTH)?;
    if reader.offset != bytes.len() {
        return Err(reader.malformed("bytes after the value"));
    }
    Ok(value)
}

/// Containers first reserve room for this many items, whatever they claim.
const FIRST_RESERVE: usize = 256;

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
    values_left: usize,
    toward: Direction,
}

impl<'a> Reader<'a> {
    /// `depth` is how many containers may still open.
    fn value(&mut self, depth: usize) -> Result<Value, CodecError> {
        let code = self.byte()?;
        self.value_of(code, depth)
    }

    fn value_of(&mut self, code: u8, depth: usize) -> Result<Value, CodecError> {
        self.values_left = self
            .values_left
            .checked_sub(1)
            .ok_or(CodecError::TooMany { limit: MAX_VALUES })?;
        Ok(match code {
            code::NONE => Value::Null,
            code::FALSE => Value::Bool(false),
            code::TRUE => Value::Bool(true),
            code::INT => Value::Int(i64::from(i32::from_le_bytes(self.array()?))),
            code::LONG => self.long()?,
            code::FLOAT => Value::Float(f64::from_le_bytes(self.array()?)),
            code::STR => Value::Str(self.str_body()?),
            code::BYTES => Value::Bytes(self.sized()?.to_vec()),
            code::LIST => Value::List(self.items(depth)?),
            code::TUPLE => self.tuple(depth)?,
            code::SET => Value::Set(self.members(depth)?),
            code::FROZENSET => Value::FrozenSet(self.members(depth)?),
            code::DICT => self.dict(depth)?,
            other => return Err(self.refused(other)),
        })
    }

    fn long(&mut self) -> Result<Value, CodecError> {
        let count = i32::from_le_bytes(self.array()?);
        let digits = usize::try_from(count.unsigned_abs())
            .ok()
            .and_then(|count| count.checked_mul(2));
        let digits = match digits {
            Some(length) => self.take(length)?,
            None => return Err(self.malformed("int too long")),
        };
        integer::read(digits, count < 0).map_err(|what| self.malformed(what))
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, CodecError> {
        let count = self.count()?;
        self.counted_items(count, depth)
    }

    fn counted_items(&mut self, count: usize, depth: usize) -> Result<Vec<Value>, CodecError> {
        let depth = open(depth)?;
        let mut items = Vec::with_capacity(count.min(FIRST_RESERVE));
        for index in 0..count {
            let item = self
                .value(depth)
                .map_err(|error| error.inside(|| place::index(index)))?;
            items.push(item);
        }
        Ok(items)
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Value>, CodecError> {
        let members = self.items(depth)?;
        for (index, member) in members.iter().enumerate() {
            check_hashable(member, || place::index(index))?;
        }
        Ok(members)
    }

    fn dict(&mut self, depth: usize) -> Result<Value, CodecError> {
        let depth = open(depth)?;
        let mut entries = Vec::new();
        loop {
            let code = self.byte()?;
            if code == code::END_OF_DICT {
                return Ok(Value::Dict(entries));
            }
            let step = || place::nth_key(entries.len());
            let key = self
                .value_of(code, depth)
                .map_err(|error| error.inside(step))?;
            check_hashable(&key, step)?;
            let value = self
                .value(depth)
                .map_err(|error| error.inside(|| place::key(&key)))?;
            entries.push((key, value));
        }
    }

    fn tuple(&mut self, depth: usize) -> Result<Value, CodecError> {
        let count = self.count()?;
        if self.bytes.get(self.offset) != Some(&code::ELLIPSIS) {
            return Ok(Value::Tuple(self.counted_items(count, depth)?));
        }
        self.offset += 1;
        if count != 3 {
            return Err(self.malformed("extension that is not a triple"));
        }
        self.extension(depth)
    }

    fn extension(&mut self, depth: usize) -> Result<Value, CodecError> {
        let tag = self.text()?;
        match tag.as_str() {
            tag::DATETIME => self.checked(tag::DATETIME, text::is_datetime, Value::DateTime),
            tag::DATE => self.checked(tag::DATE, text::is_date, Value::Date),
            tag::TIME => self.checked(tag::TIME, text::is_time, Value::Time),
            tag::DECIMAL => self.checked(tag::DECIMAL, text::is_decimal, Value::Decimal),
            tag::PATH => Ok(Value::Path(self.text()?)),
            tag::TIMEDELTA => self.timedelta(),
            tag::UUID => {
                self.expect(code::BYTES)?;
                let bytes = self.sized()?;
                uuid::Uuid::from_slice(bytes)
                    .map(Value::Uuid)
                    .map_err(|_| invalid(tag::UUID))
            }
            tag::RECORD => self.record(depth),
            tag::OPAQUE => self.opaque(),
            _ => Err(self.malformed("unknown extension")),
        }
    }

    fn checked(
        &mut self,
        tag: &'static str,
        valid: fn(&str) -> bool,
        make: fn(String) -> Value,
    ) -> Result<Value, CodecError> {
        let text = self.text()?;
        if valid(&text) {
            Ok(make(text))
        } else {
            Err(invalid(tag))
        }
    }

    fn timedelta(&mut self) -> Result<Value, CodecError> {
        self.tuple_of(3)?;
        let mut parts = [0i32; 3];
        for part in &mut parts {
            self.expect(code::INT)?;
            *part = i32::from_le_bytes(self.array()?);
        }
        if !text::is_timedelta(parts) {
            return Err(invalid(tag::TIMEDELTA));
        }
        let [days, seconds, microseconds] = parts;
        Ok(Value::TimeDelta {
            days,
            seconds,
            microseconds,
        })
    }

    fn record(&mut self, depth: usize) -> Result<Value, CodecError> {
        let depth = open(depth)?;
        self.tuple_of(2)?;
        let class = self.class()?;
        self.expect(code::TUPLE)?;
        let count = self.count()?;
        let mut fields = Vec::with_capacity(count.min(FIRST_RESERVE));
        for _ in 0..count {
            self.tuple_of(2)?;
            let name = self.text()?;
            let value = self
                .value(depth)
                .map_err(|error| error.inside(|| place::field(&name)))?;
            fields.push((name, value));
        }
        Ok(Value::Record { class, fields })
    }

    fn opaque(&mut self) -> Result<Value, CodecError> {
        self.tuple_of(2)?;
        let class = self.class()?;
        self.expect(code::BYTES)?;
        let pickle = self.sized()?.to_vec();
        Ok(Value::Opaque { class, pickle })
    }

    /// The class of a record or opaque object, which is all that the host side reads of one.
    fn class(&mut self) -> Result<String, CodecError> {
        let class = self.text()?;
        match self.toward {
            Direction::Sandbox => Ok(class),
            Direction::Host => Err(unpassable(class)),
        }
    }

    fn tuple_of(&mut self, count: usize) -> Result<(), CodecError> {
        self.expect(code::TUPLE)?;
        if self.count()? == count {
            Ok(())
        } else {
            Err(self.malformed("extension of a wrong length"))
        }
    }

    fn expect(&mut self, code: u8) -> Result<(), CodecError> {
        if self.byte()? == code {
            Ok(())
        } else {
            Err(self.malformed("extension of a wrong type"))
        }
    }

    fn text(&mut self) -> Result<String, CodecError> {
        self.expect(code::STR)?;
        self.str_body()
    }

    fn str_body(&mut self) -> Result<String, CodecError> {
        match std::str::from_utf8(self.sized()?) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(CodecError::Invalid {
                place: String::new(),
                type_name: "str",
                why: "it holds a lone surrogate",
            }),
        }
    }

    fn sized(&mut self) -> Result<&'a [u8], CodecError> {
        let length = self.length()?;
        self.take(length)
    }

    /// Each item takes a byte at least, so a count beyond the bytes left is false at once.
    fn count(&mut self) -> Result<usize, CodecError> {
        let count = self.length()?;
        if count > self.bytes.len() - self.offset {
            return Err(self.malformed("more items claimed than bytes left"));
        }
        Ok(count)
    }

    fn length(&mut self) -> Result<usize, CodecError> {
        usize::try_from(i32::from_le_bytes(self.array()?))
            .map_err(|_| self.malformed("negative length"))
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        match self.bytes[self.offset..].first_chunk() {
            Some(chunk) => {
                self.offset += N;
                Ok(*chunk)
            }
            None => Err(self.malformed("cut short")),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], CodecError> {
        match self.bytes[self.offset..].get(..length) {
            Some(taken) => {
                self.offset += length;
                Ok(taken)
            }
            None => Err(self.malformed("cut short")),
        }
    }

    fn malformed(&self, what: &str) -> CodecError {
        CodecError::Malformed {
            what: what.to_owned(),
            offset: self.offset,
        }
    }

    /// Marshal writes a few types that are not data. An honest sender can run into these, so they
    /// are named as Python names them.
    fn refused(&self, code: u8) -> CodecError {
        let type_name = match code {
            code::ELLIPSIS => "ellipsis",
            b'c' => "code",
            b'x' | b'y' => "complex",
            b'S' => "type",
            _ => {
                let shown = code.escape_ascii();
                return self.malformed(&format!("unknown type code '{shown}'"));
            }
        };
        unpassable(type_name.to_owned())
    }
}

fn unpassable(type_name: String) -> CodecError {
    CodecError::Unpassable {
        place: String::new(),
        type_name,
    }
}
