//! Messages per second through the whole pipeline, in many conversations at once and in one that
//! grows: in-process, and with a model behind HTTP that answers at once.

use std::{sync::Arc, time::Instant};

use callgate_agent::Agent;
use callgate_contract::{BoxFuture, Mode, Model, ModelError, ModelRequest, ModelStream};
use callgate_models::{ModelSettings, Remote};

use crate::{
    goals::{MESSAGE, MESSAGES_AT_ONCE},
    scene::Scene,
    stats::Samples,
    table::Table,
    turns::{agent, message, says},
    wire,
};

/// Conversations at once.
const CONVERSATIONS: [usize; 3] = [1, 50, 1_000];
/// Messages of each measurement, over all conversations.
const MESSAGES: usize = 1_000;
/// Messages at the beginning and at the end of the one conversation.
const EDGE: usize = 100;

#[derive(Default)]
pub(crate) struct Messages {
    here: [f64; 3],
    http: [f64; 3],
    first: Samples,
    last: Samples,
}

struct DoneModel;

impl Model for DoneModel {
    fn stream(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(std::future::ready(Ok(ModelStream::of(says("Done.")))))
    }
}

impl Messages {
    pub(crate) async fn measure(scene: &Scene, quick: bool) -> anyhow::Result<Messages> {
        let mut messages = Messages::default();
        let here = agent(scene.coder.clone(), Arc::new(DoneModel));
        let remote = Remote::new(ModelSettings::new("bench", wire::serve().await?))?;
        let http = agent(scene.coder.clone(), Arc::new(remote));
        for (place, conversations) in CONVERSATIONS.into_iter().enumerate() {
            let count = if quick { 50 } else { MESSAGES };
            let conversations = conversations.min(count);
            messages.here[place] = rate(&here, "here", conversations, count).await?;
            messages.http[place] = rate(&http, "http", conversations, count).await?;
        }
        let count = if quick { 2 * EDGE } else { MESSAGES };
        for number in 0..count {
            let began = Instant::now();
            one(&here, "bench:FriendMessage:grows").await?;
            if number < EDGE {
                messages.first.push(began.elapsed());
            } else if number >= count - EDGE {
                messages.last.push(began.elapsed());
            }
        }
        Ok(messages)
    }

    pub(crate) fn report(self, table: &mut Table) {
        let who = ["in-process model, journaled", "HTTP model, journaled"];
        for (rates, who) in [self.here, self.http].into_iter().zip(who) {
            for (conversations, rate) in CONVERSATIONS.into_iter().zip(rates) {
                let what = format!("messages answered, {conversations} conversations");
                let goals = match (conversations, who) {
                    (50, "in-process model, journaled") => MESSAGES_AT_ONCE,
                    _ => &[],
                };
                table.number(what, who, (rate, "per s"), goals);
            }
        }
        let what = format!("one conversation of {MESSAGES}, the first {EDGE}");
        table.times(what, "in-process model, journaled", self.first, MESSAGE);
        let what = format!("one conversation of {MESSAGES}, the last {EDGE}");
        table.times(what, "in-process model, journaled", self.last, MESSAGE);
    }
}

async fn one(agent: &Agent, session: &str) -> anyhow::Result<()> {
    let text = "How are you? Please say in a word.".to_owned();
    message(agent, session, text, Mode::Tools).await.map(drop)
}

/// Messages per second.
async fn rate(
    agent: &Agent,
    name: &str,
    conversations: usize,
    messages: usize,
) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..conversations {
        let agent = agent.clone();
        let session = format!("bench:FriendMessage:{name}-{conversations}-{number}");
        tasks.spawn(async move {
            for _ in 0..messages / conversations {
                one(&agent, &session).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(messages as f64 / began.elapsed().as_secs_f64())
}
