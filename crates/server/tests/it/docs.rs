//! The documents as the binary serves them.

use std::collections::{BTreeMap, BTreeSet};

use callgate_server::documents;
use regex::Regex;

/// What stands behind `name="` in a page.
fn all<'a>(page: &'a str, name: &str) -> BTreeSet<&'a str> {
    let pattern = Regex::new(&format!("{name}=\"([^\"]*)\"")).unwrap();
    let found = pattern.captures_iter(page);
    found.map(|it| it.get(1).unwrap().as_str()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages: BTreeMap<&str, &str> = documents().collect();
    assert!(pages.len() > 20, "{:?}", pages.keys());
    let mut seen = BTreeSet::new();
    for (name, page) in &pages {
        for link in all(page, "href") {
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name } else { file };
            let target = pages.get(file);
            let target = target.unwrap_or_else(|| panic!("{name} links to {link}"));
            let is_there = anchor.is_empty() || all(target, "id").contains(anchor);
            assert!(is_there, "{name} links to {link}");
            seen.insert(file);
        }
    }
    let lost: Vec<_> = pages.keys().filter(|name| !seen.contains(**name)).collect();
    assert_eq!(lost, [&""; 0], "pages that nothing leads to");
}

#[test]
fn the_contents_are_in_the_language_of_the_page() {
    let pages: BTreeMap<&str, &str> = documents().collect();
    let link = |to: &str, title: &str| format!("<a href=\"{to}\">{title}</a>");
    assert!(pages["index.html"].contains(&link("concepts.html", "Concepts")));
    assert!(pages["index.zh.html"].contains(&link("concepts.zh.html", "基本概念")));
    assert!(pages["index.zh.html"].contains(&link("metrics.html", "Metrics")));
}

/// A document that is not in the contents would be found by nobody.
#[test]
#[allow(clippy::disallowed_methods, reason = "it reads the repository")]
fn every_document_is_in_the_contents() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let pages: BTreeMap<&str, &str> = documents().collect();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".md").filter(|name| *name != "SUMMARY") else {
            continue;
        };
        let page = format!("{}.html", name.replace("README", "index"));
        assert!(
            pages.contains_key(page.as_str()),
            "docs/SUMMARY.md lacks {name}.md"
        );
    }
}
