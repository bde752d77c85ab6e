//! [`Quotas`]: how many calls one key may make, and how much it may send along with them. What is called is
//! written down, so that a program gone wild would fill the disk.

use serde_json::Value as Json;

use crate::Rates;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotaError {
    #[error("this key has made too many calls: try again in a moment")]
    Calls,
    #[error("this key has sent too much with its calls: try again later")]
    Bytes,
}

pub struct Quotas {
    calls: Rates<String>,
    bytes: Rates<String>,
}

impl Quotas {
    pub fn new(calls_per_minute: u32, megabytes_per_hour: u32) -> Self {
        let (calls, bytes) = (
            f64::from(calls_per_minute),
            f64::from(megabytes_per_hour) * f64::from(1 << 20),
        );
        Quotas {
            calls: Rates::new(calls, calls / 60.0),
            bytes: Rates::new(bytes, bytes / 3_600.0),
        }
    }

    /// Before a call with these arguments is made. Whoever has no key owns the data directory, or may
    /// call next to nothing.
    pub fn charge<'a>(
        &self,
        key: Option<&str>,
        arguments: impl IntoIterator<Item = &'a Json>,
    ) -> Result<(), QuotaError> {
        let Some(key) = key else { return Ok(()) };
        let bytes: usize = arguments.into_iter().map(size).sum();
        if !self.calls.pass(key.to_owned()) {
            return Err(QuotaError::Calls);
        }
        // Exact up to numbers that no body has.
        if !self.bytes.take(key.to_owned(), bytes as f64) {
            return Err(QuotaError::Bytes);
        }
        Ok(())
    }
}

/// About as many bytes as it has when it is written.
fn size(json: &Json) -> usize {
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
        Json::String(text) => text.len() + 2,
        Json::Array(items) => 2 + items.iter().map(size).sum::<usize>(),
        Json::Object(fields) => {
            let field = |(name, value): (&String, &Json)| name.len() + 4 + size(value);
            2 + fields.iter().map(field).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_pays_for_calls_and_for_bytes() {
        let quotas = Quotas::new(10, 1);
        let small = json!({ "a": [1, null, "text"] });
        let calls = (0..20).filter(|_| quotas.charge(Some("one"), [&small]).is_ok());
        assert_eq!(calls.count(), 10);
        let large = json!("x".repeat(700_000));
        assert_eq!(quotas.charge(Some("two"), [&large]), Ok(()));
        let again = quotas.charge(Some("two"), [&large]);
        assert_eq!(again, Err(QuotaError::Bytes));
        assert_eq!(quotas.charge(None, [&large]), Ok(()));
    }
}
