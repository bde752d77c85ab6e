//! Conditions on a row: a column, a lookup, and what it is compared with.

use std::cmp::Ordering;

use callgate_contract::MethodError;
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::{super::failed, Row};

#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) column: String,
    pub(super) lookup: Lookup,
    pub(super) wanted: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Is,
    IsNot,
    In,
    NotIn,
    Above,
    AtLeast,
    Below,
    AtMost,
    Between,
    Contains { any_case: bool },
    Starts { any_case: bool },
    Ends { any_case: bool },
    IsAnyCase,
    Null { wanted: bool },
}

const LOOKUPS: [(&str, Lookup); 17] = [
    ("", Lookup::Is),
    ("not", Lookup::IsNot),
    ("in", Lookup::In),
    ("not_in", Lookup::NotIn),
    ("gt", Lookup::Above),
    ("gte", Lookup::AtLeast),
    ("lt", Lookup::Below),
    ("lte", Lookup::AtMost),
    ("range", Lookup::Between),
    ("contains", Lookup::Contains { any_case: false }),
    ("icontains", Lookup::Contains { any_case: true }),
    ("startswith", Lookup::Starts { any_case: false }),
    ("istartswith", Lookup::Starts { any_case: true }),
    ("endswith", Lookup::Ends { any_case: false }),
    ("iendswith", Lookup::Ends { any_case: true }),
    ("iexact", Lookup::IsAnyCase),
    ("isnull", Lookup::Null { wanted: true }),
];

pub(super) fn conditions(given: &Map<String, Json>) -> Result<Vec<Condition>, MethodError> {
    given
        .iter()
        .map(|(key, wanted)| condition(key, wanted))
        .collect()
}

fn condition(key: &str, wanted: &Json) -> Result<Condition, MethodError> {
    let (column, name) = key.split_once("__").unwrap_or((key, ""));
    let name = if name == "exact" { "" } else { name };
    let lookup = match name {
        "not_isnull" => Some(Lookup::Null { wanted: false }),
        _ => LOOKUPS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, lookup)| *lookup),
    };
    Ok(Condition {
        column: column.to_owned(),
        lookup: lookup
            .ok_or_else(|| failed(format!("a query cannot use the lookup '{name}' ({key})")))?,
        wanted: wanted.clone(),
    })
}

/// What the column must equal, if something says so.
pub(super) fn equal_to<'a>(conditions: &'a [Condition], column: &str) -> Option<&'a str> {
    let found = conditions
        .iter()
        .find(|it| it.column == column && it.lookup == Lookup::Is)?;
    found.wanted.as_str()
}

impl Condition {
    pub(super) fn holds(&self, row: &Row) -> Result<bool, MethodError> {
        let column = &self.column;
        let Some(found) = row.get(column) else {
            return Err(failed(format!("there is no column '{column}'")));
        };
        let wanted = &self.wanted;
        let ordered = |accept: fn(Ordering) -> bool| compare(found, wanted).is_some_and(accept);
        Ok(match self.lookup {
            Lookup::Is => same(found, wanted),
            Lookup::IsNot => !same(found, wanted),
            Lookup::In => many(wanted).iter().any(|one| same(found, one)),
            Lookup::NotIn => !many(wanted).iter().any(|one| same(found, one)),
            Lookup::Above => ordered(Ordering::is_gt),
            Lookup::AtLeast => ordered(Ordering::is_ge),
            Lookup::Below => ordered(Ordering::is_lt),
            Lookup::AtMost => ordered(Ordering::is_le),
            Lookup::Between => match many(wanted) {
                [low, high] => {
                    compare(found, low).is_some_and(Ordering::is_ge)
                        && compare(found, high).is_some_and(Ordering::is_le)
                }
                _ => return Err(failed(format!("{column}__range wants two values"))),
            },
            Lookup::Contains { any_case } => {
                text(found, any_case).contains(&text(wanted, any_case))
            }
            Lookup::Starts { any_case } => {
                text(found, any_case).starts_with(&text(wanted, any_case))
            }
            Lookup::Ends { any_case } => text(found, any_case).ends_with(&text(wanted, any_case)),
            Lookup::IsAnyCase => text(found, true) == text(wanted, true),
            Lookup::Null { wanted: null } => {
                found.is_null() == (wanted.as_bool().unwrap_or(true) == null)
            }
        })
    }
}

fn many(wanted: &Json) -> &[Json] {
    wanted.as_array().map_or(&[], Vec::as_slice)
}

fn same(found: &Json, wanted: &Json) -> bool {
    found == wanted || compare(found, wanted) == Some(Ordering::Equal)
}

fn text(json: &Json, any_case: bool) -> String {
    let text = match json {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    };
    if any_case { text.to_lowercase() } else { text }
}

/// Numbers by value, booleans as numbers, moments by time, other texts as texts.
pub(super) fn compare(one: &Json, other: &Json) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (number(one), number(other)) {
        return one.partial_cmp(&other);
    }
    let (one, other) = (one.as_str()?, other.as_str()?);
    match (one.parse::<Timestamp>(), other.parse::<Timestamp>()) {
        (Ok(one), Ok(other)) => Some(one.cmp(&other)),
        _ => Some(one.cmp(other)),
    }
}

fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        json => json.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(filters: Json, expect: bool) {
        let row = json!({
            "id": 7, "name": "Ada", "active": true, "none": null,
            "create_time": "2026-01-02T03:04:05.000000+00:00",
        });
        let row = row.as_object().unwrap();
        let found = conditions(filters.as_object().unwrap()).unwrap();
        let holds = found.iter().all(|condition| condition.holds(row).unwrap());
        assert_eq!(holds, expect, "{filters}");
    }

    #[test]
    fn lookups_mean_what_upstream_means() {
        for (filters, expect) in [
            (json!({"id": 7, "name": "Ada"}), true),
            (json!({"id": 8}), false),
            (json!({"id__not": 8}), true),
            (json!({"id__in": [1, 7]}), true),
            (json!({"id__not_in": [1, 7]}), false),
            (json!({"id__gte": 7, "id__lt": 8}), true),
            (json!({"id__range": [8, 9]}), false),
            (json!({"active": 1}), true),
            (json!({"name__startswith": "ad"}), false),
            (json!({"name__istartswith": "ad"}), true),
            (json!({"name__icontains": "DA"}), true),
            (json!({"name__endswith": "da"}), true),
            (json!({"name__iexact": "ADA"}), true),
            (json!({"none__isnull": true}), true),
            (json!({"none__not_isnull": true}), false),
            (json!({"name__isnull": false}), true),
            (
                json!({"create_time__gt": "2026-01-02T05:04:04+02:00"}),
                true,
            ),
        ] {
            check(filters, expect);
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        let given = json!({"name__regex": "x"});
        let error = conditions(given.as_object().unwrap()).unwrap_err();
        assert_eq!(
            error.message,
            "a query cannot use the lookup 'regex' (name__regex)"
        );
        let given = json!({"colour": 1});
        let [condition] = conditions(given.as_object().unwrap())
            .unwrap()
            .try_into()
            .unwrap();
        let error = condition.holds(&Map::new()).unwrap_err();
        assert_eq!(error.message, "there is no column 'colour'");
    }
}
