//! Traces for OpenTelemetry, with the feature `otel`: spans as JSON over HTTP to a collector
//! (OTLP/HTTP). A turn is one trace, and its id is the turn's, so that a trace is found by what the
//! journal and the log call it. Told to nobody unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callgate_contract::JournalId;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tracing::{
    Event, Level, Subscriber,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, filter::Targets, layer::Context, registry::LookupSpan};

use super::EventFields;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// Spans that wait to be sent; beyond it the newest are dropped, since a trace must not cost memory.
const WAITING: usize = 8_192;
/// Spans of one request.
const BATCH: usize = 256;
/// How long a span may wait for others.
const PAUSE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces go.
pub(super) struct Collector {
    url: String,
    headers: Vec<(String, String)>,
    service: String,
}

impl Collector {
    /// As the environment says, in the words of OpenTelemetry.
    pub(super) fn from_environment() -> Option<Collector> {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let endpoint = set(ENDPOINT)?;
        let headers = set(HEADERS).unwrap_or_default();
        let headers = headers.split(',').filter_map(|pair| pair.split_once('='));
        Some(Collector {
            url: format!("{}/v1/traces", endpoint.trim_end_matches('/')),
            headers: headers
                .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
                .collect(),
            service: set(SERVICE).unwrap_or_else(|| "callgate".to_owned()),
        })
    }
}

/// Our own spans, also those of single calls.
pub(super) fn filter() -> Targets {
    Targets::new().with_target("callgate", Level::DEBUG)
}

/// What the layer has found, until there is a runtime to send it. A mutex held to take it, once.
static FOUND: Mutex<Option<(Collector, mpsc::Receiver<FinishedSpan>)>> = Mutex::new(None);

/// `None` if nobody wants traces.
pub(super) fn layer() -> Option<Traces> {
    let collector = Collector::from_environment()?;
    let (ended, found) = mpsc::channel(WAITING);
    *FOUND.lock() = Some((collector, found));
    Some(Traces(ended))
}

/// Sends beside the work, and what is left after it.
pub(super) async fn told<T>(work: impl Future<Output = T>) -> T {
    let found = FOUND.lock().take();
    let Some((collector, found)) = found else {
        return work.await;
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let sending = tokio::spawn(send(collector, found, stopped));
    let result = work.await;
    drop(stop);
    // Whoever collects has had its time.
    let _ = tokio::time::timeout(PATIENCE, sending).await;
    result
}

pub(super) struct Traces(mpsc::Sender<FinishedSpan>);

#[derive(Debug)]
pub(super) struct FinishedSpan(Json);

/// A span as long as it lasts.
struct OpenSpan {
    trace: String,
    id: String,
    parent: Option<String>,
    began: SystemTime,
    said: EventFields,
    failed: bool,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traces {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let mut said = EventFields::default();
        attributes.record(&mut said);
        let fresh = JournalId::fresh().0;
        let parent = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            let open: &OpenSpan = extensions.get()?;
            Some((open.trace.clone(), open.id.clone()))
        });
        let (trace, parent) = match parent {
            Some((trace, id)) => (trace, Some(id)),
            None => {
                let turn = said.fields.get("turn").and_then(Json::as_str);
                let turn = turn.map(|turn| turn.replace('-', ""));
                (turn.unwrap_or_else(|| fresh.simple().to_string()), None)
            }
        };
        let (_, random) = fresh.as_u64_pair();
        span.extensions_mut().insert(OpenSpan {
            trace,
            id: format!("{random:016x}"),
            parent,
            began: SystemTime::now(),
            said,
            failed: false,
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<OpenSpan>()
        {
            values.record(&mut open.said);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if *event.metadata().level() == Level::ERROR
            && let Some(span) = context.event_span(event)
            && let Some(open) = span.extensions_mut().get_mut::<OpenSpan>()
        {
            open.failed = true;
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(open) = span.extensions_mut().remove::<OpenSpan>() else {
            return;
        };
        // A collector that does not keep up must not hold up a turn.
        let _ = self.0.try_send(ended(span.name(), open));
    }
}

fn ended(name: &str, open: OpenSpan) -> FinishedSpan {
    let nanoseconds = |at: SystemTime| {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_nanos().to_string()
    };
    let attributes: Vec<Json> = open
        .said
        .fields
        .into_iter()
        .map(|(key, value)| json!({ "key": key, "value": attribute(value) }))
        .collect();
    let mut span = json!({
        "traceId": open.trace,
        "spanId": open.id,
        "name": name,
        // Internal.
        "kind": 1,
        "startTimeUnixNano": nanoseconds(open.began),
        "endTimeUnixNano": nanoseconds(SystemTime::now()),
        "attributes": attributes,
        "status": if open.failed { json!({ "code": 2 }) } else { json!({}) },
    });
    if let Some(parent) = open.parent {
        span["parentSpanId"] = parent.into();
    }
    FinishedSpan(span)
}

/// 64-bit numbers are text in this encoding.
fn attribute(value: Json) -> Json {
    match value {
        Json::Bool(value) => json!({ "boolValue": value }),
        Json::Number(number) if number.is_i64() || number.is_u64() => {
            json!({ "intValue": number.to_string() })
        }
        Json::Number(number) => json!({ "doubleValue": number }),
        Json::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Until nobody makes spans any more, or `stop` is dropped.
async fn send(
    to: Collector,
    mut found: mpsc::Receiver<FinishedSpan>,
    mut stop: oneshot::Receiver<()>,
) {
    let mut batch = Vec::new();
    loop {
        let more = tokio::select! {
            count = found.recv_many(&mut batch, BATCH) => count > 0,
            _ = &mut stop => false,
        };
        if more && batch.len() < BATCH {
            // Others may come along.
            let _ = tokio::time::timeout(PAUSE, &mut stop).await;
        }
        while let Ok(another) = found.try_recv() {
            batch.push(another);
        }
        to.post(std::mem::take(&mut batch)).await;
        if !more || stop.is_terminated() {
            break;
        }
    }
}

impl Collector {
    async fn post(&self, spans: Vec<FinishedSpan>) {
        if spans.is_empty() {
            return;
        }
        let spans: Vec<Json> = spans.into_iter().map(|FinishedSpan(span)| span).collect();
        let service = json!({ "key": "service.name", "value": { "stringValue": self.service } });
        let version = json!({
            "key": "service.version",
            "value": { "stringValue": env!("CARGO_PKG_VERSION") },
        });
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [service, version] },
            "scopeSpans": [{ "scope": { "name": "callgate" }, "spans": spans }],
        }]});
        let sent = callgate_models::post_json(&self.url, &self.headers, &body, PATIENCE).await;
        if let Err(error) = sent {
            // In words of our own target, which no trace is made of.
            tracing::debug!(target: "otel", error, "traces could not be sent");
        }
    }
}
