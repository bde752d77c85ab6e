//! Lists in pieces. A cursor is opaque to callers: it says after which item to go on.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::problem::Problem;

const DEFAULT: u32 = 50;
const MOST: u32 = 500;

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Piece {
    /// `next` of the piece before.
    cursor: Option<String>,
    /// How many, at most 500.
    #[serde(default, deserialize_with = "number")]
    limit: Option<u32>,
}

/// A flattened query knows texts only.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let read = |text: String| {
        text.parse()
            .map_err(|_| D::Error::custom("limit is a number"))
    };
    text.map(read).transpose()
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    /// Where to go on; none at the end.
    pub(super) next: Option<String>,
}

impl Piece {
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(DEFAULT).clamp(1, MOST)
    }

    /// The piece of `all` after the cursor; `id` names an item.
    pub(super) fn of<T>(&self, all: Vec<T>, id: impl Fn(&T) -> String) -> Result<List<T>, Problem> {
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

    /// The cursor as a number, for lists that the database cuts.
    pub(super) fn after(&self) -> Result<Option<i64>, Problem> {
        let read = |cursor: &String| cursor.parse().map_err(|_| stale());
        self.cursor.as_ref().map(read).transpose()
    }
}

fn stale() -> Problem {
    Problem::bad("this cursor points nowhere any more").hint("begin without a cursor")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(cursor: Option<&str>, limit: u32) -> (Vec<u32>, Option<String>) {
        let piece = Piece {
            cursor: cursor.map(str::to_owned),
            limit: Some(limit),
        };
        let list = piece.of((1..=5).collect(), u32::to_string).unwrap();
        (list.items, list.next)
    }

    #[test]
    fn pieces_make_up_the_whole() {
        assert_eq!(piece(None, 2), (vec![1, 2], Some("2".to_owned())));
        assert_eq!(piece(Some("2"), 2), (vec![3, 4], Some("4".to_owned())));
        assert_eq!(piece(Some("4"), 2), (vec![5], None));
        assert_eq!(piece(None, 5), (vec![1, 2, 3, 4, 5], None));
        assert!(
            Piece {
                cursor: Some("9".to_owned()),
                limit: None
            }
            .of(vec![1], u32::to_string)
            .is_err()
        );
    }
}
