//! Can this machine run the sandbox, and is the data directory sound? What fails says what to do.

mod models;
mod platforms;

use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use callgate_agent::RunReport;
use callgate_contract::{SessionKey, SessionType, Stop};
use callgate_sandbox::{Finding, Wall, probe};
use callgate_store::{DeliveryState, Store, Undelivered};

use crate::{
    Hint, Requester, Service, ServiceError, Settings,
    config::{Approval, Config, Database},
    operations::{Check, CheckStatus, DoctorReport, RunCode},
    packages,
    service::wall_advice,
};

/// Bytes; below this runs will soon fail for want of space.
const LOW_DISK: u64 = 1 << 30;
/// A disk that takes longer makes every effectful call with durability "power" slow.
const SLOW_SYNC: Duration = Duration::from_millis(20);
const SYNCS: usize = 16;
/// Messages that are named, of those nobody knows about.
const SHOWN: u32 = 10;

impl Check {
    fn ok(name: &str, detail: impl Into<String>) -> Self {
        Check {
            name: name.to_owned(),
            status: CheckStatus::Ok,
            detail: detail.into(),
            hint: None,
        }
    }

    fn fail(name: &str, failure: ServiceError) -> Self {
        Check {
            name: name.to_owned(),
            status: CheckStatus::Fail,
            detail: failure.message,
            hint: hint_text(failure.hint),
        }
    }

    fn warn(name: &str, detail: String, hint: &str) -> Self {
        Check {
            name: name.to_owned(),
            status: CheckStatus::Warn,
            detail,
            hint: Some(hint.to_owned()),
        }
    }
}

/// Everything that is looked at, for a data directory and its configuration.
pub async fn examine(data: &Path, config: &Config) -> DoctorReport {
    let mut checks: Vec<Check> = probe(config.sandbox.python.as_deref())
        .into_iter()
        .map(wall)
        .collect();
    checks.push(self_test(config).await);
    checks.push(plugin_wall(config).await);
    checks.push(packages_found(data));
    checks.extend(disk(data));
    checks.extend(database(data, config).await);
    checks.extend(models::check(config).await);
    checks.extend(platforms::check(config).await);
    DoctorReport {
        ok: checks.iter().all(|check| check.status != CheckStatus::Fail),
        checks,
    }
}

fn wall(finding: Finding) -> Check {
    let name = match finding.wall {
        Wall::UserNamespaces => "user namespaces",
        Wall::Seccomp => "seccomp",
        Wall::Landlock => "landlock",
        Wall::Cgroups => "cgroups",
        Wall::Python => "python",
    };
    let version = match finding.wall {
        Wall::Python if finding.ok => packages::python_version(Path::new(&finding.detail)),
        _ => None,
    };
    Check {
        name: name.to_owned(),
        status: match (finding.ok, finding.required) {
            (true, _) => CheckStatus::Ok,
            (false, true) => CheckStatus::Fail,
            (false, false) => CheckStatus::Warn,
        },
        detail: match version {
            Some(version) => format!("{version}, {}", finding.detail),
            None => finding.detail,
        },
        hint: finding.hint,
    }
}

const SELF_TEST: &str = r#"
import socket
print("called", now().year > 2000)
try:
    socket.socket()
    print("a socket was opened")
except OSError:
    print("refused")
"#;

/// The walls may all be there and still not hold together: real code in the real jail tells.
async fn self_test(config: &Config) -> Check {
    const NAME: &str = "self-test";
    let started = Instant::now();
    match try_sandbox(config).await {
        Ok(report)
            if report.stop == Stop::Finished && report.stdout == "called True\nrefused\n" =>
        {
            let ms = started.elapsed().as_millis();
            let what = format!("a call came through, a socket was refused ({ms} ms)");
            Check::ok(NAME, what)
        }
        Ok(report) => {
            let said = report.error.unwrap_or(report.stdout);
            let what = format!("the run ended with {}: {said}", report.stop);
            Check::fail(
                NAME,
                ServiceError::refused(what, "report this with the lines above"),
            )
        }
        Err(failure) => Check::fail(NAME, failure),
    }
}

async fn try_sandbox(config: &Config) -> Result<RunReport, ServiceError> {
    let broken = |error: &dyn std::fmt::Display| {
        let hint = "set TMPDIR to a directory that can be written";
        ServiceError::refused(format!("no temporary directory: {error}"), hint)
    };
    let directory = tempfile::tempdir().map_err(|error| broken(&error))?;
    let mut trial = Settings::at(directory.path().join("data"));
    trial.config = config.clone();
    trial.config.database = Database::default();
    trial.config.approval = Approval::default();
    let session = SessionKey::new("cli", SessionType::OtherMessage, "doctor");
    let request = RunCode {
        code: SELF_TEST.to_owned(),
        session: Some(session.map_err(|error| broken(&error))?),
        user: Some("doctor".to_owned()),
        timeout_seconds: Some(20),
        run: None,
    };
    let service = Service::open(&trial).await?;
    service.call(&Requester::Terminal, request).await
}

