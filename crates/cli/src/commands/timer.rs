//! `callgate timer`: what the bot says by itself.

use std::process::ExitCode;

use callgate_service::operations::{CancelTimer, ListTimers, PlanTimer, TimerView};
use callgate_store::TimerAct;
use serde_json::json;

use crate::{
    args::{Common, TimerArguments, TimerCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, timer: TimerArguments) -> Result<ExitCode, Failure> {
    match timer.command {
        TimerCommand::List => {
            let timers = super::list(common, Purpose::Look, |page| ListTimers { page }).await?;
            common.show(&timers, |timers| show_timers(timers));
        }
        TimerCommand::Add(new) => {
            let plan = PlanTimer {
                session: new.key,
                text: new.text,
                act: if new.ask {
                    TimerAct::Ask
                } else {
                    TimerAct::Say
                },
                at: new.at,
                repeat: new.repeat,
                zone: new.zone,
                regardless: new.regardless,
            };
            let planned = super::call(common, Purpose::Look, plan).await?;
            common.show(&planned, |planned: &TimerView| {
                let done = paint_note(Colour::Bold, "planned:");
                show::note(&format!("{done} {} at {}", planned.id, planned.due_at));
            });
        }
        TimerCommand::Remove { key, id } => {
            let cancel = CancelTimer {
                session: key,
                id: id.clone(),
            };
            super::call(common, Purpose::Look, cancel).await?;
            common.show(&json!({ "cancelled": id }), |_| {
                show::note(&format!("{} {id}", paint_note(Colour::Bold, "cancelled:")));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_timers(timers: &[TimerView]) {
    for timer in timers {
        let what = match timer.act {
            Some(TimerAct::Say) => "says".to_owned(),
            Some(TimerAct::Ask) => "asks".to_owned(),
            None => format!("set by {}", timer.user),
        };
        let again = timer.repeat.map(|repeat| format!(", {repeat}"));
        let again = again.unwrap_or_default();
        let id = paint(Colour::Bold, &timer.id);
        let text = show::shortened(&timer.text, 60);
        show::line(&format!(
            "{id}  {} in {}{again}\n   {what}: {text}",
            timer.due_at, timer.session
        ));
    }
    if timers.is_empty() {
        show::note("no timers wait");
    }
}
