//! Time: a timer that is due fires, and what it says is answered like any message.

use std::time::Duration;

use callgate_agent::{Agent, Watch};
use callgate_store::StoreError;
use jiff::Timestamp;
use tokio::task::JoinSet;

/// Longest sleep. A timer may be set meanwhile, and clocks are put forward.
const LONGEST: Duration = Duration::from_secs(1);

/// Fires timers until `stop`, then waits for the turns that they began.
pub async fn keep_time(agent: Agent, stop: impl Future<Output = ()>) {
    // A task for each, so that a long turn holds up no other timer.
    let mut answering = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let sleep = match fire_due(&agent, &mut answering).await {
            Ok(sleep) => sleep,
            Err(error) => {
                tracing::warn!(%error, "could not read timers");
                LONGEST
            }
        };
        while answering.try_join_next().is_some() {}
        tokio::select! {
            () = tokio::time::sleep(sleep) => {}
            () = &mut stop => break,
        }
    }
    while answering.join_next().await.is_some() {}
}

/// Returns how long nothing will be due.
async fn fire_due(agent: &Agent, answering: &mut JoinSet<()>) -> Result<Duration, StoreError> {
    let timers = agent.store().timers();
    for timer in timers.due(Timestamp::now()).await? {
        let Some(row) = timers.fire(timer.id).await? else {
            continue;
        };
        let agent = agent.clone();
        answering.spawn(async move {
            if let Err(error) = agent.answer_stored(&row, Watch::default()).await {
                tracing::warn!(session = %row.session, %error, "timer fired but its turn failed");
            }
        });
    }
    let Some(next) = timers.next_due().await? else {
        return Ok(LONGEST);
    };
    let left = Timestamp::now().duration_until(next);
    // Negative where it became due just now.
    let left = Duration::try_from(left).unwrap_or_default();
    Ok(left.min(LONGEST))
}
