//! Finds the cases of a folder: `<case>.json` says what is expected, a file beside it of another
//! extension is what the server sent.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;

pub struct Case {
    pub name: String,
    pub expect: Json,
    pub sent: Vec<u8>,
}

pub fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/fixtures")
        .join(folder);
    let paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let sent = |expect: &Path| {
        let same = |path: &&PathBuf| path.file_stem() == expect.file_stem() && *path != expect;
        paths.iter().find(same).map(|path| fs::read(path).unwrap())
    };
    let cases: Vec<Case> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|found| found == "json"))
        .map(|path| Case {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            expect: serde_json::from_slice(&fs::read(path).unwrap()).unwrap(),
            sent: sent(path).unwrap_or_default(),
        })
        .collect();
    assert!(cases.len() > 5, "too few cases in {}", folder.display());
    cases
}
