//! [`WorkerChannels`]: one process of a worker, from its start to its end. It is watched from outside: a loop
//! that no longer answers is shown by its stacks, ended, and blamed on the plugin that held it.

mod answering;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    os::unix::{fs::MetadataExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    process::Child,
    sync::watch,
    time::{Instant, timeout, timeout_at},
};

use self::answering::Blocked;
use crate::{
    blame,
    control::Control,
    link::Link,
    wall::{NO_WALL, Wall},
};

/// How long stacks may take to be written.
const DUMP: Duration = Duration::from_secs(1);

/// How a worker's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    pub(crate) reason: String,
    /// The plugin that was at work.
    pub(crate) blamed: Option<String>,
    /// Another process would end the same way.
    pub(crate) is_final: bool,
}

/// A file or folder as it was at a moment. What a worker is shown is that very one: a folder that has
/// since taken its place is another, whatever its name.
#[derive(PartialEq, Eq)]
struct Place {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Place {
    fn at(path: PathBuf) -> Self {
        let found = std::fs::metadata(&path).ok();
        let identity = found.map(|found| (found.dev(), found.ino()));
        Place { path, identity }
    }
}

pub(crate) struct WorkerChannels {
    pub(crate) main: Arc<Link>,
    pub(crate) lane: Arc<Link>,
    pid: Option<Pid>,
    /// Its plugins and where their code lies, as far as they are loaded or being loaded.
    plugins: Mutex<Vec<(String, PathBuf)>>,
    /// Calls that plugins are answering, by number. A mutex held for a map operation.
    busy: Mutex<BTreeMap<u64, String>>,
    next: AtomicU64,
    /// Loading and installing may hold the loop for as long as they take.
    patient: AtomicUsize,
    death: watch::Sender<Option<Death>>,
    control: Control,
    wall: Wall,
    /// What this process is shown of plugins. A mutex held for a look.
    inside: Mutex<Vec<Place>>,
    /// Addresses of ours that it may reach. A mutex held for a look.
    reached: Mutex<Vec<SocketAddr>>,
    advice: fn(&str) -> String,
}

impl WorkerChannels {
    /// `pid` is that of the process which keeps the wall.
    pub(crate) fn new(
        [main, lane]: [Arc<Link>; 2],
        pid: Option<u32>,
        control: Control,
        wall: Wall,
        advice: fn(&str) -> String,
    ) -> Self {
        let pid = pid.and_then(|pid| i32::try_from(pid).ok());
        // Of a folder that holds the data directory, only what lies beside that is shown, as it lay.
        let places = wall.writable.iter().cloned();
        let places = places.filter(|it| !wall.hidden.starts_with(it));
        WorkerChannels {
            main,
            lane,
            pid: pid.and_then(Pid::from_raw),
            plugins: Mutex::default(),
            busy: Mutex::default(),
            next: AtomicU64::new(0),
            patient: AtomicUsize::new(0),
            death: watch::Sender::new(None),
            control,
            inside: Mutex::new(places.map(Place::at).collect()),
            reached: Mutex::default(),
            wall,
            advice,
        }
    }

    /// Lets this process open what lies at `path` now, if it cannot yet. False where that takes another
    /// process.
    pub(crate) async fn show(&self, path: &Path) -> bool {
        if self.may_open(path) {
            return true;
        }
        let Some(order) = self.wall.order_for(path) else {
            return false;
        };
        let place = Place::at(path.to_owned());
        if let Err(error) = self.control.order(&order).await {
            tracing::debug!(path = %path.display(), %error, "a worker cannot be shown a folder");
            return false;
        }
        let mut inside = self.inside.lock();
        inside.retain(|known| known.path != place.path);
        inside.push(place);
        true
    }

    pub(crate) async fn let_reach(&self, address: SocketAddr) {
        if self.reached.lock().contains(&address) {
            return;
        }
        match self.control.order(&Wall::order_to_open(address)).await {
            Ok(()) => self.reached.lock().push(address),
            Err(error) => tracing::warn!(%address, %error, "a worker cannot be let reach us"),
        }
    }

    fn may_open(&self, path: &Path) -> bool {
        let inside = self.inside.lock();
        let leads_there = |place: &&Place| path.starts_with(&place.path);
        let mut places = inside.iter().filter(leads_there);
        places.any(|place| Place::at(place.path.clone()) == *place)
    }

    /// Of the worker itself: the youngest child of the process that keeps its wall.
    pub(crate) fn pid(&self) -> Option<u32> {
        let keeper = self.pid?.as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children"));
        children.ok()?.split_whitespace().last()?.parse().ok()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.main.closed().is_some() || self.death.borrow().is_some()
    }

    /// How it ended. To be awaited when it is known to have ended or to be about to.
    pub(crate) async fn death(&self) -> Death {
        let mut death = self.death.subscribe();
        let known = timeout(Duration::from_secs(5), death.wait_for(Option::is_some)).await;
        let unknown = || Death {
            reason: self
                .main
                .closed()
                .unwrap_or("it closed its channel")
                .to_owned(),
            blamed: None,
            is_final: false,
        };
        match known {
            Ok(Ok(death)) => death.clone().unwrap_or_else(unknown),
            _ => unknown(),
        }
    }