/// One real program behind the wall of plugins, and where that is switched off, whether it has to be.
async fn plugin_wall(config: &Config) -> Check {
    const NAME: &str = "plugin wall";
    let near = match config.near() {
        Ok(near) => near,
        Err(error) => return Check::fail(NAME, error),
    };
    let tried = tokio::task::spawn_blocking(|| callgate_plugins::try_wall(near)).await;
    let tried = tried.unwrap_or_else(|error| Err(error.to_string()));
    match (tried, config.plugins.unwalled) {
        (Ok(()), false) => match config.plugins.local_addresses.as_slice() {
            [] => Check::ok(
                NAME,
                "a program was put behind it; this machine's addresses are closed",
            ),
            open => Check::ok(
                NAME,
                format!(
                    "a program was put behind it; open to plugins: {}",
                    open.join(", ")
                ),
            ),
        },
        (Ok(()), true) => Check::warn(
            NAME,
            "switched off, and would stand here: plugins reach all that you do".to_owned(),
            "set plugins.unwalled = false",
        ),
        (Err(reason), true) => Check::warn(
            NAME,
            format!("switched off: plugins reach all that you do. Refused here: {reason}"),
            &callgate_sandbox::hint(&reason),
        ),
        (Err(reason), false) => Check::fail(
            NAME,
            ServiceError::refused(
                format!("no plugin runs without it: {reason}"),
                wall_advice(&reason),
            ),
        ),
    }
}

fn packages_found(data: &Path) -> Check {
    const NAME: &str = "packages";
    let packages = packages::list(data);
    match packages.len() {
        0 => Check::ok(
            NAME,
            "none; `callgate sandbox install common` adds the usual ones",
        ),
        count => {
            let names: Vec<String> = packages.into_iter().map(|package| package.name).collect();
            let names = shortened(&names.join(", "), 50);
            Check::ok(NAME, format!("{count}: {names}"))
        }
    }
}

/// Of the data directory, or of the place where it would be made.
fn disk(data: &Path) -> Vec<Check> {
    let absolute = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let Some(place) = absolute.ancestors().find(|place| place.is_dir()) else {
        return Vec::new();
    };
    let shown = place.display();
    let space = match rustix::fs::statvfs(place) {
        Err(error) => Check::fail("disk", unwritable(place, &error)),
        Ok(disk) => {
            let free = disk.f_bavail * disk.f_frsize;
            let detail = format!("{:.1} GB free in {shown}", free as f64 / 1e9);
            if free < LOW_DISK {
                Check::warn(
                    "disk",
                    detail,
                    "make room, or choose another data directory",
                )
            } else {
                Check::ok("disk", detail)
            }
        }
    };
    let sync = match sync_time(place) {
        Err(error) => Check::fail("fsync", unwritable(place, &error)),
        Ok(time) => {
            let detail = format!("{:.2} ms", time.as_secs_f64() * 1e3);
            if time > SLOW_SYNC {
                Check::warn(
                    "fsync",
                    detail,
                    "keep database.durability = \"process\", or use a faster disk",
                )
            } else {
                Check::ok("fsync", detail)
            }
        }
    };
    vec![space, sync]
}

fn unwritable(place: &Path, error: &dyn std::fmt::Display) -> ServiceError {
    ServiceError::refused(
        format!("{}: {error}", place.display()),
        "choose a directory that can be written with --data DIR",
    )
}

/// The middle of several, each of one small block as a journal writes it.
fn sync_time(place: &Path) -> std::io::Result<Duration> {
    let mut file = tempfile::tempfile_in(place)?;
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let started = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times.get(SYNCS / 2).copied().unwrap_or_default())
}

async fn database(data: &Path, config: &Config) -> Vec<Check> {
    const NAME: &str = "database";
    let engine = match config.database.url {
        None if !data.exists() => {
            let data = data.display();
            return vec![Check::ok(NAME, format!("SQLite, will be made in {data}"))];
        }
        None => "SQLite",
        Some(_) => "PostgreSQL",
    };
    let store = match Store::inspect(config.store(data)).await {
        Ok(store) => store,
        Err(error) => return vec![Check::fail(NAME, error.into())],
    };
    let sound = match store.damage().await {
        Ok(damage) if damage.is_empty() => Check::ok(NAME, format!("{engine}, opens and is sound")),
        Ok(damage) => Check::fail(
            NAME,
            ServiceError::refused(
                format!("damaged: {}", damage.join("; ")),
                "end the server, look at the disk, and restore the newest backup that `callgate \
                 verify` finds sound with `callgate restore`",
            ),
        ),
        Err(error) => Check::fail(NAME, error.into()),
    };
    [Some(sound), unsettled(&store).await]
        .into_iter()
        .flatten()
        .collect()
}

/// Messages of which nobody knows whether they were sent. Nothing is said where there are none.
async fn unsettled(store: &Store) -> Option<Check> {
    const NAME: &str = "outbox";
    let unknown = Some(DeliveryState::Unknown);
    // A database that cannot be read was said to be so.
    let found = store.outbox().undelivered(unknown, 0, SHOWN).await.ok()?;
    let named = |message: &Undelivered| format!("{} in {}", message.id, message.session);
    let named: Vec<String> = found.iter().map(named).collect();
    (!found.is_empty()).then(|| {
        Check::warn(
            NAME,
            format!("nobody knows whether these were sent: {}", named.join(", ")),
            "`callgate outbox list` shows them; send each again, or drop it",
        )
    })
}

/// What is said here is read on this machine's terminal and on the page alike.
fn hint_text(hint: Hint) -> Option<String> {
    match hint {
        Hint::Text(text) => Some(text),
        _ => None,
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most).collect();
    format!("{start}…")
}
