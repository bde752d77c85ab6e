//! [`KeptCode`]: a plugin's code as it last loaded. Where its files were changed so that they load no longer,
//! that version goes on, also across a restart.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Source, described::hash, install::copy, watch::FileSnapshot};

/// Bytes of a plugin's folder. Of one that is larger nothing is kept: it holds data, or models.
const MOST: u64 = 64 << 20;

/// What the files were, beside the copy.
const SNAPSHOT: &str = "snapshot";

/// A folder for each plugin, below the data directory.
#[derive(Clone, Debug)]
pub struct KeptCode(PathBuf);

impl KeptCode {
    pub fn new(data: &Path) -> Self {
        KeptCode(data.join("run").join("kept"))
    }

    /// Another version than what lies there now, and one that loaded.
    pub fn before(&self, source: &Source) -> Option<PathBuf> {
        let folder = self.folder(&source.path);
        let kept = fs::read_to_string(folder.join(SNAPSHOT)).ok()?;
        let code = folder.join(source.path.file_name()?);
        (kept != snapshot(&source.path) && code.exists()).then_some(code)
    }

    /// What lies there now has loaded. Blocks.
    pub fn keep(&self, source: &Source) -> io::Result<()> {
        let (path, folder) = (&source.path, self.folder(&source.path));
        let now = snapshot(path);
        let known = fs::read_to_string(folder.join(SNAPSHOT));
        let name = match path.file_name() {
            Some(name) if known.ok().as_ref() != Some(&now) => name,
            _ => return Ok(()),
        };
        self.forget(path)?;
        if size(path)? > MOST {
            return Ok(());
        }
        fs::create_dir_all(&folder)?;
        if path.is_dir() {
            copy(path, &folder.join(name))?;
        } else {
            fs::copy(path, folder.join(name))?;
        }
        // Last: a copy that was cut off counts for nothing.
        fs::write(folder.join(SNAPSHOT), now)
    }

    /// The plugin at `path` is gone.
    pub fn forget(&self, path: &Path) -> io::Result<()> {
        let folder = self.folder(path);
        // First: what is left of the rest counts for nothing.
        for gone in [
            fs::remove_file(folder.join(SNAPSHOT)),
            fs::remove_dir_all(&folder),
        ] {
            match gone {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn folder(&self, path: &Path) -> PathBuf {
        self.0.join(hash(&[&path.display().to_string()]))
    }
}

fn snapshot(path: &Path) -> String {
    format!("{:?}", FileSnapshot::at(path))
}

fn size(path: &Path) -> io::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        bytes += size(&entry?.path())?;
        if bytes > MOST {
            break;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loaded_is_there_once_the_files_are_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dice");
        fs::create_dir_all(path.join("inner")).unwrap();
        fs::write(path.join("inner/a.py"), "x").unwrap();
        let source = Source {
            path: path.clone(),
            flavour: "native".to_owned(),
            worker: "native".to_owned(),
            options: serde_json::Map::new(),
            kept: None,
        };
        let kept = KeptCode::new(folder.path());
        kept.keep(&source).unwrap();
        assert_eq!(kept.before(&source), None, "it is what lies there");
        fs::write(path.join("inner/a.py"), "xyz").unwrap();
        let before = kept.before(&source).unwrap();
        assert_eq!(before.file_name(), path.file_name());
        assert_eq!(fs::read_to_string(before.join("inner/a.py")).unwrap(), "x");
        kept.keep(&source).unwrap();
        assert_eq!(kept.before(&source), None);
        kept.forget(&path).unwrap();
        fs::write(path.join("inner/a.py"), "").unwrap();
        assert_eq!(kept.before(&source), None);
    }
}
