//! `callgate import`: what another system's folder holds, brought here.

use std::process::ExitCode;

use callgate_service::operations::{
    self, Fate, ImportLine, ImportReport, ImportView, ListImports, System, UndoImport,
};

use crate::{
    args::{Common, ImportArguments, ImportCommand, ImportFolder},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, import: ImportArguments) -> Result<ExitCode, Failure> {
    match import.command {
        ImportCommand::Astrbot(folder) => bring(common, System::Astrbot, folder).await,
        ImportCommand::Nekro(folder) => bring(common, System::Nekro, folder).await,
        ImportCommand::Newage(folder) => bring(common, System::Newage, folder).await,
        ImportCommand::List => {
            let imports = super::call(common, Purpose::Look, ListImports {}).await?;
            common.show(&imports.items, |imports| show_imports(imports));
            Ok(ExitCode::SUCCESS)
        }
        ImportCommand::Undo { id } => {
            let undone = super::call(common, Purpose::Work, UndoImport { id }).await?;
            Ok(tell(common, &undone))
        }
    }
}

async fn bring(common: &Common, system: System, import: ImportFolder) -> Result<ExitCode, Failure> {
    let ImportFolder {
        path,
        dry_run,
        with_secrets,
    } = import;
    let request = operations::ImportFolder {
        system,
        // Whoever reads it may be somewhere else.
        folder: std::path::absolute(&path).unwrap_or(path),
        dry_run,
        with_secrets,
    };
    let report = super::call(common, Purpose::Work, request).await?;
    Ok(tell(common, &report))
}

fn tell(common: &Common, report: &ImportReport) -> ExitCode {
    common.show(report, show_report);
    if report.items.iter().any(|line| line.fate == Fate::Failed) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn show_report(report: &ImportReport) {
    let rows: Vec<Vec<String>> = report.items.iter().map(row).collect();
    show::data(&show::table(&rows));
    let count = |fates: &[Fate]| {
        let items = report.items.iter();
        items.filter(|line| fates.contains(&line.fate)).count() as u64
    };
    let made = show::count(count(&[Fate::New, Fate::Changed]), "thing");
    let undone = count(&[Fate::Undone]);
    match report.id {
        _ if report.dry_run => show::note(&format!(
            "{made} would come; nothing was changed, leave out --dry-run to bring them"
        )),
        Some(id) if undone > 0 => show::note(&format!("import {id} is undone")),
        Some(id) => show::note(&format!(
            "{made} came; `callgate import undo {id}` takes them away again"
        )),
        None => show::note("there is nothing new"),
    }
}

fn row(line: &ImportLine) -> Vec<String> {
    let (word, colour) = match line.fate {
        Fate::New => ("new", Colour::Green),
        Fate::Changed => ("changed", Colour::Green),
        Fate::Same => ("same", Colour::Dim),
        Fate::Kept => ("kept", Colour::Yellow),
        Fate::LeftOut => ("left out", Colour::Yellow),
        Fate::Failed => ("failed", Colour::Red),
        Fate::Undone => ("undone", Colour::Green),
    };
    vec![
        paint(colour, word),
        show::word(&line.kind).replace('_', " "),
        line.name.clone(),
        line.detail.clone().unwrap_or_default(),
    ]
}

fn show_imports(imports: &[ImportView]) {
    let row = |import: &ImportView| {
        let undone = import.undone_at.map_or("", |_| "undone");
        vec![
            paint(Colour::Bold, &import.id.to_string()),
            import.system.clone(),
            show::count(import.items, "thing"),
            import.made_at.to_string(),
            import.folder.clone(),
            undone.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = imports.iter().map(row).collect();
    show::data(&show::table(&rows));
    if imports.is_empty() {
        show::note("nothing was imported");
    }
}
