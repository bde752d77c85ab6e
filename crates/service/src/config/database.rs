//! `[database]`: where everything is stored, what a write survives, and when others take over.

use std::{num::NonZero, path::Path, time::Duration};

use callgate_store::{Durability, StoreOptions};
use serde::{Deserialize, Serialize};

use super::count;

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    pub url: Option<String>,
    pub durability: Survives,
    pub takeover_seconds: NonZero<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Survives {
    #[default]
    Process,
    Power,
}

impl Default for Database {
    fn default() -> Self {
        Database {
            url: None,
            durability: Survives::default(),
            takeover_seconds: count(15),
        }
    }
}

impl Database {
    pub(super) fn options(&self, data: &Path) -> StoreOptions {
        StoreOptions {
            url: self.url.clone(),
            durability: match self.durability {
                Survives::Process => Durability::Process,
                Survives::Power => Durability::Power,
            },
            term: Duration::from_secs(self.takeover_seconds.get().into()),
            ..StoreOptions::new(data)
        }
    }
}
