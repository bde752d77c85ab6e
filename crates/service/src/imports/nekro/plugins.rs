//! Plugins of `plugins/workdir` and `plugins/packages`, each a folder or a file, with what they keep in
//! `plugin_data/AUTHOR.MODULE`, their settings among it.

use callgate_store::files::{Digest, EntryKind};

use super::super::{
    Content, ForeignFiles, ForeignItem, ForeignPlugin, ImportKind, ImportLine, Place,
    reading::{CODE, DATA, MAX_ENTRIES, Origin},
};

/// As a plugin of one file lies here.
const ONE_FILE: &str = "plugin.py";

pub(super) fn read(
    origin: &Origin,
    enabled: &[String],
    left_out: &mut Vec<ImportLine>,
) -> Vec<ForeignPlugin> {
    let mut plugins: Vec<ForeignPlugin> = Vec::new();
    let mut data = origin.folders("plugin_data");
    for place in ["plugins/workdir", "plugins/packages"] {
        for entry in origin.folder.list(place, MAX_ENTRIES).unwrap_or_default() {
            let folder = format!("{place}/{}", entry.name);
            let (name, code) = match entry.kind {
                EntryKind::Folder if origin.has(&format!("{folder}/__init__.py")) => {
                    (entry.name.clone(), format!("{folder}/__init__.py"))
                }
                EntryKind::File => match entry.name.strip_suffix(".py") {
                    Some(name) if name != "__init__" => (name.to_owned(), folder.clone()),
                    _ => continue,
                },
                _ => continue,
            };
            if plugins.iter().any(|known| known.name == name) {
                let why = "another of the same name comes from plugins/workdir";
                left_out.push(ImportLine::left_out(ImportKind::Plugin, folder, why));
                continue;
            }
            let digest = match digest(origin, &folder, entry.kind) {
                Ok(digest) => digest,
                Err(why) => {
                    left_out.push(ImportLine::left_out(ImportKind::Plugin, name, why));
                    continue;
                }
            };
            let key = key(origin, &code);
            let its = |folder: &String| match &key {
                Some(key) => folder == key,
                None => folder.ends_with(&format!(".{name}")),
            };
            let kept = data.iter().position(its).map(|place| data.remove(place));
            let files = kept.and_then(|kept| files(origin, &name, &kept, left_out));
            let is_on = key.is_none_or(|key| enabled.is_empty() || enabled.contains(&key));
            plugins.push(ForeignPlugin {
                enabled: is_on,
                name,
                folder,
                digest,
                files: files.into_iter().collect(),
            });
        }
    }
    let why = "no plugin of the folder keeps it; those that come with Nekro Agent do not come";
    let nobodys = data.into_iter();
    left_out.extend(nobodys.map(|it| ImportLine::left_out(ImportKind::PluginData, it, why)));
    plugins
}

fn digest(origin: &Origin, folder: &str, kind: EntryKind) -> Result<Digest, String> {
    if kind == EntryKind::File {
        let bytes = origin.bytes(folder)?.unwrap_or_default();
        return Ok(Digest::of_named(ONE_FILE, &bytes));
    }
    let digest = origin.folder.digest(folder, &CODE);
    let digest = digest.map_err(|error| error.to_string())?;
    Ok(digest.unwrap_or_default())
}

fn files(
    origin: &Origin,
    name: &str,
    kept: &str,
    left_out: &mut Vec<ImportLine>,
) -> Option<ForeignItem> {
    let from = format!("plugin_data/{kept}");
    match origin.folder.digest(&from, &DATA) {
        Ok(digest) => Some(ForeignItem {
            kind: ImportKind::PluginData,
            name: name.to_owned(),
            content: Content::Files(ForeignFiles {
                from,
                digest: digest.unwrap_or_default(),
                to: Place::OfPlugin,
            }),
            notes: Vec::new(),
        }),
        Err(error) => {
            let why = error.to_string();
            left_out.push(ImportLine::left_out(ImportKind::PluginData, name, why));
            None
        }
    }
}

/// `AUTHOR.MODULE`, where the code says both as texts.
fn key(origin: &Origin, code: &str) -> Option<String> {
    let text = String::from_utf8(origin.bytes(code).ok()??).ok()?;
    let said = |field: &str| {
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(field) {
            rest = after;
            let begins = before
                .chars()
                .next_back()
                .is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let value = after.trim_start().strip_prefix('=').map(str::trim_start);
            let quoted = value.and_then(|value| {
                let quote = value.chars().next().filter(|c| "\"'".contains(*c))?;
                value.strip_prefix(quote)?.split_once(quote)
            });
            if let (true, Some((value, _))) = (begins, quoted) {
                return Some(value.to_owned());
            }
        }
        None
    };
    Some(format!("{}.{}", said("author")?, said("module_name")?))
}
