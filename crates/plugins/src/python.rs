//! The Python side of workers: carried in the binary and written below the data directory once per
//! version, where workers may read it and not change it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

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
    Ok(place)
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
