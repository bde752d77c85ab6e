//! `plugins`, each with its settings in `config` and its files in `plugin_data`.

use super::super::{
    Content, ForeignFiles, ForeignItem, ForeignPlugin, ImportKind, ImportLine, Place,
    reading::{CODE, DATA, Origin},
};

pub(super) fn read(
    origin: &Origin,
    switched_off: &[String],
    left_out: &mut Vec<ImportLine>,
) -> Vec<ForeignPlugin> {
    let mut plugins = Vec::new();
    let mut data = origin.folders("plugin_data");
    for name in origin.folders("plugins") {
        let folder = format!("plugins/{name}");
        let has_code = ["main.py".to_owned(), format!("{name}.py")]
            .iter()
            .any(|file| origin.has(&format!("{folder}/{file}")));
        if !has_code {
            let why = "it has neither main.py nor a file of its own name";
            left_out.push(ImportLine::left_out(ImportKind::Plugin, name, why));
            continue;
        }
        let digest = match origin.folder.digest(&folder, &CODE) {
            Ok(digest) => digest.unwrap_or_default(),
            Err(error) => {
                let why = error.to_string();
                left_out.push(ImportLine::left_out(ImportKind::Plugin, name, why));
                continue;
            }
        };
        let own = own_name(origin, &folder);
        let module = format!("data.plugins.{name}.");
        let mut taken = Vec::new();
        let config = format!("config/{name}_config.json");
        match origin.json(&config) {
            Ok(Some(serde_json::Value::Object(_))) => {
                let to = directory(origin, &folder, &name, own.as_deref());
                let to = format!("data/config/{to}_config.json");
                taken.push(take(origin, ImportKind::PluginConfig, &name, config, to));
            }
            Ok(None) => {}
            read => {
                let not_object = || format!("{config} is no object");
                let why = read.err().unwrap_or_else(not_object);
                let kind = ImportKind::PluginConfig;
                taken.push(Err(ImportLine::left_out(kind, &name, why)));
            }
        }
        let is_its = |it: &String| *it == name || own.as_ref().is_some_and(|own| it == own);
        if let Some(place) = data.iter().position(is_its) {
            let its = data.remove(place);
            let (from, to) = (
                format!("plugin_data/{its}"),
                format!("data/plugin_data/{its}"),
            );
            taken.push(take(origin, ImportKind::PluginData, &name, from, to));
        }
        let mut files = Vec::new();
        for taken in taken {
            match taken {
                Ok(item) => files.push(item),
                Err(line) => left_out.push(line),
            }
        }
        plugins.push(ForeignPlugin {
            enabled: !switched_off.iter().any(|it| it.starts_with(&module)),
            name,
            folder,
            digest,
            files,
        });
    }
    let why = "no plugin of this name is there";
    let nobodys = data.into_iter();
    left_out.extend(nobodys.map(|it| ImportLine::left_out(ImportKind::PluginData, it, why)));
    plugins
}

fn take(
    origin: &Origin,
    kind: ImportKind,
    name: &str,
    from: String,
    to: String,
) -> Result<ForeignItem, ImportLine> {
    match origin.folder.digest(&from, &DATA) {
        Ok(digest) => Ok(ForeignItem {
            kind,
            name: name.to_owned(),
            content: Content::Files(ForeignFiles {
                from,
                digest: digest.unwrap_or_default(),
                to: Place::OfWorker(to),
            }),
            notes: Vec::new(),
        }),
        Err(error) => Err(ImportLine::left_out(kind, name, error.to_string())),
    }
}

/// What `metadata.yaml` calls it.
fn own_name(origin: &Origin, folder: &str) -> Option<String> {
    let files = ["metadata.yaml", "metadata.yml"].map(|file| format!("{folder}/{file}"));
    let mut found = files.iter().filter_map(|file| origin.bytes(file).ok()?);
    let text = String::from_utf8(found.next()?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("name:"))?;
    let name = line.split(" #").next()?.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Compat(astrbot): the folder that a plugin believes to be in, after which its settings are named.
fn directory(origin: &Origin, folder: &str, name: &str, own: Option<&str>) -> String {
    let is_identifier = |text: &str| {
        let letter = |c: char| c == '_' || c.is_alphabetic();
        text.chars().next().is_some_and(letter) && text.chars().all(|c| letter(c) || c.is_numeric())
    };
    let has_main = origin.has(&format!("{folder}/main.py"));
    match own.filter(|own| has_main && is_identifier(own)) {
        Some(own) => own.to_owned(),
        None => name.replace('.', "_"),
    }
}
