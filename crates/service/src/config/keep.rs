//! [`Keep`]: for how long, and how much. Nothing is forgotten unless the operator says so.

use std::time::{Duration, SystemTime};

use callgate_store::{Retention, files::FileBounds};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// 0 is for ever, or any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    pub log_days: u32,
    pub log_megabytes: u32,
    pub turn_days: u32,
    pub spending_days: u32,
    pub outbox_days: u32,
    pub file_days: u32,
    pub file_megabytes: u32,
}

impl Keep {
    pub fn rows(self) -> Retention {
        let since = |days| Timestamp::try_from(since(days)?).ok();
        Retention {
            log_since: since(self.log_days),
            log_bytes: bytes(self.log_megabytes),
            turns_since: since(self.turn_days),
            spending_since: since(self.spending_days),
            outbox_since: since(self.outbox_days),
        }
    }

    pub fn files(self) -> FileBounds {
        FileBounds {
            since: since(self.file_days),
            bytes: bytes(self.file_megabytes),
        }
    }
}

fn since(days: u32) -> Option<SystemTime> {
    let ago = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    SystemTime::now().checked_sub(ago).filter(|_| days > 0)
}

fn bytes(megabytes: u32) -> Option<u64> {
    (megabytes > 0).then(|| u64::from(megabytes) << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_for_as_many_days_as_the_operator_says() {
        assert_eq!(Keep::default().files(), FileBounds::default());
        let keep = Keep {
            file_days: 30,
            ..Keep::default()
        };
        let age = keep.files().since.unwrap().elapsed().unwrap();
        assert_eq!(age.as_secs() / (24 * 60 * 60), 30);
    }
}
