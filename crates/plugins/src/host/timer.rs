//! Timers: a text that arrives in a session at its time, or a name that the plugins who set it are told
//! then, with its data. Both outlive the process.

use std::sync::Weak;

use callgate_contract::{
    Effect, Kind, MethodError, Principal, Role, SessionKey, SessionType, Value, codec,
};
use callgate_gate::{Call, Function, method as function};
use callgate_store::{NewTimer, PluginTimer, Store};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use uuid::Uuid;

use super::{failed, session_key, value};
use crate::{
    context::{dict, text},
    cron::{self, Cron},
    plugins::Inner,
};

#[derive(Deserialize, JsonSchema)]
struct CreateTimer {
    #[serde(default)]
    worker: String,
    #[serde(default)]
    asker: String,
    #[serde(default)]
    session: Option<String>,
    /// What arrives, or what people see of it.
    #[serde(default)]
    text: String,
    /// Seconds since 1970.
    #[serde(default)]
    due: Option<f64>,
    #[serde(default)]
    user: Option<String>,
    /// What the plugin is told when it is due; without one, `text` arrives.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    payload: Json,
    /// Five fields.
    #[serde(default)]
    cron: Option<String>,
    #[serde(default)]
    timezone: Option<String>,
    /// A UUID; a timer of one's own with this id is replaced.
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct TimerFilter {
    #[serde(default)]
    worker: String,
    #[serde(default)]
    session: Option<String>,
    /// Those that plugins are told by this name.
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct TimerSelector {
    #[serde(default)]
    worker: String,
    #[serde(default)]
    session: Option<String>,
    id: String,
}

pub(super) fn methods(store: &Store, plugins: &Weak<Inner>) -> Vec<Function> {
    let at = || Timers {
        store: store.clone(),
        plugins: plugins.clone(),
    };
    let (setting, listing, cancelling) = (at(), at(), at());
    vec![
        function(
            "timer_set",
            Kind::Tool,
            move |call: Call, new: CreateTimer| setting.clone().set(call, new),
        )
        .doc("A text that arrives at its time, or a name that plugins are told; the timer's id."),
        function("timer_list", Kind::Tool, move |_: Call, of: TimerFilter| {
            listing.clone().list(of)
        })
        .doc("The timers that wait: of a session, or by the name plugins are told."),
        function(
            "timer_cancel",
            Kind::Tool,
            move |_: Call, one: TimerSelector| cancelling.clone().cancel(one),
        )
        .doc("Cancels a timer; false if none such waits."),
    ]
    .into_iter()
    .map(|method| method.effect(Effect::Idempotent).leaf())
    .collect()
}

#[derive(Clone)]
struct Timers {
    store: Store,
    plugins: Weak<Inner>,
}

impl Timers {
    fn flavour(&self, worker: &str) -> Result<String, MethodError> {
        let plugins = self.plugins.upgrade();
        let flavour = plugins.and_then(|plugins| plugins.flavour_of(worker));
        flavour.ok_or_else(|| failed("only plugins have timers of their own"))
    }

    async fn set(self, call: Call, new: CreateTimer) -> Result<Value, MethodError> {
        match new.name.clone() {
            Some(name) => self.set_named(name, new).await,
            None => self.set_text(call, new).await,
        }
    }

    async fn set_text(&self, call: Call, new: CreateTimer) -> Result<Value, MethodError> {
        let (Some(session), Some(due)) = (&new.session, new.due) else {
            return Err(failed(
                "a text needs a session and a time: `session`, `due`",
            ));
        };
        let session = session_key(session)?;
        let user = new.user.filter(|user| !user.is_empty());
        let named = user.map_or(Principal::System, |user| Principal::person(&session, user));
        // Whom a plugin names is that person, and no more than a member: a name gives no rights.
        let role = if named == call.caller.principal {
            call.caller.role
        } else {
            call.caller.role.min(Role::Member)
        };
        let timer = NewTimer {
            id: Uuid::now_v7(),
            session,
            principal: named,
            role,
            due_at: moment(due)?,
            text: new.text,
        };
        self.store.timers().set(&timer).await.map_err(failed)?;
        Ok(text(timer.id.to_string()))
    }

    async fn set_named(&self, name: String, new: CreateTimer) -> Result<Value, MethodError> {
        let due_at = match (new.due, &new.cron) {
            (Some(due), _) => moment(due)?,
            (None, Some(cron)) => first(cron, new.timezone.as_deref())?,
            (None, None) => return Err(failed("a timer needs a time: `due` or `cron`")),
        };
        if let Some(cron) = &new.cron {
            first(cron, new.timezone.as_deref())?;
        }
        let session = match &new.session {
            Some(session) => session_key(session)?,
            None => {
                let owner = if new.asker.is_empty() {
                    &new.worker
                } else {
                    &new.asker
                };
                SessionKey::new("plugin", SessionType::OtherMessage, owner).map_err(failed)?
            }
        };
        let timer = PluginTimer {
            id: match &new.id {
                Some(id) => id.parse().map_err(failed)?,
                None => Uuid::now_v7(),
            },
            flavour: self.flavour(&new.worker)?,
            plugin: new.asker,
            name,
            payload: codec::encode(&value(new.payload)?).map_err(failed)?,
            session,
            text: new.text,
            due_at,
            cron: new.cron,
            timezone: new.timezone,
        };
        let set = self.store.timers().set_for_plugin(&timer).await;
        if set.map_err(failed)? {
            Ok(text(timer.id.to_string()))
        } else {
            Err(failed(format!("the timer {} is somebody else's", timer.id)))
        }
    }

    async fn list(self, of: TimerFilter) -> Result<Value, MethodError> {
        let session = of.session.as_deref().map(session_key).transpose()?;
        let timers = self.store.timers();
        if of.name.is_none()
            && let Some(session) = &session
        {
            let texts = timers.list(session).await.map_err(failed)?;
            let texts = texts.into_iter().map(|timer| {
                dict(vec![
                    ("id", text(timer.id.to_string())),
                    ("session", text(timer.session.to_string())),
                    ("user", text(timer.user)),
                    ("text", text(timer.text)),
                    ("due", Value::Int(timer.due_at.as_second())),
                ])
            });
            return Ok(Value::List(texts.collect()));
        }
        let named = timers.of_plugins(&self.flavour(&of.worker)?).await;
        let wanted = named.map_err(failed)?.into_iter().filter(|timer| {
            of.name.as_ref().is_none_or(|name| *name == timer.name)
                && session
                    .as_ref()
                    .is_none_or(|session| *session == timer.session)
        });
        Ok(Value::List(wanted.map(described).collect()))
    }

    /// False if none such waits.
    async fn cancel(self, one: TimerSelector) -> Result<Value, MethodError> {
        let id: Uuid = one.id.parse().map_err(failed)?;
        let timers = self.store.timers();
        let cancelled = match &one.session {
            Some(session) => timers.cancel(&session_key(session)?, id).await,
            None => {
                let flavour = self.flavour(&one.worker)?;
                timers.cancel_of_plugins(&flavour, id).await
            }
        };
        cancelled.map(Value::Bool).map_err(failed)
    }
}

fn described(timer: PluginTimer) -> Value {
    let or_null = |given: Option<String>| given.map_or(Value::Null, text);
    #[allow(clippy::cast_precision_loss, reason = "milliseconds since 1970")]
    let due = Value::Float(timer.due_at.as_millisecond() as f64 / 1000.0);
    dict(vec![
        ("id", text(timer.id.to_string())),
        ("plugin", text(timer.plugin)),
        ("name", text(timer.name)),
        (
            "payload",
            codec::decode(&timer.payload).unwrap_or(Value::Null),
        ),
        ("session", text(timer.session.to_string())),
        ("text", text(timer.text)),
        ("due", due),
        ("cron", or_null(timer.cron)),
        ("timezone", or_null(timer.timezone)),
    ])
}

fn moment(seconds: f64) -> Result<Timestamp, MethodError> {
    let millis = (seconds * 1000.0).round();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and is checked next"
    )]
    Timestamp::from_millisecond(millis as i64).map_err(failed)
}

fn first(expression: &str, timezone: Option<&str>) -> Result<Timestamp, MethodError> {
    let zone = cron::zone(timezone).map_err(failed)?;
    let cron = Cron::parse(expression).map_err(failed)?;
    let first = cron.next(Timestamp::now(), &zone);
    first.ok_or_else(|| failed(format!("'{expression}' never comes")))
}
