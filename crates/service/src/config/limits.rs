//! `[[limit]]`: how much people may ask for. A limit that says nothing sensible is refused at once: it would
//! hold for others than it was meant for.

use callgate_contract::Limit;
use toml::Value;

use crate::ServiceError;

pub(super) fn check(content: &Value, file: &str) -> Result<(), ServiceError> {
    let refused = |reason: &str| {
        let hint = "docs/limits.md shows how limits are written";
        ServiceError::refused(format!("[[limit]] in {file}: {reason}"), hint)
    };
    let limits: Vec<Limit> = content
        .clone()
        .try_into()
        .map_err(|error: toml::de::Error| refused(error.message()))?;
    for limit in &limits {
        limit.check().map_err(|error| refused(&error.to_string()))?;
    }
    Ok(())
}