    /// Returns when it has ended.
    pub(crate) async fn over(&self) {
        let _ = self.death.subscribe().wait_for(Option::is_some).await;
    }

    pub(crate) fn knows(&self, plugin: &str, path: PathBuf) {
        let mut plugins = self.plugins.lock();
        plugins.retain(|(_, known)| *known != path);
        plugins.push((plugin.to_owned(), path));
    }

    /// While the guard lives, `plugin` is at work.
    pub(crate) fn busy(&self, plugin: &str) -> Busy<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.busy.lock().insert(number, plugin.to_owned());
        Busy { live: self, number }
    }

    /// While the guard lives, nobody minds a loop that does not answer.
    pub(crate) fn patient(self: &Arc<Self>) -> Patient {
        self.patient.fetch_add(1, Ordering::Relaxed);
        Patient(self.clone())
    }

    pub(crate) fn kill(&self) {
        if let Some(pid) = self.pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Until the process has ended. `ping` is how often it is asked, `patience` how long it may take
    /// to answer.
    pub(crate) async fn watch(
        &self,
        mut child: Child,
        mut dump: pipe::Receiver,
        ping: Duration,
        patience: Duration,
    ) -> Death {
        let death = tokio::select! {
            status = child.wait() => {
                let written = read_dump(&mut dump, Duration::from_millis(50)).await;
                match self.unwalled(status.as_ref().ok()).await {
                    Some(death) => death,
                    None => self.ended_by_itself(status.ok(), &written),
                }
            }
            blocked = self.blocked(&mut dump, ping, patience) => {
                let death = self.hung(&blocked);
                self.kill();
                let _ = child.wait().await;
                death
            }
        };
        // What it has started itself must not outlive it.
        self.kill();
        self.death.send_replace(Some(death.clone()));
        self.main.close(&death.reason);
        self.lane.close(&death.reason);
        death
    }

    async fn stacks(&self, dump: &mut pipe::Receiver) -> String {
        if let Some(pid) = self.pid {
            let _ = kill_process(pid, Signal::USR1);
        }
        read_dump(dump, DUMP).await
    }

    fn hung(&self, blocked: &Blocked) -> Death {
        let stacks = &blocked.stacks;
        tracing::warn!(stacks, "plugin worker unresponsive; killing it");
        let seconds = blocked.limit.as_secs_f64();
        match blame::find(stacks, &self.plugins.lock()) {
            Some(blame::CodePlace { plugin, line }) => Death {
                reason: format!("plugin '{plugin}' blocked it for {seconds} s, at {line}"),
                blamed: Some(plugin),
                is_final: false,
            },
            None => Death {
                reason: format!("it did not answer for {seconds} s"),
                blamed: self.suspect(),
                is_final: false,
            },
        }
    }

    /// It never began, since it would have had no wall.
    async fn unwalled(&self, status: Option<&ExitStatus>) -> Option<Death> {
        status.filter(|status| status.code() == Some(NO_WALL))?;
        let why = self.control.last_words().await?;
        let advice = (self.advice)(&why);
        Some(Death {
            reason: format!("plugins run behind a wall or not at all, and {why}; {advice}"),
            blamed: None,
            is_final: true,
        })
    }

    fn ended_by_itself(&self, status: Option<ExitStatus>, written: &str) -> Death {
        let how = match (
            status.and_then(|status| status.code()),
            status.and_then(|status| status.signal()),
        ) {
            (Some(code), _) => format!("it exited with code {code}"),
            (_, Some(9)) => "it was killed (signal 9), perhaps for want of memory".to_owned(),
            (_, Some(signal)) => format!("it was killed by signal {signal}"),
            _ => "nobody knows why".to_owned(),
        };
        let place = blame::find(written, &self.plugins.lock());
        let suspect = place.map(|place| place.plugin).or_else(|| self.suspect());
        Death {
            reason: match &suspect {
                Some(plugin) => format!("{how} while plugin '{plugin}' was at work"),
                None => how,
            },
            blamed: suspect,
            is_final: false,
        }
    }

    /// Whose call is the newest.
    fn suspect(&self) -> Option<String> {
        let busy = self.busy.lock();
        busy.last_key_value().map(|(_, plugin)| plugin.clone())
    }
}

pub(crate) struct Busy<'a> {
    live: &'a WorkerChannels,
    number: u64,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        // Of a dead process the guards stay in place until the death is described.
        if !self.live.is_over() {
            self.live.busy.lock().remove(&self.number);
        }
    }
}

pub(crate) struct Patient(Arc<WorkerChannels>);

impl Drop for Patient {
    fn drop(&mut self) {
        self.0.patient.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is written within `limit`, until it is silent for a moment.
async fn read_dump(dump: &mut pipe::Receiver, limit: Duration) -> String {
    let until = Instant::now() + limit;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 16 << 10];
    let mut wait = until;
    while let Ok(Ok(count @ 1..)) = timeout_at(wait, dump.read(&mut chunk)).await {
        bytes.extend_from_slice(&chunk[..count]);
        wait = until.min(Instant::now() + Duration::from_millis(50));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
