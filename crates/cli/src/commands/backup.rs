//! `callgate backup`, `verify` and `restore`: the data directory as a folder that can be kept elsewhere.

use std::process::ExitCode;

use callgate_service::{operations::CreateBackup, restore_backup, verify_backup};
use callgate_store::backup::{Backup as Made, DatabaseCopy, Restored, Settled, Verification};

use crate::{
    args::{Backup, Common, Restore, Verify},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn create(common: &Common, backup: Backup) -> Result<ExitCode, Failure> {
    let data = common.data();
    if !data.is_dir() {
        let error = format!("there is no data directory {}", data.display());
        return Err(Failure::new(error, "name the one to copy with --data DIR"));
    }
    let folder = backup.folder;
    let request = CreateBackup {
        // Whoever writes it may be somewhere else.
        folder: std::path::absolute(&folder).unwrap_or(folder),
    };
    let made = super::call(common, Purpose::Look, request).await?;
    common.show(&made, show_made);
    Ok(ExitCode::SUCCESS)
}

fn show_made(made: &Made) {
    show::line(&made.backup.display().to_string());
    show::note(&format!(
        "{}, {:.1} MB; check it with `callgate verify`",
        show::count(made.files, "file"),
        made.bytes as f64 / 1e6
    ));
    if made.database == DatabaseCopy::Postgresql {
        show::note(
            "the database is on PostgreSQL and not in it: dump it with \
             `pg_dump --format=custom --file=callgate.dump URL`, before the files",
        );
    }
    for left in &made.left_out {
        show::note(&format!("left out: {}: {}", left.path, left.reason));
    }
}

pub async fn verify(common: &Common, verify: &Verify) -> Result<ExitCode, Failure> {
    let found = verify_backup(&verify.folder).await?;
    common.show(&found, show_found);
    Ok(if found.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show_found(found: &Verification) {
    for problem in &found.problems {
        let word = paint(Colour::Red, "fail");
        show::line(&format!("{word}  {}", problem.what));
        show::line(&format!("      hint: {}", problem.hint));
    }
    if found.ok {
        show::line(&format!(
            "{}: of {}, by version {}, {}",
            paint(Colour::Bold, "sound"),
            found.made_at,
            found.callgate,
            show::count(found.files, "file"),
        ));
    }
}

pub async fn restore(common: &Common, restore: Restore) -> Result<ExitCode, Failure> {
    let Restore {
        folder,
        replace,
        database,
    } = restore;
    let restored = restore_backup(folder, common.data(), replace, database).await?;
    common.show(&restored, show_restored);
    Ok(ExitCode::SUCCESS)
}

fn show_restored(restored: &Restored) {
    show::line(&restored.data.display().to_string());
    show::note(&format!(
        "as of {}, {}",
        restored.made_at,
        show::count(restored.files, "file")
    ));
    let Settled {
        turns,
        runs,
        unknown_calls,
        approvals,
        messages,
        deliveries,
        timers,
    } = restored.ended;
    let ended = [
        (turns, "turn"),
        (runs, "run"),
        (unknown_calls, "unknown effect"),
        (approvals, "question"),
        (messages, "unanswered message"),
        (deliveries, "undelivered message"),
        (timers, "overdue timer"),
    ];
    let ended: Vec<String> = ended
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, one)| show::count(number, one))
        .collect();
    if !ended.is_empty() {
        show::note(&format!(
            "was under way and is not done again: {}",
            ended.join(", ")
        ));
    }
    if let Some(kept) = &restored.kept {
        show::note(&format!("what was there before is in {}", kept.display()));
    }
    show::note("packages of the sandbox and of plugins are not in a backup: install them again");
}
