//! Values that choose where something goes, after words of strangers have entered: such a value passes only if
//! it stands in words that may choose. What enters is noted here too, from live and from recorded results alike.

use callgate_contract::{
    Arguments, BoxFuture, Caller, ResultTrust, SessionKey, StrangeValue, StrangeValues, Surface,
    Taint, Value,
};
use callgate_store::{Ask, RecordedCall};

use crate::{CallError, Gate, Outcome, registry::Entry};

/// Puts a question to the people of a chat: to the person whose turn it is, or to whoever administers.
pub trait Confirmer: Send + Sync {
    /// Is it said in the chat? Not where the chat's own surface shows what waits.
    fn is_put(&self, caller: &Caller, ask: &Ask) -> bool;

    /// In their language; `approval` is the number to answer by.
    fn question(&self, caller: &Caller, ask: &Ask, approval: i64) -> String;

    /// It is on its way; the call waits meanwhile.
    fn deliver<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()>;
}

impl Gate {
    /// What an earlier execution was given is in this one too.
    pub fn note_replayed(
        &self,
        caller: &Caller,
        recorded: &RecordedCall,
        result: &Result<Option<Outcome>, CallError>,
    ) {
        let method = &recorded.intent.method;
        let result = match result {
            Ok(Some(outcome)) => Ok(outcome),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        note_outcome(caller, self.resolve(method).as_deref(), method, result);
    }
}

/// The values of this call that nobody who may choose has named. Only what an AI calls is judged: a person's
/// call is their word, and a plugin's is its author's.
pub(crate) fn strange_values(
    caller: &Caller,
    entry: &Entry,
    arguments: &Arguments,
) -> Option<StrangeValues> {
    let taint = taint_of(caller)?;
    let chooses = &entry.info().trust.chooses;
    if chooses.is_empty() || !taint.is_tainted() {
        return None;
    }
    let parameters = entry.signature.parameters.iter();
    let positional = parameters.map(|it| &it.name).zip(&arguments.positional);
    let named = arguments.named.iter().map(|(name, value)| (name, value));
    let mut values = Vec::new();
    for (name, value) in positional.chain(named) {
        let Some(choice) = chooses.get(name).copied() else {
            continue;
        };
        let strange = taint.strangers_in(choice, value).into_iter();
        values.extend(strange.map(|value| StrangeValue {
            parameter: name.clone(),
            choice,
            value,
        }));
    }
    (!values.is_empty()).then(|| StrangeValues {
        values,
        sources: taint.sources(),
    })
}

/// What came back enters whatever is done for `caller`.
pub(crate) fn note_outcome(
    caller: &Caller,
    entry: Option<&Entry>,
    method: &str,
    result: Result<&Outcome, &CallError>,
) {
    let Some(taint) = taint_of(caller) else {
        return;
    };
    let trust = entry.map_or(ResultTrust::Untrusted, |it| it.info().trust.result);
    match (trust, result) {
        (ResultTrust::Neutral, _) => {}
        (ResultTrust::Trusted, Ok(outcome)) => each_text(outcome, &mut |text| taint.vouch(text)),
        (ResultTrust::Untrusted, Ok(outcome)) if has_words(outcome) => taint.mark(method),
        // What it says of its failure is its own as well.
        (ResultTrust::Untrusted, Err(CallError::Failed { .. } | CallError::Recorded { .. })) => {
            taint.mark(method)
        }
        (ResultTrust::Trusted | ResultTrust::Untrusted, _) => {}
    }
}

fn taint_of(caller: &Caller) -> Option<&Taint> {
    let by_ai = matches!(caller.surface, Surface::Code | Surface::ToolCall);
    Some(&caller.grant.taint).filter(|taint| by_ai && taint.is_tracked())
}

fn has_words(outcome: &Outcome) -> bool {
    outcome.value.has_words() || outcome.text.is_some() || !outcome.parts.is_empty()
}

fn each_text(outcome: &Outcome, hear: &mut dyn FnMut(&str)) {
    let said = outcome.parts.iter().filter_map(|part| part.words());
    said.for_each(|words| hear(&words));
    outcome.text.iter().for_each(|text| hear(text));
    Value::each_text(&outcome.value, hear);
}
