//! The gate's side of the journal: outcomes in the way each effect needs, and answers from an
//! earlier process's record. A recorded call is never made again.

use callgate_contract::{Arguments, Effect, codec};
use callgate_store::{CallIntent, CallOutcome, RecordedCall, StoreError, Success};

use crate::{
    CallError, Gate, Outcome,
    running::{EncodedOutcome, ends_turn},
    written,
};

impl Gate {
    /// What a recorded call gave. `Ok(None)` says that it had no effect, so it is to be made; one
    /// that may have had an effect nobody knows of is [`CallError::OutcomeUnknown`].
    pub fn replay(&self, recorded: &RecordedCall) -> Result<Option<Outcome>, CallError> {
        let RecordedCall { intent, outcome } = recorded;
        let method = || intent.method.clone();
        let Some(outcome) = outcome else {
            return match intent.effect {
                Effect::Effectful => Err(CallError::OutcomeUnknown {
                    method: method(),
                    sequence: intent.sequence,
                }),
                Effect::Pure | Effect::Idempotent | Effect::Rows => Ok(None),
            };
        };
        let success = match &outcome.result {
            Ok(success) => success,
            Err(message) => {
                return Err(CallError::Recorded {
                    method: method(),
                    message: message.clone(),
                });
            }
        };
        let damaged = |error: codec::CodecError| StoreError::Damaged {
            what: "outcome",
            reason: error.to_string(),
        };
        let value = codec::decode_trusted(&success.value)
            .map_err(|error| CallError::unrecorded(&intent.method, damaged(error)))?;
        Ok(Some(Outcome {
            ends_turn: ends_turn(intent.kind, &value),
            value,
            text: success.text.clone(),
            parts: success.parts.clone(),
            kind: intent.kind,
            micros: outcome.micros,
        }))
    }

    /// Is this call the recorded one? If not, the run that makes it has diverged from its record.
    pub fn is_recorded(&self, recorded: &RecordedCall, name: &str, arguments: Arguments) -> bool {
        let entry = self.resolve(name);
        let method = written::name(entry.as_deref(), name);
        let (written, _) = written::encode(arguments);
        method == recorded.intent.method && written.unwrap_or_default() == recorded.intent.arguments
    }

    /// Records a call that was not made, so that a replay is refused in the same words.
    pub(crate) async fn refuse(&self, intent: CallIntent, error: CallError) -> CallError {
        if !error.is_outcome() {
            return error;
        }
        let method = intent.method.clone();
        let outcome = CallOutcome {
            result: Err(error.to_string()),
            detail: error.detail().map(str::to_owned),
            micros: 0,
        };
        match self.store().journal().outcome_soon(intent, outcome).await {
            Ok(()) => error,
            Err(source) => CallError::unrecorded(&method, source),
        }
    }

    /// Makes the outcome durable: with the rows it changes in one transaction, or soon where the
    /// call may be repeated, and with `soon`: a tool loop writes again before it does anything else.
    pub(crate) async fn record(
        &self,
        name: &str,
        intent: CallIntent,
        mut result: Result<EncodedOutcome, CallError>,
        micros: u64,
        soon: bool,
    ) -> Result<Outcome, CallError> {
        let detail = result.as_ref().err().and_then(CallError::detail);
        let detail = detail.map(str::to_owned);
        let (written, changes) = match &mut result {
            Ok(done) => (Ok(done.success()), done.changes.as_slice()),
            Err(error) => (Err(error.to_string()), [].as_slice()),
        };
        let outcome = CallOutcome {
            result: written,
            detail,
            micros,
        };
        let journal = self.store().journal();
        let (id, sequence) = (intent.journal, intent.sequence);
        let begun = intent.effect == Effect::Effectful;
        let recorded = if changes.is_empty() && (soon || !begun) {
            journal.outcome_soon(intent, outcome).await
        } else if begun {
            journal.outcome(id, sequence, &outcome, changes).await
        } else {
            journal.record(&intent, &outcome, changes).await
        };
        if let Err(source) = recorded {
            let error = CallError::unrecorded(name, source);
            if begun && !changes.is_empty() {
                // It may be the rows that were refused: the failure is then what is known of the
                // call, which would otherwise read as unknown.
                let result = Err(error.to_string());
                let failure = CallOutcome {
                    result,
                    detail: None,
                    micros,
                };
                journal.outcome(id, sequence, &failure, &[]).await.ok();
            }
            return Err(error);
        }
        result.map(|done| Outcome {
            micros,
            ..done.outcome
        })
    }
}

impl EncodedOutcome {
    /// Takes the encoded value along: it is needed once.
    fn success(&mut self) -> Success {
        Success {
            value: std::mem::take(&mut self.encoded),
            text: self.outcome.text.clone(),
            parts: self.outcome.parts.clone(),
        }
    }
}
