//! [`Counted`]: whose deeds are counted together, since when; as conditions on rows that say who acted in
//! which session.

use callgate_contract::{Principal, SessionKey};
use jiff::Timestamp;
use uuid::Uuid;

use crate::tx::{AsParameter, Parameter};

/// What is left out counts everybody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<'a> {
    pub principal: Option<&'a Principal>,
    pub session: Option<&'a SessionKey>,
    /// Of the session.
    pub platform: Option<&'a str>,
    /// Such as midnight.
    pub since: Timestamp,
}

impl Counted<'_> {
    pub fn everybody(since: Timestamp) -> Self {
        Counted {
            principal: None,
            session: None,
            platform: None,
            since,
        }
    }

    /// On a table with a principal, a session and a column of this name for the time.
    pub(crate) fn condition(&self, time: &str, values: &mut Values) -> String {
        let since = values.number(self.since.as_millisecond());
        let mut condition = format!("{time} >= {since}");
        if let Some(principal) = self.principal {
            condition += &format!(" AND principal = {}", values.text(principal.to_string()));
        }
        condition + &self.place(values)
    }

    /// The part of it that is about the session; it begins with `AND`, or is empty.
    pub(crate) fn place(&self, values: &mut Values) -> String {
        let mut condition = String::new();
        if let Some(session) = self.session {
            condition += &format!(" AND session = {}", values.text(session.to_string()));
        }
        if let Some(platform) = self.platform {
            condition += &format!(" AND {}", is_on(platform, values));
        }
        condition
    }
}

/// The session is one of this platform.
pub(crate) fn is_on(platform: &str, values: &mut Values) -> String {
    let prefix = format!("{platform}:");
    let length = prefix.chars().count();
    format!("substr(session, 1, {length}) = {}", values.text(prefix))
}

/// The parameters of a statement that is put together, each named by its place.
#[derive(Default)]
pub(crate) struct Values(Vec<Value>);

enum Value {
    Number(i64),
    Text(String),
    Id(Uuid),
}

impl Values {
    pub(crate) fn number(&mut self, number: i64) -> String {
        self.add(Value::Number(number))
    }

    pub(crate) fn text(&mut self, text: String) -> String {
        self.add(Value::Text(text))
    }

    pub(crate) fn id(&mut self, id: Uuid) -> String {
        self.add(Value::Id(id))
    }

    fn add(&mut self, value: Value) -> String {
        self.0.push(value);
        format!("?{}", self.0.len())
    }

    pub(crate) fn parameters(&self) -> Vec<Parameter<'_>> {
        self.0.iter().map(AsParameter::parameter).collect()
    }
}

impl AsParameter for Value {
    fn parameter(&self) -> Parameter<'_> {
        match self {
            Value::Number(number) => number.parameter(),
            Value::Text(text) => text.parameter(),
            Value::Id(id) => id.parameter(),
        }
    }
}
