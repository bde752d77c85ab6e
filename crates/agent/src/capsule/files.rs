//! The session's files in a capsule: taken up to a bound, put back when a replay needs them, and
//! compared with what it made of them.

use std::collections::BTreeSet;

use callgate_contract::SessionKey;
use callgate_store::{
    Store,
    files::{EntryKind, FileError, Folder, SessionFolders},
};
use jiff::Timestamp;

use super::{
    CapsuleError, MAX_FILES,
    format::{Bytes, Capsule, FileRecord, FolderName, TurnRecord},
};

/// Files and folders that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// Folders in folders.
const MAX_LEVELS: usize = 16;

/// Smallest first, so that one large file does not keep all others out.
pub(super) async fn take(
    store: &Store,
    session: &SessionKey,
) -> Result<Vec<FileRecord>, CapsuleError> {
    let Some(known) = store.sessions().get(session).await? else {
        return Ok(Vec::new());
    };
    let folders = store.files().session(&known)?;
    let mut files = Vec::new();
    for (name, folder) in [
        (FolderName::Uploads, &folders.uploads),
        (FolderName::Shared, &folders.shared),
    ] {
        list(folder, name, String::new(), 0, &mut files)?;
    }
    files.sort_by_key(|file| file.size);
    let mut left = MAX_FILES;
    for file in &mut files {
        let folder = of(&folders, file.folder);
        // It may have grown, or gone, since it was listed.
        file.content = match folder.read(&file.name, left) {
            Ok(bytes) => Some(Bytes(bytes)),
            Err(_) => None,
        };
        if let Some(content) = &file.content {
            left -= content.0.len() as u64;
        }
    }
    files.sort_by(|one, other| (one.folder, &one.name).cmp(&(other.folder, &other.name)));
    Ok(files)
}

fn list(
    folder: &Folder,
    name: FolderName,
    beneath: String,
    level: usize,
    files: &mut Vec<FileRecord>,
) -> Result<(), FileError> {
    for entry in folder.list(&beneath, MAX_ENTRIES)? {
        let path = match beneath.as_str() {
            "" => entry.name,
            beneath => format!("{beneath}/{}", entry.name),
        };
        if files.len() >= MAX_ENTRIES {
            return Ok(());
        }
        match entry.kind {
            EntryKind::File => files.push(FileRecord {
                folder: name,
                name: path,
                size: entry.size,
                modified: Timestamp::try_from(entry.modified).unwrap_or(Timestamp::UNIX_EPOCH),
                content: None,
            }),
            EntryKind::Folder if level < MAX_LEVELS => {
                list(folder, name, path, level + 1, files)?;
            }
            EntryKind::Folder | EntryKind::Other => {}
        }
    }
    Ok(())
}

fn of(folders: &SessionFolders, name: FolderName) -> &Folder {
    match name {
        FolderName::Shared => &folders.shared,
        FolderName::Uploads => &folders.uploads,
    }
}

/// The files of a replay. Where code wrote a file it writes it again; what it found there, or what a
/// method put there whose effect is not repeated, has to be given to it in time.
pub(super) struct Shelf<'a> {
    folders: SessionFolders,
    waiting: Vec<&'a FileRecord>,
    /// Given, and so not the replay's own doing.
    given: BTreeSet<(FolderName, &'a str)>,
    cut: Vec<&'a FileRecord>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(folders: SessionFolders, capsule: &'a Capsule) -> Self {
        let (waiting, cut) = capsule
            .files
            .iter()
            .partition(|file| file.content.is_some());
        Shelf {
            folders,
            waiting,
            given: BTreeSet::new(),
            cut,
        }
    }

    /// What the capsule names and does not hold.
    pub(super) fn cut(&self) -> Vec<String> {
        self.cut.iter().map(|file| file.path()).collect()
    }

    /// Before something that began at `began` and ended at `ended`. `made` says whether what was
    /// last written at that time was written by what has been executed again, `named` whether this
    /// one's calls speak of a file.
    pub(super) fn give(
        &mut self,
        began: Timestamp,
        ended: Timestamp,
        made: impl Fn(Timestamp) -> bool,
        named: impl Fn(&str) -> bool,
    ) -> Result<(), CapsuleError> {
        let mut later = Vec::new();
        for file in std::mem::take(&mut self.waiting) {
            let last = file.name.rsplit('/').next().unwrap_or_default();
            let due = file.folder == FolderName::Uploads
                || file.modified < began
                || file.modified <= ended && named(last);
            if !due {
                later.push(file);
                continue;
            }
            let folder = of(&self.folders, file.folder);
            if made(file.modified) && folder.metadata(&file.name).is_ok() {
                continue;
            }
            if let Some((above, _)) = file.name.rsplit_once('/') {
                folder.create_dirs(above)?;
            }
            let content = file.content.as_ref().map(|content| content.0.as_slice());
            folder.write_atomic(&file.name, content.unwrap_or_default())?;
            self.given.insert((file.folder, &file.name));
        }
        self.waiting = later;
        Ok(())
    }

    /// The first file that was made otherwise than it was, and what is there instead. `made` as
    /// above: what nobody made again cannot differ.
    pub(super) fn difference(
        &self,
        capsule: &'a Capsule,
        made: impl Fn(Timestamp) -> bool,
    ) -> Option<(String, Vec<u8>, Option<Vec<u8>>)> {
        let own = |file: &&FileRecord| {
            made(file.modified) && !self.given.contains(&(file.folder, file.name.as_str()))
        };
        for file in capsule.files.iter().filter(own) {
            let Some(Bytes(expected)) = &file.content else {
                continue;
            };
            let found = of(&self.folders, file.folder).read(&file.name, MAX_FILES);
            match found {
                Ok(found) if found == *expected => {}
                found => return Some((file.path(), expected.clone(), found.ok())),
            }
        }
        None
    }
}

/// Do the calls of this turn, or of its code, speak of a file of that name?
pub(super) fn names(turn: &TurnRecord, file: &str) -> bool {
    let of_runs = turn.runs.iter().flat_map(|run| &run.calls);
    turn.calls
        .iter()
        .chain(of_runs)
        .any(|call| speaks(call, file))
}

pub(super) fn speaks(call: &super::format::CallRecord, file: &str) -> bool {
    let holds = |bytes: &[u8]| {
        let file = file.as_bytes();
        !file.is_empty() && bytes.windows(file.len()).any(|window| window == file)
    };
    let outcome = call.outcome.as_ref();
    let value = outcome.and_then(|outcome| outcome.value.as_ref());
    holds(&call.arguments.0)
        || value.is_some_and(|value| holds(&value.0))
        || outcome
            .and_then(|outcome| outcome.text.as_deref())
            .is_some_and(|text| holds(text.as_bytes()))
}
