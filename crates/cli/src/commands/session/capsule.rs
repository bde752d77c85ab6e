//! `callgate session export` and `replay`: a chat as one file, and what comes of executing it again.

use std::{fs::File, io::BufReader, path::PathBuf, process::ExitCode};

use callgate_agent::capsule::{Difference, Replayed};
use serde_json::Value as Json;

use callgate_service::{
    operations::{ExportSession as ExportRequest, ExportedSession},
    read_capsule, replay_capsule,
};

use crate::{
    args::{Common, ExportSession, ReplaySession},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

/// Characters of each side of a difference that are shown; `--json` has all of it.
const SHOWN: usize = 2_000;

pub async fn export(common: &Common, export: &ExportSession) -> Result<ExitCode, Failure> {
    let file = match &export.file {
        Some(file) => file.clone(),
        None => PathBuf::from(format!("{}.capsule", plain(export.key.id()))),
    };
    let request = ExportRequest {
        session: export.key.clone(),
        turn: export.turn,
        // Whoever writes it may be somewhere else.
        file: std::path::absolute(&file).unwrap_or(file),
    };
    let exported = crate::commands::call(common, Purpose::Look, request).await?;
    common.show(&exported, show_exported);
    Ok(ExitCode::SUCCESS)
}

fn show_exported(exported: &ExportedSession) {
    show::line(&exported.file.display().to_string());
    show::note(&format!(
        "{}, {}, {}; execute it again with `callgate session replay FILE`",
        show::count(exported.turns as u64, "turn"),
        show::count(exported.runs as u64, "run"),
        show::count(exported.files as u64, "file"),
    ));
    for left in &exported.left_out {
        show::note(&format!(
            "left out: {} of {} bytes, beyond the 16 MB of files that a capsule holds",
            left.path, left.bytes
        ));
    }
}

/// A file's name from a chat's.
fn plain(id: &str) -> String {
    let letter = |c: char| {
        if c.is_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = id.chars().take(60).map(letter).collect();
    if name.is_empty() {
        "session".to_owned()
    } else {
        name
    }
}

pub async fn replay(common: &Common, replay: &ReplaySession) -> Result<ExitCode, Failure> {
    let opened = File::open(&replay.file).map_err(|error| {
        let hint = "give a file that `callgate session export` wrote";
        let file = replay.file.display();
        Failure::new(format!("cannot read {file}: {error}"), hint)
    })?;
    let capsule = read_capsule(BufReader::new(opened), replay.turn)?;
    let settings = common.settings()?;
    let data = common.data.as_ref().map(|_| settings.data.as_path());
    let replayed = replay_capsule(&settings.config, &settings.data, data, &capsule).await?;
    common.show(&replayed, tell);
    Ok(if replayed.equal {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn tell(replayed: &Replayed) {
    for note in &replayed.notes {
        show::note(note);
    }
    let Replayed {
        turns, runs, calls, ..
    } = replayed;
    let done = [(turns, "turn"), (runs, "run"), (calls, "call")];
    let done = done
        .map(|(number, one)| show::count(*number, one))
        .join(", ");
    match &replayed.difference {
        None => show::line(&format!("{}: {done}", paint(Colour::Bold, "equal"))),
        Some(difference) => {
            let place = place(difference);
            show::line(&format!("{}: {place}", paint(Colour::Bold, "different")));
            show::line(&format!("expected: {}", side(&difference.expected)));
            show::line(&format!("found:    {}", side(&difference.found)));
            show::note(&format!("executed up to here: {done}"));
        }
    }
}

fn place(difference: &Difference) -> String {
    let place = &difference.place;
    let mut words = Vec::new();
    words.extend(place.turn.map(|turn| format!("turn {}", turn.0)));
    words.extend(place.round.map(|round| format!("round {round}")));
    words.extend(place.run.map(|run| format!("run {}", run.0)));
    words.extend(place.call.map(|call| format!("call {call}")));
    words.extend(place.file.clone());
    format!("{} of {}", difference.what, words.join(", "))
}

fn side(json: &Json) -> String {
    match json {
        Json::Null => "nothing".to_owned(),
        Json::String(text) => show::shortened(text, SHOWN),
        json => show::shortened(&json.to_string(), SHOWN),
    }
}
