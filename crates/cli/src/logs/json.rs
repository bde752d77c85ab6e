//! `--log json`: each line of the log as one JSON object, with the fields of the spans around it, so
//! that whatever is logged within a turn carries the turn's id.

use std::io::Write;

use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use tracing::{
    Event, Subscriber,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::EventFields;

pub(super) struct JsonLines<W>(pub(super) fn() -> W);

/// What a span was told, for this layer alone: another may not have seen the span.
struct SpanFields(EventFields);

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut said = EventFields::default();
        attributes.record(&mut said);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanFields(said));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(SpanFields(said)) = span.extensions_mut().get_mut()
        {
            values.record(said);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut said = EventFields::default();
        // Inner spans outrank outer ones, and the event itself all of them.
        let scope = context.event_scope(event);
        for span in scope.into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(SpanFields(around)) = span.extensions().get() {
                said.fields.extend(around.fields.clone());
            }
        }
        event.record(&mut said);
        let about = event.metadata();
        let mut line = Map::new();
        line.insert("time".into(), Timestamp::now().to_string().into());
        line.insert("level".into(), about.level().as_str().to_lowercase().into());
        line.insert("target".into(), about.target().into());
        line.insert("message".into(), said.message.into());
        for (name, value) in said.fields {
            // Nobody takes the place of what every line has.
            line.entry(name).or_insert(value);
        }
        let text = format!("{}\n", Json::Object(line));
        // A log that cannot be written has nobody to tell.
        let _ = (self.0)().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    static WRITTEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());

    struct CapturedOutput;

    impl Write for CapturedOutput {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut written = WRITTEN.lock();
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_what_is_around_it() {
        let subscriber = tracing_subscriber::registry().with(JsonLines(|| CapturedOutput));
        tracing::subscriber::with_default(subscriber, || {
            let turn = tracing::error_span!("turn", turn = "t1", depth = 0);
            turn.in_scope(|| {
                let run = tracing::info_span!("run", run = "r1", stop = tracing::field::Empty);
                run.record("stop", "finished");
                run.in_scope(
                    || tracing::warn!(target: "here", turn = "t2", count = 3, "odd \"x\""),
                );
            });
            tracing::info!(message = "outside", level = "mine");
        });
        let written = WRITTEN.lock().clone();
        let lines: Vec<Json> = String::from_utf8(written)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        let first = &lines[0];
        assert_eq!(
            (&first["level"], &first["target"]),
            (&"warn".into(), &"here".into())
        );
        assert_eq!(first["message"], "odd \"x\"");
        assert_eq!(
            (&first["turn"], &first["run"]),
            (&"t2".into(), &"r1".into())
        );
        assert_eq!(
            (&first["stop"], &first["count"]),
            (&"finished".into(), &3.into())
        );
        assert_eq!(
            (&lines[1]["turn"], &lines[1]["level"]),
            (&Json::Null, &"info".into())
        );
    }
}
