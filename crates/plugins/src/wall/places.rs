//! [`Places`]: parts of this machine, as `callgate-wall` wants them named: without links, which are told
//! apart, an outer one before those inside it, and none that comes with another one.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::environment::found;

/// More links than the kernel follows.
const MOST_LINKS: usize = 40;

/// In the order in which one wins over another for the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Read,
    Write,
    Cover,
}

#[derive(Debug, Default)]
pub(super) struct Places {
    /// Paths of one folder come one after the other, after the folder itself.
    shown: BTreeMap<PathBuf, Shown>,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Places {
    pub(super) fn read(&mut self, path: &Path) {
        self.add(path, Shown::Read);
    }

    pub(super) fn write(&mut self, path: &Path) {
        self.add(path, Shown::Write);
    }

    /// What is not there needs no place. The whole machine is none either.
    fn add(&mut self, path: &Path, how: Shown) {
        if let Some(real) = self.resolve(path).filter(|real| real.parent().is_some()) {
            let known = self.shown.entry(real).or_insert(how);
            *known = how.max(*known);
        }
    }

    /// The path without links. Those on the way to it are noted.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let absolute = std::path::absolute(path).ok()?;
        let mut left = components(&absolute);
        let mut at = PathBuf::from("/");
        let mut followed = 0;
        while let Some(name) = left.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            if !fs::symlink_metadata(&next).ok()?.is_symlink() {
                at = next;
                continue;
            }
            followed += 1;
            if followed > MOST_LINKS {
                return None;
            }
            let target = fs::read_link(&next).ok()?;
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            for name in components(&target).into_iter().rev() {
                left.push_front(name);
            }
            self.links.insert(next, target);
        }
        Some(at)
    }

    /// With `hidden` empty but for what was named inside it.
    pub(super) fn words(mut self, hidden: Option<&Path>) -> Vec<String> {
        if let Some(hidden) = hidden {
            self.shown.insert(hidden.to_owned(), Shown::Cover);
        }
        let around = |path: &Path| {
            let outer = path.ancestors().skip(1);
            outer.into_iter().find_map(|outer| self.shown.get(outer))
        };
        let mut words = Vec::new();
        let mut say = |word: &str, paths: &[&Path]| {
            words.push(word.to_owned());
            words.extend(paths.iter().map(|path| path.display().to_string()));
        };
        for (path, how) in &self.shown {
            match how {
                Shown::Read if matches!(around(path), Some(Shown::Read)) => {}
                Shown::Write if matches!(around(path), Some(Shown::Write)) => {}
                Shown::Read => say("read", &[path]),
                Shown::Write => say("write", &[path]),
                Shown::Cover => say("cover", &[path]),
            }
        }
        for (path, target) in &self.links {
            // One in a folder that is shown is there already.
            if matches!(around(path), None | Some(Shown::Cover)) {
                say("link", &[path, target]);
            }
        }
        words
    }
}

fn components(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// What belongs to an interpreter, or to another program of its kind: itself, the virtual environment that
/// it is of, and what lies beside its libraries.
pub(crate) fn interpreter(program: &Path) -> Vec<PathBuf> {
    let program = &found(program);
    let prefix = |path: &Path| path.parent().and_then(Path::parent).map(Path::to_owned);
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.clone());
    let environment = prefix(program).filter(|prefix| prefix.join("pyvenv.cfg").is_file());
    let mut places = vec![program.clone(), real.clone()];
    places.extend(environment);
    if let Some(prefix) = prefix(&real) {
        let parts = ["bin", "include", "lib", "lib64", "libexec", "ssl"];
        places.extend(parts.map(|part| prefix.join(part)));
    }
    places
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn words(places: Places, hidden: Option<&Path>, below: &Path) -> Vec<String> {
        let below = below.display().to_string();
        let words = places.words(hidden).into_iter();
        words.map(|word| word.replace(&below, "")).collect()
    }

    #[test]
    fn what_comes_with_another_place_is_not_named_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        fs::create_dir_all(at.join("a/b/c")).unwrap();
        let mut places = Places::default();
        for path in ["a/b", "a", "a/b/c", "a/missing"] {
            places.read(&at.join(path));
        }
        places.write(&at.join("a/b/c"));
        let found = words(places, None, &at);
        assert_eq!(found, ["read", "/a", "write", "/a/b/c"]);
    }

    #[test]
    fn a_hidden_folder_is_covered_and_shows_only_what_was_named_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        fs::create_dir_all(at.join("data/own")).unwrap();
        let mut places = Places::default();
        places.write(&at);
        places.write(&at.join("data"));
        places.write(&at.join("data/own"));
        let found = words(places, Some(&at.join("data")), &at);
        assert_eq!(found, ["write", "", "cover", "/data", "write", "/data/own"]);
    }

    #[test]
    fn links_are_told_apart_from_where_they_lead() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        fs::create_dir_all(at.join("real/inner")).unwrap();
        symlink("real", at.join("relative")).unwrap();
        symlink(at.join("relative/inner"), at.join("absolute")).unwrap();
        symlink("round", at.join("round")).unwrap();
        let mut places = Places::default();
        places.read(&at.join("absolute"));
        places.read(&at.join("round"));
        let found = words(places, None, &at);
        let links = [
            "link",
            "/absolute",
            "/relative/inner",
            "link",
            "/relative",
            "real",
        ];
        assert_eq!(found[..2], ["read", "/real/inner"]);
        assert_eq!(found[2..8], links);
    }
}
