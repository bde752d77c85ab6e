//! The folder of packages as files: copied, tidied, listed, and put in place in one step.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::Package;

pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// `to` becomes a copy of `from`, which may not exist yet.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()? {
            kind if kind.is_dir() => copy(&from, &to)?,
            kind if kind.is_file() => fs::copy(&from, &to).map(drop)?,
            // Wheels hold neither links nor anything else.
            _ => {}
        }
    }
    Ok(())
}

/// One version of each package, and readable by the users of the sandbox, whatever our umask.
pub fn tidy(folder: &Path) -> io::Result<()> {
    let mut newest: BTreeMap<String, (SystemTime, PathBuf)> = BTreeMap::new();
    for info in infos(folder) {
        let Some(package) = package(&info) else {
            continue;
        };
        let made = fs::metadata(&info)?.modified()?;
        // pip replaces a package's files and forgets the description of the version before.
        let stale = match newest.get(&package.name) {
            Some((other, _)) if *other > made => Some(info),
            _ => newest
                .insert(package.name, (made, info))
                .map(|(_, stale)| stale),
        };
        if let Some(stale) = stale {
            fs::remove_dir_all(stale)?;
        }
    }
    open_to_read(folder)
}

fn open_to_read(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    let mode = metadata.permissions().mode();
    if metadata.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(mode | 0o755))?;
        for entry in fs::read_dir(path)? {
            open_to_read(&entry?.path())?;
        }
    } else if metadata.is_file() {
        fs::set_permissions(path, Permissions::from_mode(mode | 0o444))?;
    }
    Ok(())
}

/// `next` takes the place of `current` in one step; what was there is then `previous`.
pub fn replace(current: &Path, next: &Path, previous: &Path) -> io::Result<()> {
    if !current.exists() {
        return fs::rename(next, current);
    }
    renameat_with(CWD, next, CWD, current, RenameFlags::EXCHANGE)?;
    fs::rename(next, previous)
}

/// By name.
pub fn packages(folder: &Path) -> Vec<Package> {
    let mut packages: Vec<Package> = infos(folder).iter().filter_map(|i| package(i)).collect();
    packages.sort();
    packages
}

fn infos(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|it| it == "dist-info"))
        .collect()
}

/// From the name of its description, `numpy-2.1.0.dist-info`.
fn package(info: &Path) -> Option<Package> {
    let (name, version) = info.file_stem()?.to_str()?.rsplit_once('-')?;
    Some(Package {
        name: name.to_lowercase().replace('_', "-"),
        version: version.to_owned(),
    })
}
