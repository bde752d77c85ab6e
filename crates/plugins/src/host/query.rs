//! Compat(nekro): rows under upstream's names and integer ids, asked for by an expression. Tables,
//! lookups and verbs are closed lists; whatever else is asked for is an error that names it.

mod channels;
mod condition;
mod messages;
mod overlay;
mod presets;
mod runs;
pub(crate) mod users;
mod values;

use callgate_contract::{MethodError, Value};
use callgate_gate::Function;
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use self::condition::{Condition, compare, conditions, equal_to};
use super::{failed, leaf, value};

type Row = Map<String, Json>;

#[derive(Deserialize, JsonSchema)]
struct QueryArguments {
    model: String,
    #[serde(default)]
    filters: Map<String, Json>,
    /// Each a set of conditions of which not all may hold.
    #[serde(default)]
    excludes: Json,
    /// Column names; `-` in front turns the order.
    #[serde(default)]
    order: Vec<String>,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    limit: Option<u32>,
    verb: String,
    #[serde(default)]
    values: Map<String, Json>,
}

/// Columns that hold a moment.
const MOMENTS: [&str; 6] = [
    "create_time",
    "update_time",
    "conversation_start_time",
    "login_time",
    "ban_until",
    "prevent_trigger_until",
];

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![leaf(
        "query",
        "Rows of messages, chats, presets, users or plugin data, by an expression.",
        store,
        query,
    )]
}

async fn query(store: Store, ask: QueryArguments) -> Result<Value, MethodError> {
    if ask.verb == "create" {
        return answer(create(&store, &ask).await?);
    }
    let rows = select(&store, &ask).await?;
    match ask.verb.as_str() {
        "list" | "values" => rows
            .into_iter()
            .map(answer)
            .collect::<Result<_, _>>()
            .map(Value::List),
        "first" | "get" => rows.into_iter().next().map_or(Ok(Value::Null), answer),
        "count" => Ok(Value::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX))),
        "exists" => Ok(Value::Bool(!rows.is_empty())),
        "delete" | "update" => {
            for row in &rows {
                match ask.verb.as_str() {
                    "delete" => delete(&store, &ask.model, row).await?,
                    _ => update(&store, &ask, row).await?,
                }
            }
            Ok(Value::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)))
        }
        other => Err(failed(format!(
            "a query cannot '{other}': there are list, first, get, count, exists, create, update, delete"
        ))),
    }
}

async fn select(store: &Store, ask: &QueryArguments) -> Result<Vec<Row>, MethodError> {
    let wanted = conditions(&ask.filters)?;
    let unwanted = match &ask.excludes {
        Json::Null => Vec::new(),
        Json::Object(one) => vec![conditions(one)?],
        Json::Array(many) => many
            .iter()
            .map(|one| one.as_object().map_or(Ok(Vec::new()), conditions))
            .collect::<Result<_, _>>()?,
        other => return Err(failed(format!("excludes: {other} is no set of conditions"))),
    };
    let unwanted: Vec<Vec<Condition>> =
        unwanted.into_iter().filter(|one| !one.is_empty()).collect();
    let mut rows = match ask.model.as_str() {
        "chat_message" => {
            // The log may be long: whatever the store itself can choose, it chooses.
            let slice = unwanted.is_empty().then_some((ask.offset, ask.limit));
            let found = messages::rows(store, &wanted, &ask.order, slice).await?;
            if found.sliced {
                return Ok(found.rows);
            }
            found.rows
        }
        "chat_channel" => channels::rows(store, &wanted).await?,
        "preset" => presets::rows(store).await?,
        "user" => users::rows(store).await?,
        "plugin_data" => values::rows(store, equal_to(&wanted, "plugin_key")).await?,
        "exec_code" => runs::rows(store, &wanted).await?,
        other => return Err(unknown(other)),
    };
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows.drain(..) {
        let mut keep = all(&wanted, &row)?;
        for conditions in &unwanted {
            keep = keep && !all(conditions, &row)?;
        }
        if keep {
            kept.push(row);
        }
    }
    sort(&mut kept, &ask.order);
    let rest = kept.into_iter().skip(ask.offset as usize);
    Ok(rest
        .take(ask.limit.map_or(usize::MAX, |limit| limit as usize))
        .collect())
}

fn all(conditions: &[Condition], row: &Row) -> Result<bool, MethodError> {
    for condition in conditions {
        if !condition.holds(row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sort(rows: &mut [Row], order: &[String]) {
    rows.sort_by(|one, other| {
        let mut result = std::cmp::Ordering::Equal;
        for column in order {
            let (name, turned) = match column.strip_prefix('-') {
                Some(name) => (name, true),
                None => (column.as_str(), false),
            };
            let of = |row: &Row| row.get(name).cloned().unwrap_or_default();
            let found = compare(&of(one), &of(other)).unwrap_or(std::cmp::Ordering::Equal);
            result = result.then(if turned { found.reverse() } else { found });
        }
        result
    });
}

async fn create(store: &Store, ask: &QueryArguments) -> Result<Row, MethodError> {
    match ask.model.as_str() {
        "chat_message" => messages::create(store, &ask.values).await,
        "chat_channel" => channels::create(store, &ask.values).await,
        "preset" => presets::create(store, &ask.values).await,
        "plugin_data" => values::create(store, &ask.values).await,
        "user" => users::create(store, &ask.values).await,
        "exec_code" => Err(failed("rows of 'exec_code' cannot be made here")),
        other => Err(unknown(other)),
    }
}

async fn update(store: &Store, ask: &QueryArguments, row: &Row) -> Result<(), MethodError> {
    match ask.model.as_str() {
        "chat_channel" => channels::update(store, row, &ask.values).await,
        "preset" => presets::update(store, row, &ask.values).await,
        "user" => overlay::write(store, "user", row, &ask.values).await,
        "plugin_data" => values::update(store, row, &ask.values).await,
        "chat_message" => overlay::write(store, "chat_message", row, &ask.values).await,
        other => Err(failed(format!("rows of '{other}' cannot be changed here"))),
    }
}

async fn delete(store: &Store, model: &str, row: &Row) -> Result<(), MethodError> {
    match model {
        "chat_message" => messages::hide(store, row).await,
        "preset" => presets::delete(store, row).await,
        "user" => users::delete(store, row).await,
        "plugin_data" => values::delete(store, row).await,
        other => Err(failed(format!("rows of '{other}' cannot be deleted here"))),
    }
}

fn unknown(model: &str) -> MethodError {
    failed(format!(
        "there is no table '{model}': there are chat_message, chat_channel, preset, user, plugin_data, exec_code"
    ))
}

/// A row as it leaves: moments as such.
fn answer(row: Row) -> Result<Value, MethodError> {
    let entries = row.into_iter().map(|(name, json)| {
        let is_moment = MOMENTS.contains(&name.as_str());
        let held = match json {
            Json::String(text) if is_moment => Value::DateTime(text),
            json => value(json)?,
        };
        Ok((Value::Str(name), held))
    });
    entries.collect::<Result<_, MethodError>>().map(Value::Dict)
}

/// As Python writes it: a moment of a row.
fn moment(time: jiff::Timestamp) -> Json {
    let text = time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
    Json::String(text)
}

fn id_of(row: &Row) -> i64 {
    row.get("id").and_then(Json::as_i64).unwrap_or_default()
}

fn text_of<'a>(values: &'a Map<String, Json>, name: &str) -> Option<&'a str> {
    values.get(name).and_then(Json::as_str)
}
