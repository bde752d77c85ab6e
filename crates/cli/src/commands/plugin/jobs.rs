//! Installations of the server: followed to their end, listed, cancelled.

use std::{process::ExitCode, time::Duration};

use callgate_server::control::call_running;
use callgate_service::{
    Job, JobPhase, JobState, Settings,
    operations::{CancelJob, GetJob, InstallResult, ListJobs},
};

use super::super::run::interrupted;
use crate::{
    args::Common,
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

/// Between two looks at a job.
const LOOK: Duration = Duration::from_millis(200);

pub async fn list(common: &Common) -> Result<ExitCode, Failure> {
    let jobs = crate::commands::list(common, Purpose::Look, |page| ListJobs { page }).await?;
    common.show(&jobs, |jobs| {
        let row = |job: &Job| {
            vec![
                job.id.clone(),
                show::word(&job.state),
                job.title.clone(),
                far(job),
            ]
        };
        let rows: Vec<Vec<String>> = jobs.iter().map(row).collect();
        show::data(&show::table(&rows));
        if jobs.is_empty() {
            show::note("nothing was installed since the server began");
        }
    });
    Ok(ExitCode::SUCCESS)
}

pub async fn cancel(common: &Common, id: String) -> Result<ExitCode, Failure> {
    let job = crate::commands::call(common, Purpose::Look, CancelJob { id }).await?;
    common.show(&job, |job| {
        let what = match job.state {
            JobState::Running => "cancelling",
            JobState::Done | JobState::Failed | JobState::Cancelled => "it was over already:",
        };
        show::line(&format!("{what} {}", paint(Colour::Bold, &job.title)));
    });
    Ok(ExitCode::SUCCESS)
}

/// Shows how far it is until it is over; an interrupt cancels it.
pub async fn follow(settings: &Settings, begun: Job) -> Result<InstallResult, Failure> {
    let shown = show::spinner("installing");
    let id = begun.id.clone();
    let mut interrupt = std::pin::pin!(interrupted());
    let mut heard = false;
    let ended = loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            asked = &mut interrupt, if !heard => {
                heard = true;
                if asked {
                    let cancel = CancelJob { id: id.clone() };
                    call_running(&settings.data, &cancel).await?;
                }
            }
        }
        let job = call_running(&settings.data, &GetJob { id: id.clone() }).await?;
        let Some(job) = job else {
            shown.finish_and_clear();
            return Err(Failure::new(
                "the server ended while it was installing",
                "start it, and see with `callgate plugin list` whether it is there",
            ));
        };
        if job.state != JobState::Running {
            break job;
        }
        let line = job.lines.back().map_or("", String::as_str);
        shown.set_message(format!("{} {line}", far(&job)));
    };
    shown.finish_and_clear();
    match (ended.result, ended.error) {
        (Some(result), _) => Ok(result),
        (None, Some(error)) => Err(Failure::new(error.error, error.hint)),
        (None, None) => Err(Failure::new(
            "nothing is known of what came of it",
            "see `callgate plugin list`",
        )),
    }
}

/// As `installing packages, 3 of 12, 45%`.
fn far(job: &Job) -> String {
    let progress = &job.progress;
    let phase = match progress.phase {
        JobPhase::Fetching => "fetching",
        JobPhase::Packages => "installing packages",
        JobPhase::Loading => "loading",
    };
    let mut told = vec![phase.to_owned()];
    match progress.total_packages {
        Some(total) => told.push(format!("{} of {total}", progress.packages)),
        None if progress.packages > 0 => {
            told.push(show::count(progress.packages.into(), "package"))
        }
        None => {}
    }
    if progress.bytes > 0 {
        let megabytes = progress.bytes / 100_000;
        told.push(format!("{}.{} MB", megabytes / 10, megabytes % 10));
    }
    told.extend(progress.percent.map(|percent| format!("{percent}%")));
    told.join(", ")
}
