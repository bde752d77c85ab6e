//! What plugins add to a round: texts for the prompt, and which of their methods are shown.

use std::time::Duration;

use callgate_contract::{Contribution, Points, Role, TurnFacts};
use serde_json::Value as Json;
use tokio::time::timeout;

use super::{PluginListener, caller, hearer::Hearer};
use crate::{context::KnownSpeaker, failure::described};

/// How long all plugins of a worker together may take to speak up in a round.
const COLLECT: Duration = Duration::from_secs(15);

impl PluginListener {
    pub(super) async fn contribute(&self, turn: &TurnFacts) -> Contribution {
        let mut contribution = Contribution::default();
        let speaker = KnownSpeaker {
            id: turn.user.clone(),
            ..KnownSpeaker::default()
        };
        let mut context = None;
        for hearer in self.hearers(&turn.session) {
            if !hearer.hears(Points::COLLECT) {
                continue;
            }
            if context.is_none() {
                let turn_id = Some(turn.turn);
                context = self.context(&turn.session, speaker.clone(), turn_id).await;
            }
            let Some(context) = context.clone() else {
                return contribution;
            };
            let caller = caller(&turn.session, &turn.principal, Role::Member);
            let asked = vec![("context".to_owned(), context)];
            let answer = hearer.worker.ask("collect", asked, Some(&caller));
            match timeout(COLLECT, answer).await {
                Ok(Ok(answer)) => add(&mut contribution, &hearer, &described(&answer)),
                Ok(Err(error)) => {
                    tracing::warn!(worker = hearer.worker.name(), %error, "plugin hook failed; adding nothing");
                }
                Err(_) => {
                    tracing::warn!(
                        worker = hearer.worker.name(),
                        "plugins exceeded the time limit of a hook"
                    );
                }
            }
        }
        contribution
    }
}

fn add(contribution: &mut Contribution, hearer: &Hearer, answer: &Json) {
    let string = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    for prompt in answer["prompts"].as_array().into_iter().flatten() {
        contribution
            .prompt
            .push((string(&prompt["plugin"]), string(&prompt["text"])));
    }
    for chosen in answer["methods"].as_array().into_iter().flatten() {
        let shown = chosen["names"].as_array().map_or(&[][..], Vec::as_slice);
        let plugin = hearer
            .plugins
            .iter()
            .find(|plugin| chosen["plugin"] == plugin.loaded.id.as_str());
        for method in plugin.iter().flat_map(|plugin| &plugin.loaded.methods) {
            if !shown.iter().any(|name| name == method.name.as_str()) {
                let id = string(&chosen["plugin"]);
                contribution
                    .hidden
                    .push(format!("plugin:{id}/{}", method.name));
            }
        }
    }
}
