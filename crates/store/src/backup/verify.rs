//! Is a backup whole, and can this version read it? Everything is read, nothing is written.

use std::{
    collections::HashSet,
    fs,
    path::{Component, Path, PathBuf},
};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BackupError, DatabaseCopy, FILES, Manifest, blocking, references};
use crate::{
    StoreError,
    files::{TreeContent, TreeEntry, hash_file},
    migrations,
    open::DATABASE_FILE,
    sqlite,
    tx::Tx,
};

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Nothing is wrong with it.
    pub ok: bool,
    pub backup: PathBuf,
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    /// The version that made it.
    pub callgate: String,
    pub database: DatabaseCopy,
    pub files: u64,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Problem {
    fn damaged(what: String) -> Self {
        let hint = "use another backup; this one was changed or damaged after it was made";
        Problem {
            what,
            hint: hint.to_owned(),
        }
    }
}

pub async fn verify(backup: &Path) -> Result<Verification, BackupError> {
    let backup = backup.to_owned();
    blocking(move || Ok(examine(&backup)?.0)).await
}

pub(super) fn examine(backup: &Path) -> Result<(Verification, Manifest), BackupError> {
    let manifest = Manifest::read(backup)?;
    let mut problems = Vec::new();
    let mut files = 0;
    for entry in &manifest.entries {
        files += u64::from(matches!(entry.content, TreeContent::File { .. }));
        problems.extend(examine_entry(&backup.join(FILES), entry));
    }
    problems.extend(examine_database(backup, &manifest));
    let verification = Verification {
        ok: problems.is_empty(),
        backup: backup.to_owned(),
        made_at: manifest.made_at,
        callgate: manifest.callgate.clone(),
        database: manifest.database.clone(),
        files,
        problems,
    };
    Ok((verification, manifest))
}

fn examine_entry(files: &Path, entry: &TreeEntry) -> Option<Problem> {
    let TreeEntry { path, content, .. } = entry;
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.is_empty() || !Path::new(path).components().all(plain) {
        return Some(Problem::damaged(format!(
            "'{path}' leads out of the backup"
        )));
    }
    match content {
        TreeContent::File { bytes, sha256 } => {
            examine_file(&files.join(path), path, *bytes, sha256)
        }
        TreeContent::Folder | TreeContent::Link { .. } => None,
    }
}

fn examine_file(file: &Path, name: &str, bytes: u64, sha256: &str) -> Option<Problem> {
    let is_file = fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
    if !is_file {
        return Some(Problem::damaged(format!("{name} is missing")));
    }
    match hash_file(file) {
        Ok((found, hash)) if (found, hash.as_str()) == (bytes, sha256) => None,
        Ok(_) => Some(Problem::damaged(format!("{name} is not what was written"))),
        Err(error) => Some(Problem::damaged(format!("{name} cannot be read: {error}"))),
    }
}

fn examine_database(backup: &Path, manifest: &Manifest) -> Vec<Problem> {
    let DatabaseCopy::Sqlite { bytes, sha256, .. } = &manifest.database else {
        return Vec::new();
    };
    let file = backup.join(DATABASE_FILE);
    if let Some(problem) = examine_file(&file, DATABASE_FILE, *bytes, sha256) {
        return vec![problem];
    }
    let looked = sqlite::look(&file, |tx| examine_rows(tx, manifest));
    looked.unwrap_or_else(|error| {
        let what = format!("{DATABASE_FILE} cannot be read: {error}");
        vec![Problem::damaged(what)]
    })
}

fn examine_rows(tx: &mut dyn Tx, manifest: &Manifest) -> Result<Vec<Problem>, StoreError> {
    let (version, newest) = (migrations::version(tx)?, migrations::newest());
    if version > newest {
        return Ok(vec![Problem {
            what: format!(
                "{DATABASE_FILE} was made by a newer version of Callgate (its schema is {version}, \
                 this one knows {newest})"
            ),
            hint: format!("use version {} or a newer one", manifest.callgate),
        }]);
    }
    let damage = sqlite::damage(tx)?.into_iter();
    let mut problems: Vec<Problem> = damage
        .map(|line| Problem {
            what: format!("{DATABASE_FILE} is damaged: {line}"),
            hint: "it was so when it was copied: use an older backup".to_owned(),
        })
        .collect();
    if problems.is_empty() {
        let entries = manifest.entries.iter().map(|entry| &entry.path);
        let there: HashSet<&String> = entries.chain(&manifest.absent).collect();
        let named = references::referenced(tx)?.into_iter();
        let missing = named.filter(|path| !there.contains(path));
        problems.extend(
            missing.map(|path| {
                Problem::damaged(format!("{path} is named by the database and missing"))
            }),
        );
    }
    Ok(problems)
}
