//! The Python side of workers: carried in the binary and written below the data directory once per
//! version, where workers may read it and not change it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{environment, spawn};

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// `DIR/run/python-<hash>`, written now unless it is there.
pub fn unpack(data: &Path) -> io::Result<PathBuf> {
    let run = data.join("run");
    let place = run.join(format!("python-{}", version()));
    if place.is_dir() {
        return Ok(place);
    }
    // Complete before it has its name: another process may be starting too.
    let begun = run.join(format!(".python-{}", uuid::Uuid::now_v7()));
    for (name, content) in FILES {
        let file = begun.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, content)?;
    }
    match fs::rename(&begun, &place) {
        Err(_) if place.is_dir() => fs::remove_dir_all(&begun)?,
        renamed => renamed?,
    }
    remove_others(&run, &place);
    Ok(place)
}

/// The packages that workers of `flavour` import, compiled by `python` unless they are.
pub(crate) async fn compile(library: &Path, flavour: &str, python: &Path) -> io::Result<()> {
    let of_flavour = match flavour {
        "native" => "callgate",
        "nekro" => "nekro_agent",
        flavour => flavour,
    };
    let folders = ["callgate_worker", "callgate_guest", of_flavour];
    let folders = folders.map(|name| library.join(name));
    let folders: Vec<PathBuf> = folders.into_iter().filter(|it| it.is_dir()).collect();
    let interpreter =
        fs::canonicalize(environment::found(python)).unwrap_or_else(|_| python.to_owned());
    let interpreter = interpreter.display().to_string();
    let note = library.join(format!(".compiled-{of_flavour}"));
    if fs::read_to_string(&note).is_ok_and(|known| known == interpreter) {
        return Ok(());
    }
    spawn::compile(python, &folders).await?;
    fs::write(note, interpreter)
}

/// Of another version. Who still runs from one has long imported it.
fn remove_others(run: &Path, place: &Path) {
    for entry in fs::read_dir(run).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_string_lossy().starts_with("python-");
        if is_ours && entry.path() != place {
            // A folder that cannot be removed does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn version() -> String {
    let mut hash = Sha256::new();
    for (name, content) in FILES {
        for piece in [name.as_bytes(), content] {
            hash.update(piece.len().to_le_bytes());
            hash.update(piece);
        }
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_version_takes_the_place_of_the_old() {
        let data = tempfile::tempdir().unwrap();
        let old = data.path().join("run/python-0123456789abcdef");
        fs::create_dir_all(old.join("callgate_worker")).unwrap();
        let place = unpack(data.path()).unwrap();
        assert!(place.join("callgate_worker/main.py").is_file());
        assert!(!old.exists());
        assert_eq!(unpack(data.path()).unwrap(), place);
    }
}
