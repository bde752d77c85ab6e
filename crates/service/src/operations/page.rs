//! What operations on collections share. Long lists come a page at a time. A cursor is opaque to callers: it says after which item to go on.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::ServiceError;

const DEFAULT: u32 = 50;
const MOST: u32 = 500;

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many, at most 500.
    #[serde(
        default,
        deserialize_with = "number",
        skip_serializing_if = "Option::is_none"
    )]
    pub limit: Option<u32>,
}

/// Also as text: a query that is flattened knows nothing else.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Itself(u32),
        Text(String),
    }
    match Option::<Number>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Number::Itself(number)) => Ok(Some(number)),
        Some(Number::Text(text)) => {
            let read = text
                .parse()
                .map_err(|_| D::Error::custom("limit is a number"));
            read.map(Some)
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// Where to go on; none at the end.
    pub next: Option<String>,
}

/// What is gone now, by its name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Deleted {
    pub deleted: String,
}

impl<T> List<T> {
    /// All of it.
    pub fn whole(items: Vec<T>) -> Self {
        List { items, next: None }
    }
}

impl Page {
    pub fn limit(&self) -> u32 {
        self.limit.unwrap_or(DEFAULT).clamp(1, MOST)
    }

    /// The page of `all` after the cursor; `id` names an item.
    pub fn of<T>(&self, all: Vec<T>, id: impl Fn(&T) -> String) -> Result<List<T>, ServiceError> {
        let skip = match &self.cursor {
            None => 0,
            Some(cursor) => {
                let found = all.iter().position(|item| id(item) == *cursor);
                found.ok_or_else(stale)? + 1
            }
        };
        let limit = self.limit() as usize;
        let more = all.len() > skip + limit;
        let items: Vec<T> = all.into_iter().skip(skip).take(limit).collect();
        let next = more.then(|| items.last().map(id)).flatten();
        Ok(List { items, next })
    }

    /// The cursor read as an id, for lists that the database cuts.
    pub fn after<T: FromStr>(&self) -> Result<Option<T>, ServiceError> {
        let read = |cursor: &String| cursor.parse().map_err(|_| stale());
        self.cursor.as_ref().map(read).transpose()
    }
}

fn stale() -> ServiceError {
    ServiceError::invalid(
        "this cursor points nowhere any more",
        "begin without a cursor",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(cursor: Option<&str>, limit: u32) -> (Vec<u32>, Option<String>) {
        let page = Page {
            cursor: cursor.map(str::to_owned),
            limit: Some(limit),
        };
        let list = page.of((1..=5).collect(), u32::to_string).unwrap();
        (list.items, list.next)
    }

    #[test]
    fn pages_make_up_the_whole() {
        assert_eq!(page(None, 2), (vec![1, 2], Some("2".to_owned())));
        assert_eq!(page(Some("2"), 2), (vec![3, 4], Some("4".to_owned())));
        assert_eq!(page(Some("4"), 2), (vec![5], None));
        assert_eq!(page(None, 5), (vec![1, 2, 3, 4, 5], None));
        assert!(
            Page {
                cursor: Some("9".to_owned()),
                limit: None
            }
            .of(vec![1], u32::to_string)
            .is_err()
        );
    }
}
