//! [`JobProgress`]: how far an installation is, read from what git, pip and uv say. What they do not say is not made up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobPhase {
    /// The plugin's own files.
    #[default]
    Fetching,
    /// What it needs.
    Packages,
    /// It is put in place and begins to run.
    Loading,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    pub phase: JobPhase,
    /// Of this phase, from 0 to 100, where it can be told.
    pub percent: Option<u8>,
    /// Fetched so far, in all phases.
    pub bytes: u64,
    /// Packages that were found or fetched, and how many there are in all, once that is known.
    pub packages: u32,
    pub total_packages: Option<u32>,
}

impl JobProgress {
    /// A line that a program or we ourselves said. True if it does nothing but count, and need not be kept.
    pub(super) fn hear(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("Receiving objects:") {
            self.percent = rest.trim().split('%').next().and_then(|it| it.parse().ok());
            if let Some(bytes) = rest.split(", ").nth(1).and_then(size) {
                self.bytes = bytes;
            }
            return true;
        }
        if [
            "remote: Counting",
            "remote: Compressing",
            "Resolving deltas:",
        ]
        .iter()
        .any(|it| line.starts_with(it))
        {
            return true;
        }
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("making" | "installing"), Some(_)) => self.enter(JobPhase::Packages),
            (Some("loading"), None) => self.enter(JobPhase::Loading),
            (Some("Collecting"), Some(_)) => self.packages += 1,
            // pip tells of metadata first, which is not the package.
            (Some("Downloading"), Some(name)) if !name.ends_with(".metadata") => {
                self.bytes += line
                    .rsplit_once('(')
                    .and_then(|(_, it)| size(it))
                    .unwrap_or_default();
            }
            (Some("Installing"), Some("collected")) => {
                let names = line.split_once(':').map_or("", |(_, names)| names);
                self.all(names.split(',').count());
            }
            // uv.
            (Some("Resolved"), Some(count)) => {
                self.total_packages = count.parse().ok();
            }
            (Some("Prepared" | "Installed"), Some(count)) => {
                self.all(count.parse().unwrap_or_default());
            }
            _ => {}
        }
        if let (JobPhase::Packages, Some(total)) =
            (self.phase, self.total_packages.filter(|it| *it > 0))
        {
            let percent = u64::from(self.packages.min(total)) * 100 / u64::from(total);
            self.percent = u8::try_from(percent).ok();
        }
        false
    }

    fn enter(&mut self, phase: JobPhase) {
        if self.phase != phase {
            self.percent = None;
        }
        self.phase = phase;
    }

    fn all(&mut self, packages: usize) {
        let packages = u32::try_from(packages).unwrap_or(u32::MAX);
        self.packages = packages;
        self.total_packages = Some(packages);
    }
}

/// Bytes of `1.2 MB`, `64 kB`, `3.4MiB` and the like.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(')');
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.')?;
    let (number, unit) = text.split_at_checked(end)?;
    let factor = match unit
        .trim()
        .split([' ', '|'])
        .next()?
        .to_ascii_lowercase()
        .as_str()
    {
        "bytes" | "b" => 1.0,
        "kb" | "kib" => 1024.0,
        "mb" | "mib" => 1024.0 * 1024.0,
        "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size for people"
    )]
    Some((number.parse::<f64>().ok()? * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> JobProgress {
        let mut progress = JobProgress::default();
        for line in lines {
            progress.hear(line);
        }
        progress
    }

    #[test]
    fn git_tells_how_much_it_has() {
        let progress = heard(&["Receiving objects:  45% (9/20), 1.50 MiB | 1.00 MiB/s"]);
        assert_eq!((progress.percent, progress.bytes), (Some(45), 3 << 19));
        assert!(JobProgress::default().hear("Receiving objects: 100% (20/20), done."));
    }

    #[test]
    fn pip_tells_how_many_packages_there_are() {
        let lines = [
            "installing requests",
            "Collecting requests",
            "Downloading requests-2.32.0-py3-none-any.whl.metadata (4.6 kB)",
            "Downloading requests-2.32.0-py3-none-any.whl (64 kB)",
            "Collecting idna",
        ];
        let progress = heard(&lines);
        assert_eq!(progress.phase, JobPhase::Packages);
        assert_eq!((progress.packages, progress.bytes), (2, 64 << 10));
        assert_eq!(progress.percent, None);
        let progress = heard(&[
            "installing x",
            "Installing collected packages: idna, requests",
        ]);
        assert_eq!(
            (progress.total_packages, progress.percent),
            (Some(2), Some(100))
        );
    }

    #[test]
    fn uv_and_we_ourselves_tell() {
        let progress = heard(&[
            "installing x",
            "Resolved 5 packages in 120ms",
            "Downloading numpy (1.5MiB)",
        ]);
        assert_eq!(
            (progress.total_packages, progress.percent),
            (Some(5), Some(0))
        );
        assert_eq!(progress.bytes, 3 << 19);
        assert_eq!(heard(&["loading"]).phase, JobPhase::Loading);
    }
}
