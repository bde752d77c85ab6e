//! `callgate doctor`: can this machine run the sandbox, and is the data directory sound? Each
//! check is one line; what fails says what to do.

use std::{
    io::Write,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use callgate_agent::RunReport;
use callgate_contract::{JournalId, SessionKey, SessionType, Stop};
use callgate_sandbox::{Finding, Wall, probe};
use callgate_store::Store;
use serde::Serialize;
use serde_json::json;

use crate::{
    app::{App, Live, Settings},
    args::Common,
    config::{Approval, Config, Database},
    failure::Failure,
    packages,
    request::{Request, RunCode},
    show::{self, Colour, paint},
};

/// Bytes; below this runs will soon fail for want of space.
const LOW_DISK: u64 = 1 << 30;
/// A disk that takes longer makes every effectful call with durability "power" slow.
const SLOW_SYNC: Duration = Duration::from_millis(20);
const SYNCS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub status: Status,
    pub detail: String,
    pub hint: Option<String>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Check {
            name,
            status: Status::Ok,
            detail: detail.into(),
            hint: None,
        }
    }

    fn fail(name: &'static str, failure: Failure) -> Self {
        Check {
            name,
            status: Status::Fail,
            detail: failure.error,
            hint: Some(failure.hint),
        }
    }

    fn warn(name: &'static str, detail: String, hint: &str) -> Self {
        Check {
            name,
            status: Status::Warn,
            detail,
            hint: Some(hint.to_owned()),
        }
    }
}

pub async fn perform(common: &Common) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let checks = examine(&settings.data, &settings.config).await;
    let ok = checks.iter().all(|check| check.status != Status::Fail);
    match common.json {
        true => show::json(&json!({ "ok": ok, "checks": checks })),
        false => show_checks(&checks, ok),
    }
    Ok(match ok {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Everything that is looked at, for a data directory and its configuration.
pub async fn examine(data: &Path, config: &Config) -> Vec<Check> {
    let mut checks: Vec<Check> = probe(config.sandbox.python.as_deref())
        .into_iter()
        .map(wall)
        .collect();
    checks.push(self_test(config).await);
    checks.push(packages_found(data));
    checks.extend(disk(data));
    checks.push(database(data, config).await);
    checks
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
        name,
        status: match (finding.ok, finding.required) {
            (true, _) => Status::Ok,
            (false, true) => Status::Fail,
            (false, false) => Status::Warn,
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
            Check::fail(NAME, Failure::new(what, "report this with the lines above"))
        }
        Err(failure) => Check::fail(NAME, failure),
    }
}

async fn try_sandbox(config: &Config) -> Result<RunReport, Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        let hint = "set TMPDIR to a directory that can be written";
        Failure::new(format!("no temporary directory: {error}"), hint)
    };
    let directory = tempfile::tempdir().map_err(|error| broken(&error))?;
    let mut trial = Settings {
        data: directory.path().join("data"),
        file: directory.path().join("callgate.toml"),
        config: config.clone(),
        model: None,
        only_model: None,
        plugins: Vec::new(),
        given: Vec::new(),
    };
    trial.config.database = Database::default();
    trial.config.approval = Approval::default();
    let session = SessionKey::new("cli", SessionType::OtherMessage, "doctor");
    let request = Request::Run(RunCode {
        run: JournalId::fresh(),
        code: SELF_TEST.to_owned(),
        session: session.map_err(|error| broken(&error))?,
        user: "doctor".to_owned(),
        timeout_seconds: Some(20),
    });
    let app = App::open(&trial).await?;
    super::read(app.answer(request, Live::default()).await?)
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
            let names = show::shortened(&names.join(", "), 50);
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
            match free < LOW_DISK {
                true => Check::warn("disk", detail, "make room, or choose another --data DIR"),
                false => Check::ok("disk", detail),
            }
        }
    };
    let sync = match sync_time(place) {
        Err(error) => Check::fail("fsync", unwritable(place, &error)),
        Ok(time) => {
            let detail = format!("{:.2} ms", time.as_secs_f64() * 1e3);
            match time > SLOW_SYNC {
                true => Check::warn(
                    "fsync",
                    detail,
                    "keep database.durability = \"process\", or use a faster disk",
                ),
                false => Check::ok("fsync", detail),
            }
        }
    };
    vec![space, sync]
}

fn unwritable(place: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(
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

async fn database(data: &Path, config: &Config) -> Check {
    const NAME: &str = "database";
    let engine = match config.database.url {
        None if !data.exists() => {
            let data = data.display();
            return Check::ok(NAME, format!("SQLite, will be made in {data}"));
        }
        None => "SQLite",
        Some(_) => "PostgreSQL",
    };
    match Store::inspect(config.store(data)).await {
        Ok(_) => Check::ok(NAME, format!("{engine}, opens")),
        Err(error) => Check::fail(NAME, error.into()),
    }
}

fn show_checks(checks: &[Check], ok: bool) {
    for check in checks {
        let (word, colour) = match check.status {
            Status::Ok => ("ok  ", Colour::Green),
            Status::Warn => ("warn", Colour::Yellow),
            Status::Fail => ("fail", Colour::Red),
        };
        let word = paint(colour, word);
        show::line(&format!("{word}  {:<16} {}", check.name, check.detail));
        if let Some(hint) = &check.hint {
            show::line(&format!("      hint: {hint}"));
        }
    }
    show::line(match ok {
        true => "\nThis machine can run the sandbox.",
        false => "\nThe sandbox cannot run here until what failed is fixed.",
    });
}
