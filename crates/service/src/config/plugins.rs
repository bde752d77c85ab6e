//! How plugins are hosted.

use std::{num::NonZero, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::count;

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plugins {
    pub source_packages: bool,
    pub folders: Vec<PathBuf>,
    pub local_addresses: Vec<String>,
    pub unwalled: bool,
    pub memory_mb: NonZero<u32>,
    pub prefer: Vec<String>,
}

impl Default for Plugins {
    fn default() -> Self {
        Plugins {
            source_packages: false,
            folders: Vec::new(),
            local_addresses: Vec::new(),
            unwalled: false,
            memory_mb: count(8_192),
            prefer: Vec::new(),
        }
    }
}
