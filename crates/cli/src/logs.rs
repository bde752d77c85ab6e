//! What is logged: to standard error as the operator wants it, and for a server also into the lines
//! that its API shows. No line holds a key: whoever writes one sees to that.

mod json;
#[cfg(feature = "otel")]
mod otlp;

use std::{fmt, io::stderr, sync::OnceLock};

use callgate_service::{Level, LogLine, Logs};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    EnvFilter, Layer, filter::LevelFilter, fmt as shown, layer::Context, layer::SubscriberExt,
    registry::LookupSpan, util::SubscriberInitExt,
};

use self::json::JsonLines;
use crate::show;

/// Lines of our own that are kept; of others, only what is worth a warning.
const KEPT: &str = "warn,callgate=info,plugin=info";

/// How standard error is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// `keeps`: the lines are also kept to be read over HTTP.
pub fn begin(keeps: bool, format: Format) {
    // What clients of MCP get wrong they are told, and who hangs up knows it; it is no news for the
    // operator.
    let filter = EnvFilter::try_from_env("CALLGATE_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,rmcp=error,rmcp::service=off"));
    let errors = match format {
        Format::Text => shown::layer()
            .with_writer(stderr)
            .with_ansi(show::is_coloured_for_notes())
            .boxed(),
        Format::Json => JsonLines(stderr).boxed(),
    };
    let lines = keeps.then(|| LogLines.with_filter(ours()));
    let heard = tracing_subscriber::registry()
        .with(errors.with_filter(filter))
        .with(lines);
    #[cfg(feature = "otel")]
    let heard = heard.with(otlp::layer().map(|traces| traces.with_filter(otlp::filter())));
    heard.init();
}

/// Does the work, and sees to it that what was traced of it is told.
#[cfg(feature = "otel")]
pub async fn traced<T>(work: impl Future<Output = T>) -> T {
    otlp::told(work).await
}

#[cfg(not(feature = "otel"))]
pub async fn traced<T>(work: impl Future<Output = T>) -> T {
    work.await
}

fn ours() -> EnvFilter {
    EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .parse_lossy(KEPT)
}

/// The lines of this process.
pub fn kept() -> &'static Logs {
    static LOGS: OnceLock<Logs> = OnceLock::new();
    LOGS.get_or_init(Logs::default)
}

struct LogLines;

/// What was said with a span or an event.
#[derive(Clone, Default)]
struct EventFields {
    message: String,
    fields: Map<String, Json>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let mut said = EventFields::default();
        attributes.record(&mut said);
        span.extensions_mut().insert(said);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(said) = span.extensions_mut().get_mut::<EventFields>()
        {
            values.record(said);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut said = EventFields::default();
        // Inner spans outrank outer ones, and the event itself all of them.
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|it| it.from_root())
        {
            if let Some(known) = span.extensions().get::<EventFields>() {
                said.fields.extend(known.fields.clone());
            }
        }
        event.record(&mut said);
        let mut take = |name: &str| match said.fields.remove(name) {
            Some(Json::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
            None => None,
        };
        let (turn, plugin, session) = (take("turn"), take("plugin"), take("session"));
        kept().write(LogLine {
            number: 0,
            at: Timestamp::now(),
            level: level(*event.metadata().level()),
            target: event.metadata().target().to_owned(),
            message: said.message,
            turn,
            plugin,
            session,
            fields: said.fields,
        });
    }
}

fn level(level: tracing::Level) -> Level {
    match level {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warn,
        tracing::Level::INFO => Level::Info,
        _ => Level::Debug,
    }
}

impl EventFields {
    fn put(&mut self, field: &Field, value: Json) {
        match (field.name(), value) {
            ("message", Json::String(text)) => self.message = text,
            ("message", other) => self.message = other.to_string(),
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}
