//! Time for plugins: their timers fire, also those that came due while nobody ran, and what changes in
//! the host's settings, models and personas is told to the workers that run.

use std::{sync::Arc, time::Duration};

use callgate_contract::{Arguments, MethodError, Value, codec};
use callgate_store::{PluginTimer, StoreError};
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::{
    Plugins, Worker,
    context::text,
    cron::{self, Cron},
    frame::NamedValues,
};

/// Longest sleep. A timer may be set meanwhile, and clocks are put forward.
const LONGEST: Duration = Duration::from_secs(1);
/// Later than this, a time was missed.
const MISSED: Duration = Duration::from_secs(60);

/// What workers have a copy of, by the name they are told it under, and the method that tells it.
const MIRRORED: [(&str, &str); 3] = [
    ("settings", "settings_get"),
    ("models", "model_list"),
    ("personas", "persona_list"),
];

impl Plugins {
    /// Until `stop`; what has begun by then is given up.
    pub async fn keep_time(&self, stop: impl Future<Output = ()>) {
        // A task for each, so that a long handler holds up no other timer.
        let mut telling = JoinSet::new();
        let mut mirrored = None;
        let mut stop = std::pin::pin!(stop);
        loop {
            if let Err(error) = self.fire_due(&mut telling).await {
                tracing::warn!(%error, "could not read plugin timers");
            }
            self.mirror(&mut mirrored).await;
            while telling.try_join_next().is_some() {}
            tokio::select! {
                () = tokio::time::sleep(LONGEST) => {}
                () = &mut stop => return,
            }
        }
    }

    async fn fire_due(&self, telling: &mut JoinSet<()>) -> Result<(), StoreError> {
        let timers = self.store().timers();
        let now = Timestamp::now();
        for timer in timers.due_for_plugins(now).await? {
            // Without its plugins it waits, and is late when they come back.
            let Some(worker) = self.worker_for(&timer) else {
                continue;
            };
            let next = next(&timer, now);
            if !timers.claim(&timer, next).await? {
                continue;
            }
            let plugins = self.clone();
            telling.spawn(async move {
                let name = timer.name.clone();
                if let Err(error) = plugins.tell_due(&worker, timer).await {
                    let error = error.message;
                    tracing::warn!(name, error, "plugin timer failed");
                }
            });
        }
        Ok(())
    }

    /// The worker of the plugin that set it; if that is gone, the one its like share.
    fn worker_for(&self, timer: &PluginTimer) -> Option<Arc<Worker>> {
        self.worker_of(&timer.plugin).or_else(|| {
            let workers = self.workers().into_iter();
            let alike = workers.filter(|worker| worker.flavour() == timer.flavour);
            alike
                .into_iter()
                .filter(|worker| worker.has_plugins())
                .min_by_key(|worker| worker.name().len())
        })
    }

    async fn tell_due(&self, worker: &Arc<Worker>, timer: PluginTimer) -> Result<(), MethodError> {
        let late = Timestamp::now().duration_since(timer.due_at);
        let missed = Duration::try_from(late).is_ok_and(|late| late > MISSED);
        let payload = codec::decode(&timer.payload).unwrap_or(Value::Null);
        #[allow(clippy::cast_precision_loss, reason = "milliseconds since 1970")]
        let due = Value::Float(timer.due_at.as_millisecond() as f64 / 1000.0);
        let arguments: NamedValues = vec![
            ("plugin".to_owned(), text(timer.plugin.as_str())),
            ("id".to_owned(), text(timer.id.to_string())),
            ("name".to_owned(), text(timer.name.as_str())),
            ("payload".to_owned(), payload),
            ("session".to_owned(), text(timer.session.to_string())),
            ("due".to_owned(), due),
            ("missed".to_owned(), Value::Bool(missed)),
        ];
        let plugin = match timer.plugin.as_str() {
            "" => worker.name(),
            plugin => plugin,
        };
        let (told, shown) = (worker.clone(), arguments.clone());
        let work = |caller| async move {
            let answer = told.ask("timer", arguments, Some(&caller)).await?;
            Ok(answer)
        };
        self.on_record(worker, plugin, "timer", shown, work)
            .await
            .map(drop)
    }

    /// Tells running workers what has changed since `before`.
    async fn mirror(&self, before: &mut Option<NamedValues>) {
        let running = self.workers().into_iter().filter(|it| it.is_running());
        let running: Vec<Arc<Worker>> = running.collect();
        let Some(first) = running.first() else {
            return;
        };
        let caller = first.background("");
        let mut now: NamedValues = Vec::new();
        for (place, (name, method)) in (1..).zip(MIRRORED) {
            let told = self
                .gate()
                .call(&caller, place, method, Arguments::default());
            // Without an agent there are neither models nor settings.
            let value = told.await.map_or(Value::Null, |outcome| outcome.value);
            now.push((name.to_owned(), value));
        }
        if before.as_ref() == Some(&now) {
            return;
        }
        *before = Some(now.clone());
        for worker in running {
            if let Err(error) = worker.ask("settings", now.clone(), None).await {
                tracing::debug!(worker = worker.name(), %error, "a worker was not told of settings");
            }
        }
    }
}

/// Of one that comes again, the next time from now on: those that were missed come once.
pub fn next(timer: &PluginTimer, now: Timestamp) -> Option<Timestamp> {
    let cron = Cron::parse(timer.cron.as_deref()?).ok()?;
    let zone = cron::zone(timer.timezone.as_deref()).ok()?;
    cron.next(now, &zone)
}
