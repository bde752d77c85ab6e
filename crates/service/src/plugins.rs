//! Plugins that a command was given, and new ones to begin with.

pub mod skeleton;

use callgate_plugins::{Source, survey::Survey};

/// A plugin to load, with what is known of it already.
#[derive(Clone, Debug)]
pub struct GivenPlugin {
    pub source: Source,
    pub survey: Survey,
    /// What could not be prepared for it.
    pub notes: Vec<String>,
}
