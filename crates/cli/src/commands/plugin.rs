//! `callgate plugin`: what is installed, and the tools for those who write plugins. Checking and
//! testing need no data directory: they work in a temporary one.

mod check;
mod config;
mod install;
mod jobs;
mod new;
mod test;
mod workshop;

use std::process::ExitCode;

use crate::{
    args::{Common, Plugin, PluginCommand},
    failure::Failure,
};

pub async fn perform(common: &Common, plugin: Plugin) -> Result<ExitCode, Failure> {
    match plugin.command {
        PluginCommand::List => install::list(common).await,
        PluginCommand::Check(check) => check::perform(common, check).await,
        PluginCommand::Test(test) => test::perform(common, test).await,
        PluginCommand::New(new) => new::perform(common, new),
        PluginCommand::Install(install) => install::perform(common, install).await,
        PluginCommand::Remove { name } => install::remove(common, &name).await,
        PluginCommand::Enable { name } => install::enable(common, &name, true).await,
        PluginCommand::Disable { name } => install::enable(common, &name, false).await,
        PluginCommand::Reload { name } => install::reload(common, name).await,
        PluginCommand::Jobs => jobs::list(common).await,
        PluginCommand::Cancel { id } => jobs::cancel(common, id).await,
        PluginCommand::Config(config) => config::perform(common, config).await,
    }
}
