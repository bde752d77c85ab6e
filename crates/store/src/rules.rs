//! Rules of who may call what: those that operators make, and the standing answers that "always" left.
//! Each says who made it and when, and holds until it is removed. What a rule decides is the gate's.

use callgate_contract::{Permission, Rule};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{
    Ask, StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

#[derive(Clone, Debug, PartialEq)]
pub struct StoredRule {
    /// Small, so that a person can type it; never given again.
    pub id: i64,
    pub rule: Rule,
    /// Of a standing answer: what was asked when it was given.
    pub answer: Option<AnswerBounds>,
    pub made_at: Timestamp,
    /// Whose it is, where that was said.
    pub made_by: Option<String>,
}

/// A standing answer settles what would be asked, and only as long as it is about the same thing.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerBounds {
    /// The hash of the method's parameters.
    pub schema: String,
    /// These and no others; `None` for any.
    pub arguments: Option<Json>,
}

/// How far an answer that stands reaches: the person who asked, in that chat, unless it says more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// For everybody in the chat.
    pub everyone: bool,
    /// With the same arguments only.
    pub same_arguments: bool,
}

pub struct Rules<'a>(pub(crate) &'a Database);

impl Rules<'_> {
    /// Oldest first.
    pub async fn list(&self) -> Result<Vec<StoredRule>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT * FROM rule ORDER BY id", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Takes the place of one that was about the same.
    pub async fn add(&self, rule: &Rule, by: &str) -> Result<StoredRule, StoreError> {
        let (rule, by) = (rule.clone(), by.to_owned());
        self.0
            .write(move |tx| make(tx, &rule, None, Some(&by)))
            .await
    }

    pub async fn remove(&self, id: i64) -> Result<StoredRule, StoreError> {
        self.0
            .write(move |tx| {
                let delete = "DELETE FROM rule WHERE id = ?1 RETURNING *";
                let removed = tx.query_optional(delete, parameters![id])?;
                read(&removed.ok_or(StoreError::UnknownRule(id))?)
            })
            .await
    }
}

/// What "always" leaves.
pub(crate) fn stand(
    tx: &mut dyn Tx,
    ask: &Ask,
    then: Permission,
    standing: Standing,
    by: Option<&str>,
) -> Result<(), StoreError> {
    let rule = Rule {
        group: Some(ask.session.clone()),
        person: (!standing.everyone).then(|| ask.principal.clone()),
        method: Some(ask.method.clone()),
        ..Rule::new(then)
    };
    let answer = AnswerBounds {
        schema: ask.schema.clone(),
        arguments: standing.same_arguments.then(|| ask.arguments.clone()),
    };
    make(tx, &rule, Some(&answer), by).map(drop)
}

fn make(
    tx: &mut dyn Tx,
    rule: &Rule,
    answer: Option<&AnswerBounds>,
    by: Option<&str>,
) -> Result<StoredRule, StoreError> {
    let conditions = conditions(rule)?;
    let arguments = answer.and_then(|answer| answer.arguments.as_ref());
    let arguments = arguments.map_or_else(String::new, Json::to_string);
    let replaced = match answer {
        Some(_) => {
            "DELETE FROM rule WHERE conditions = ?1 AND arguments = ?2 AND schema IS NOT NULL"
        }
        None => "DELETE FROM rule WHERE conditions = ?1 AND arguments = ?2 AND schema IS NULL",
    };
    tx.execute(replaced, parameters![conditions, arguments])?;
    let made = tx.query_one(
        "INSERT INTO rule (conditions, decision, schema, arguments, made_at, made_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING *",
        parameters![
            conditions,
            row::word(rule.then)?,
            answer.map(|answer| answer.schema.as_str()),
            arguments,
            row::now(),
            by,
        ],
    )?;
    read(&made)
}

/// All of a rule but what it says: rules with the same conditions are about the same.
fn conditions(rule: &Rule) -> Result<String, StoreError> {
    let rule = serde_json::to_value(rule).map_err(|error| StoreError::damaged("rule", error))?;
    match rule {
        Json::Object(mut fields) => {
            fields.remove("then");
            row::json("rule", &fields)
        }
        other => Err(StoreError::damaged("rule", other)),
    }
}

fn read(row: &Row) -> Result<StoredRule, StoreError> {
    let mut rule: Json = row::read_json("rule", &get::<String>(row, "conditions")?)?;
    rule["then"] = Json::String(get(row, "decision")?);
    let rule = serde_json::from_value(rule).map_err(|error| StoreError::damaged("rule", error))?;
    let schema: Option<String> = get(row, "schema")?;
    let arguments: String = get(row, "arguments")?;
    let arguments = (!arguments.is_empty()).then(|| row::read_json("arguments", &arguments));
    Ok(StoredRule {
        id: get(row, "id")?,
        rule,
        answer: match schema {
            Some(schema) => Some(AnswerBounds {
                schema,
                arguments: arguments.transpose()?,
            }),
            None => None,
        },
        made_at: row::read_time(get(row, "made_at")?)?,
        made_by: get(row, "made_by")?,
    })
}
