//! `callgate platform`: chats that Callgate is connected to.

use std::process::ExitCode;

use callgate_service::operations::{
    AddPlatform, ListPlatforms, PlatformView, RemovePlatform, TestPlatform,
};

use crate::{
    args::{Common, PlatformArguments, PlatformCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, platform: PlatformArguments) -> Result<ExitCode, Failure> {
    match platform.command {
        PlatformCommand::List => {
            let platforms = super::call(common, Purpose::Look, ListPlatforms {}).await?;
            common.show(&platforms.items, |platforms| show_all(platforms));
        }
        PlatformCommand::Add(new) => {
            let platform = new.entry();
            let added = super::call(common, Purpose::Look, AddPlatform { platform }).await?;
            common.show(&added, |added| {
                show_one(added);
                show::note(match added.status {
                    Some(_) => "connect its program now; `callgate platform test` waits for it",
                    None => "it is connected by the next `callgate serve`",
                });
            });
        }
        PlatformCommand::Test { id } => {
            let tested = super::call(common, Purpose::Look, TestPlatform { id }).await?;
            common.show(&tested, show_one);
            let status = tested.status.unwrap_or_default();
            if status.accounts.is_empty() {
                let reason = status
                    .last_error
                    .unwrap_or("no bot has connected".to_owned());
                let hint = "docs/platforms.md shows what to set in the platform's program";
                return Err(Failure::new(reason, hint));
            }
        }
        PlatformCommand::Remove { id } => {
            let removed = super::call(common, Purpose::Look, RemovePlatform { id }).await?;
            common.show(&removed, |removed| {
                show::note(&format!(
                    "removed: platform {}; its chats stay",
                    removed.deleted
                ));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_all(platforms: &[PlatformView]) {
    for platform in platforms {
        show_one(platform);
    }
    if platforms.is_empty() {
        show::note("no platforms yet: see `callgate platform add --help`");
    }
}

fn show_one(platform: &PlatformView) {
    let entry = &platform.entry;
    let place = [&entry.listen, &entry.url].map(Option::as_deref);
    let place = place.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let id = paint(Colour::Bold, &entry.id);
    show::line(&format!("{id}  {}  {place}", entry.kind.name()));
    let Some(status) = &platform.status else {
        show::line("   not connected: no server runs");
        return;
    };
    for account in &status.accounts {
        let (name, program) = (&account.name, &account.program);
        show::line(&format!("   connected: {} {name}  {program}", account.id));
    }
    if status.accounts.is_empty() {
        show::line("   nobody is connected yet");
    }
    show::line(&format!(
        "   {} messages in, {} out",
        status.received, status.sent
    ));
    if let Some(error) = &status.last_error {
        show::line(&format!("   last error: {error}"));
    }
}
