//! `docs/seeds.md` names only tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

/// `crate::file::test` of every test function in the folder, `it::` left out.
fn collect(krate: &str, folder: &Path, prefix: &str, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = match prefix {
            "" => stem,
            prefix => format!("{prefix}::{stem}"),
        };
        if path.is_dir() {
            collect(krate, &path, &inner, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            names.extend(tests(&source).map(|test| format!("{krate}::{inner}::{test}")));
        }
    }
}

/// Functions that follow a test attribute.
fn tests(source: &str) -> impl Iterator<Item = &str> {
    let mut lines = source.lines().map(str::trim);
    std::iter::from_fn(move || {
        let is_test = |line: &str| line.starts_with("#[test") || line.starts_with("#[tokio::test");
        lines.find(|line| is_test(line))?;
        let header = lines.find_map(|line| line.split_once("fn "))?.1;
        header.split_once('(').map(|(name, _)| name)
    })
}

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    for krate in fs::read_dir(root.join("crates")).unwrap() {
        let folder = krate.unwrap().path();
        let tests = folder.join("tests/it");
        if tests.is_dir() {
            let krate = folder.file_name().unwrap().to_str().unwrap();
            collect(krate, &tests, "", &mut names);
        }
    }
    let table = fs::read_to_string(root.join("docs/seeds.md")).unwrap();
    let quoted = table.split('`').skip(1).step_by(2);
    let named: Vec<&str> = quoted.filter(|quoted| quoted.contains("::")).collect();
    assert!(named.len() > 50, "{}", named.len());
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !names.contains(**name))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_line_of_the_seeds_is_in_the_table_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = fs::read_to_string(root.join("docs/seeds.md")).unwrap();
    for (letter, last) in [('N', 50), ('A', 78), ('S', 42)] {
        for number in 1..=last {
            let id = format!("| {letter}-{number:02} |");
            assert_eq!(table.matches(&id).count(), 1, "{id}");
        }
    }
}
