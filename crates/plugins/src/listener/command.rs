//! A command that a plugin has: it runs, and each of its answers is sent as it comes.

use callgate_contract::{Arguments, Caller, MethodError, Value, Verdict};
use serde_json::{Value as Json, json};

use super::{PluginListener, data, hearer::Hearer};
use crate::{context::text, failure::described};

impl PluginListener {
    pub(super) async fn command(
        &self,
        hearer: &Hearer,
        name: &str,
        rest: &str,
        context: &Value,
        caller: &Caller,
    ) -> Verdict {
        let asked = vec![
            ("context".to_owned(), context.clone()),
            ("name".to_owned(), text(name)),
            ("raw_args".to_owned(), text(rest)),
            ("said".to_owned(), text(format!("/{name} {rest}"))),
        ];
        let mut sequence = 0;
        let sending = async {
            let mut answers = hearer.worker.stream("command", asked, Some(caller)).await?;
            while let Some(answer) = answers.next().await? {
                sequence += 1;
                let parts = described(&answer)["parts"].take();
                self.send(caller, sequence, parts).await?;
            }
            Ok::<_, MethodError>(())
        };
        if let Err(error) = sending.await {
            tracing::warn!(command = name, error = error.message, "command failed");
            let told = json!([{ "type": "text", "text": format!("/{name}: {}", error.message) }]);
            if let Err(error) = self.send(caller, sequence + 1, told).await {
                tracing::warn!(
                    command = name,
                    error = error.message,
                    "could not report a failed command"
                );
            }
        }
        Verdict::Taken
    }

    pub(super) async fn send(
        &self,
        caller: &Caller,
        sequence: u64,
        parts: Json,
    ) -> Result<(), MethodError> {
        if parts.as_array().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let gone = || MethodError::new("the product is being stopped");
        let inner = self.0.upgrade().ok_or_else(gone)?;
        let arguments = Arguments::by_name(vec![
            ("session".to_owned(), text(caller.session.to_string())),
            ("parts".to_owned(), data(parts)),
            ("record".to_owned(), Value::Bool(false)),
        ]);
        let sent = inner
            .gate
            .call(caller, sequence, "message_send", arguments)
            .await;
        sent.map(drop)
            .map_err(|error| MethodError::new(error.to_string()))
    }
}
