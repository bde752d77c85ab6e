//! [`NewEntry`]: one more model for the configuration file. It is put at the end, so that nothing
//! else in the file changes; a file in which that is not possible is left alone.

use std::{
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use callgate_models::ModelSettings;
use toml::{Table, Value};

use super::Entry;
use crate::ServiceError;

/// The fields in the order they are written.
pub struct NewEntry {
    fields: Vec<(&'static str, String)>,
    holds_key: bool,
}

impl NewEntry {
    pub fn new(id: &str, base_url: &str) -> Self {
        NewEntry {
            fields: vec![("id", quoted(id)), ("base_url", quoted(base_url))],
            holds_key: false,
        }
    }

    pub fn text(&mut self, name: &'static str, value: Option<&str>) {
        let value = value.map(|value| (name, quoted(value)));
        self.fields.extend(value);
    }

    pub fn list(&mut self, name: &'static str, values: &[String]) {
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            self.fields.push((name, format!("[{}]", values.join(", "))));
        }
    }

    pub fn secret(&mut self, key: &str) {
        self.holds_key = true;
        self.fields.push(("key", quoted(key)));
    }

    /// Unsaid, it is what models of the wire usually take.
    pub fn accepts(&mut self, image: bool, audio: bool) {
        if image || audio {
            let takes = format!("{{ image = {image}, audio = {audio} }}");
            self.fields.push(("accepts", takes));
        }
    }

    /// As the model will be, its key included.
    pub fn settings(&self) -> Result<ModelSettings, String> {
        let fields = self.fields.iter();
        let text: Vec<String> = fields
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let table: Table = text
            .join("\n")
            .parse()
            .map_err(|_| "it cannot be written".to_owned())?;
        let variable = |name: &str| std::env::var(name).ok();
        Entry::try_from(table)?.read(variable)
    }

    pub fn append_to(&self, file: &Path) -> Result<(), ServiceError> {
        let name = file.display();
        let hint = "see that the directory is there and may be written to, or use --config FILE";
        let failed = |error: std::io::Error| {
            ServiceError::refused(format!("cannot write {name}: {error}"), hint)
        };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        // What a link points to is replaced, not the link.
        let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let before = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let after = self.after(&before);
        if count(&after) != Some(count(&before).unwrap_or(0) + 1) {
            let error = format!("{name} lists its models in a way that cannot be added to");
            let hint = "write each as a table [[models.list]], then try again";
            return Err(ServiceError::refused(error, hint));
        }
        self.replace(file, &after).map_err(failed)
    }

    fn after(&self, before: &str) -> String {
        let gap = match before.trim().is_empty() {
            true => "",
            false if before.ends_with('\n') => "\n",
            false => "\n\n",
        };
        let fields = self.fields.iter();
        let lines: String = fields
            .map(|(name, value)| format!("{name} = {value}\n"))
            .collect();
        format!("{before}{gap}[[models.list]]\n{lines}")
    }

    /// At once: a reader finds the old text or the new one. A file that holds a key is its owner's.
    fn replace(&self, file: &Path, text: &str) -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(text.as_bytes())?;
        let mode = match fs::metadata(file) {
            Ok(there) if !self.holds_key => there.permissions().mode(),
            _ => 0o600,
        };
        made.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        made.as_file().sync_all()?;
        made.persist(file).map(drop).map_err(|error| error.error)
    }
}

/// A JSON string is a string of TOML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How many models the text lists; none if it is no configuration.
fn count(text: &str) -> Option<usize> {
    let table: Table = text.parse().ok()?;
    match table.get("models").and_then(|models| models.get("list")) {
        None => Some(0),
        Some(Value::Array(list)) => Some(list.len()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> NewEntry {
        let mut entry = NewEntry::new("new \"one\"", "http://127.0.0.1:1/v1");
        entry.text("model", Some("大模型"));
        entry.text("wire", None);
        entry.accepts(true, false);
        entry
    }

    #[test]
    fn nothing_else_in_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("callgate.toml");
        let before = "# mine\n[models]\ndefault = 'a' # the best\n\n[[models.list]]\nid = 'a'\n\
                      base_url = 'http://h'\n[approval]\nask = []  # nothing";
        fs::write(&file, before).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        entry().append_to(&file).unwrap();
        let after = fs::read_to_string(&file).unwrap();
        assert_eq!(
            after.strip_prefix(before).unwrap(),
            "\n\n[[models.list]]\nid = \"new \\\"one\\\"\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
             model = \"大模型\"\naccepts = { image = true, audio = false }\n"
        );
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(count(&after), Some(2));
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left behind"
        );
    }

    #[test]
    fn a_file_that_holds_a_key_is_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/callgate.toml");
        let mut entry = entry();
        entry.secret("sk-1");
        entry.append_to(&file).unwrap();
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(entry.settings().unwrap().keys.len(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_added_to_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("callgate.toml");
        for before in [
            "[models]\nlist = [{ id = 'a', base_url = 'http://h' }]\n",
            "models = { default = 'a' }\n",
            "[[models.list]\n",
        ] {
            fs::write(&file, before).unwrap();
            entry().append_to(&file).unwrap_err();
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
        }
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("real.toml"),
            folder.path().join("link.toml"),
        );
        fs::write(&real, "# real\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        entry().append_to(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(
            fs::read_to_string(&real)
                .unwrap()
                .starts_with("# real\n\n[[models.list]]")
        );
    }
}
