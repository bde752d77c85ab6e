//! Where a plugin can come from, and how its files get into a folder of ours. Links are left out,
//! names in archives are checked, and a repository's hooks never run.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate_contract::Cancel;

use crate::environment::{
    Environments, InstallError, ProgressFn,
    process::{command, output, run},
};

/// A source as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Folder(PathBuf),
    /// A plugin of one file.
    File(PathBuf),
    Zip(PathBuf),
    Git {
        url: String,
        commit: Option<String>,
    },
}

/// What never belongs to a plugin.
pub const LEFT_OUT: &[&str] = &[".git", "__pycache__", ".venv", "venv", "node_modules"];

impl Origin {
    pub fn parse(source: &str) -> Result<Origin, InstallError> {
        let path = PathBuf::from(source);
        if let Ok(metadata) = fs::metadata(&path) {
            let path = std::path::absolute(&path).unwrap_or(path);
            let extension = path.extension().and_then(|it| it.to_str());
            return match extension {
                _ if metadata.is_dir() => Ok(Origin::Folder(path)),
                Some("zip") => Ok(Origin::Zip(path)),
                Some("py") => Ok(Origin::File(path)),
                _ => Err(no_plugin(
                    source,
                    "it is neither a folder nor a .py or .zip file",
                )),
            };
        }
        let (url, commit) = match source.rsplit_once('@') {
            Some((url, commit)) if !commit.contains(['/', ':']) && is_url(url) => {
                (url, Some(commit.to_owned()))
            }
            _ => (source, None),
        };
        let odd = commit.as_deref().is_some_and(|it| !is_commit(it));
        if is_url(url) && !odd {
            Ok(Origin::Git {
                url: url.to_owned(),
                commit,
            })
        } else {
            Err(no_plugin(source, "there is no such file, and it is no URL"))
        }
    }

    /// How the plugin's folder is called if nobody says otherwise.
    pub fn name(&self) -> String {
        let last = |path: &Path| path.file_stem().map(|it| it.to_string_lossy().into_owned());
        match self {
            Origin::Folder(path) => path.file_name().map(|it| it.to_string_lossy().into_owned()),
            Origin::File(path) => last(path),
            Origin::Zip(path) => last(path).map(|name| {
                // As code hosts name the archive of a branch.
                let short = ["-main", "-master"]
                    .iter()
                    .find_map(|it| name.strip_suffix(it));
                short.map_or(name.clone(), str::to_owned)
            }),
            Origin::Git { url, .. } => {
                let last = url.trim_end_matches('/').rsplit(['/', ':']).next();
                last.map(|name| name.strip_suffix(".git").unwrap_or(name).to_owned())
            }
        }
        .unwrap_or_default()
    }

    /// Puts the files into `folder`, which does not exist yet; the commit, of a repository.
    pub(super) fn fetch(
        &self,
        folder: &Path,
        environments: &Environments,
        say: ProgressFn<'_>,
    ) -> Result<Option<String>, InstallError> {
        let broken = |error| InstallError::files(folder, error);
        fs::create_dir(folder).map_err(broken)?;
        match self {
            Origin::Folder(path) => copy(path, folder).map_err(broken).map(|()| None),
            Origin::File(path) => fs::copy(path, folder.join("plugin.py"))
                .map_err(broken)
                .map(|_| None),
            Origin::Zip(path) => {
                say(&format!("unpacking {}", path.display()));
                environments.script("unpack", &[path, folder]).map(|_| None)
            }
            Origin::Git { url, commit } => {
                let cancel = environments.cancel.as_ref();
                clone(url, commit.as_deref(), folder, say, cancel).map(Some)
            }
        }
    }
}

fn no_plugin(what: &str, reason: &str) -> InstallError {
    InstallError::NoPlugin {
        what: what.to_owned(),
        reason: reason.to_owned(),
    }
}

/// What git reaches without running a program of the URL's choice.
fn is_url(text: &str) -> bool {
    let schemes = ["https://", "http://", "ssh://", "git://", "file://"];
    schemes.iter().any(|scheme| text.starts_with(scheme))
        || text
            .strip_prefix("git@")
            .is_some_and(|rest| rest.contains(':'))
}

/// A commit, branch or tag, and nothing that git could take for an option.
fn is_commit(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(fits)
}

/// Regular files and folders only.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (from, to) = (entry.path(), to.join(&name));
        if kind.is_dir() {
            copy(&from, &to)?;
        } else if kind.is_file() {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// One commit of a repository, without its history, links, submodules or hooks.
fn clone(
    url: &str,
    commit: Option<&str>,
    folder: &Path,
    say: ProgressFn<'_>,
    cancel: Option<&Cancel>,
) -> Result<String, InstallError> {
    let run = |command, say| run(command, say, cancel);
    let git = |arguments: &[&str]| {
        let mut git = command(Path::new("git"));
        git.arg("-C")
            .arg(folder)
            .args([
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "core.symlinks=false",
            ])
            .args([
                "-c",
                "protocol.ext.allow=never",
                "-c",
                "core.fsmonitor=false",
            ])
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_LFS_SKIP_SMUDGE", "1");
        git
    };
    run(git(&["init", "--quiet", "--template="]), say)?;
    let wanted = commit.unwrap_or("HEAD");
    let fetched = run(
        git(&[
            "fetch",
            "--progress",
            "--depth=1",
            "--no-tags",
            "--",
            url,
            wanted,
        ]),
        say,
    );
    let found = match (fetched, commit) {
        (Ok(()), _) => "FETCH_HEAD",
        (Err(error @ InstallError::Cancelled), _) => return Err(error),
        // Not every server gives a commit that is not the end of a branch, nor a short one.
        (Err(_), Some(commit)) => {
            let all = ["fetch", "--progress", "--", url, "+refs/*:refs/callgate/*"];
            run(git(&all), say)?;
            commit
        }
        (Err(error), None) => return Err(error),
    };
    run(git(&["checkout", "--quiet", "--detach", found]), say)?;
    let commit = output(git(&["rev-parse", "HEAD"]))?.trim().to_owned();
    let history = folder.join(".git");
    fs::remove_dir_all(&history).map_err(|error| InstallError::files(&history, error))?;
    Ok(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        let git = |url: &str, commit: Option<&str>| Origin::Git {
            url: url.to_owned(),
            commit: commit.map(str::to_owned),
        };
        for (source, expect, name) in [
            (
                "https://h/a/weather.git",
                git("https://h/a/weather.git", None),
                "weather",
            ),
            (
                "https://h/a/weather@0a1b2c",
                git("https://h/a/weather", Some("0a1b2c")),
                "weather",
            ),
            (
                "git@h:a/weather.git",
                git("git@h:a/weather.git", None),
                "weather",
            ),
            (
                "git@h:a/weather.git@v1.0",
                git("git@h:a/weather.git", Some("v1.0")),
                "weather",
            ),
        ] {
            let found = Origin::parse(source).unwrap();
            assert_eq!((found.name().as_str(), found), (name, expect), "{source}");
        }
        for source in [
            "nowhere/at/all",
            "ext::sh -c x",
            "-u",
            "https://h/a@--upload-pack=x",
        ] {
            assert!(Origin::parse(source).is_err(), "{source}");
        }
    }

    #[test]
    fn an_archive_of_a_branch_is_named_after_its_repository() {
        let zip = |name: &str| Origin::Zip(PathBuf::from(name)).name();
        assert_eq!(zip("/tmp/weather-main.zip"), "weather");
        assert_eq!(zip("/tmp/weather.zip"), "weather");
    }
}
