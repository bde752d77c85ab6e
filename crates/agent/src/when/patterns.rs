//! [`Patterns`]: regular expressions that an operator or a session wrote. Matching takes time in
//! proportion to the message, whatever the expression; how large one may become is bounded.

use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Bytes that all expressions of a list may take, compiled and while matching.
const LARGEST: usize = 1 << 20;
const MOST: usize = 100;

#[derive(Clone, Debug)]
pub struct Patterns(RegexSet);

#[derive(Debug, thiserror::Error)]
pub enum InvalidPattern {
    #[error("{0}")]
    Syntax(#[from] regex::Error),
    #[error("{0} patterns are too many: {MOST} at most")]
    Many(usize),
}

impl Patterns {
    pub fn new(patterns: &[String]) -> Result<Self, InvalidPattern> {
        if patterns.len() > MOST {
            return Err(InvalidPattern::Many(patterns.len()));
        }
        let mut builder = RegexSetBuilder::new(patterns);
        Ok(Patterns(
            builder
                .size_limit(LARGEST)
                .dfa_size_limit(LARGEST)
                .build()?,
        ))
    }

    /// Is one of them found in the text?
    pub(crate) fn any_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Default for Patterns {
    fn default() -> Self {
        Patterns(RegexSet::empty())
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.0.patterns() == other.0.patterns()
    }
}

impl Serialize for Patterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.patterns().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let patterns = Vec::<String>::deserialize(deserializer)?;
        Patterns::new(&patterns).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Patterns;

    #[test]
    fn what_is_no_pattern_or_too_large_is_refused() {
        for pattern in ["(", "(?:a{1000}){1000}"] {
            assert!(Patterns::new(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
        assert!(Patterns::new(&vec!["a".to_owned(); 101]).is_err());
    }
}
