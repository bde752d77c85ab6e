//! [`NewEntry`]: one more model for the configuration file.

use std::path::Path;

use callgate_models::ModelSettings;
use toml_edit::{Array, InlineTable, Table, value};

use super::Entry;
use crate::{ServiceError, config::Edit};

/// The fields in the order they are written.
pub struct NewEntry {
    table: Table,
    holds_key: bool,
}

impl NewEntry {
    pub fn new(id: &str, base_url: &str) -> Self {
        let mut table = Table::new();
        table.insert("id", value(id));
        table.insert("base_url", value(base_url));
        NewEntry {
            table,
            holds_key: false,
        }
    }

    pub fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.table.insert(name, value(text));
        }
    }

    pub fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.table.insert(name, value(Array::from_iter(values)));
        }
    }

    pub fn secret(&mut self, key: &str) {
        self.holds_key = true;
        self.table.insert("key", value(key));
    }

    /// Unsaid, it is what models of the wire usually take.
    pub fn accepts(&mut self, image: bool, audio: bool) {
        if image || audio {
            let takes = InlineTable::from_iter([("image", image), ("audio", audio)]);
            self.table.insert("accepts", value(takes));
        }
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    pub fn holds_key(&self) -> bool {
        self.holds_key
    }

    /// As the model will be, its key included.
    pub fn settings(&self) -> Result<ModelSettings, String> {
        let table = self.table.to_string().parse::<toml::Table>();
        let table = table.map_err(|_| "it cannot be written".to_owned())?;
        let variable = |name: &str| std::env::var(name).ok();
        Entry::try_from(table)?.read(variable)
    }

    pub fn append_to(&self, file: &Path) -> Result<(), ServiceError> {
        let mut edit = Edit::open(file)?;
        edit.add_model(self)?;
        edit.save()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt,
    };

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
            "\n\n[[models.list]]\nid = 'new \"one\"'\nbase_url = \"http://127.0.0.1:1/v1\"\n\
             model = \"大模型\"\naccepts = { image = true, audio = false }\n"
        );
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        let table: toml::Table = after.parse().unwrap();
        assert_eq!(table["models"]["list"].as_array().map(Vec::len), Some(2));
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
            "models.default = 'a'\n",
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
