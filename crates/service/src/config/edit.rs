//! [`Edit`]: changes of the configuration file. What is not changed stays as it was written, comments
//! included (line ends become newlines); a file in which a change cannot be made is left alone.

use std::{
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use toml::Value;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value as Written,
};

use super::{NewEntry, PLATFORM, PlatformEntry};
use crate::ServiceError;

/// Marks a line that goes. No TOML holds it.
const GOES: &str = "\0";
/// Where a table stands that comes after all others.
const END: isize = isize::MAX;

/// The file with what is to become of it. Nothing is written before [`Edit::save`].
pub struct Edit {
    file: PathBuf,
    document: DocumentMut,
    /// It holds a key from now on, and is its owner's.
    holds_key: bool,
}

impl Edit {
    /// A file that is not there is empty.
    pub fn open(file: &Path) -> Result<Edit, ServiceError> {
        // What a link points to is replaced, not the link.
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable(&file, &error)),
        };
        let document = text.parse().map_err(|error| unreadable(&file, &error))?;
        Ok(Edit {
            file,
            document,
            holds_key: false,
        })
    }

    /// Sets `section.field`, or takes it out.
    pub fn set(
        &mut self,
        section: &str,
        field: &str,
        value: Option<&Value>,
    ) -> Result<(), ServiceError> {
        let Some(value) = value else {
            return match self.document.get_mut(section) {
                Some(section) => {
                    take_out(section, field);
                    self.strike_out()
                }
                None => Ok(()),
            };
        };
        match self.section(section) {
            Some(table) => put(table, field, value),
            None => return Err(self.unchangeable(section)),
        }
        Ok(())
    }

    /// Sets a field of the model `id`.
    pub fn set_of_model(
        &mut self,
        id: &str,
        field: &str,
        value: &Value,
    ) -> Result<(), ServiceError> {
        match self.model(id) {
            Some(model) => put(model, field, value),
            None => return Err(self.unchangeable(id)),
        }
        Ok(())
    }

    /// Adds a model behind everything else.
    pub fn add_model(&mut self, model: &NewEntry) -> Result<(), ServiceError> {
        self.holds_key |= model.holds_key();
        let mut table = model.table().clone();
        table.set_position(Some(END));
        table.decor_mut().set_prefix(self.above_the_end());
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let models = self.document.entry("models").or_insert(implicit.into());
        // Names with dots in them cannot be gone on with under a header.
        let models = models.as_table_mut().filter(|models| !models.is_dotted());
        let list = models.and_then(|models| {
            let list = models.entry("list").or_insert(ArrayOfTables::new().into());
            list.as_array_of_tables_mut()
        });
        let Some(list) = list else {
            let name = self.file.display();
            let error = format!("{name} lists its models in a way that cannot be added to");
            let hint = "write each as a table [[models.list]], then try again";
            return Err(ServiceError::refused(error, hint));
        };
        list.push(table);
        Ok(())
    }

    pub fn remove_model(&mut self, id: &str) -> Result<(), ServiceError> {
        let Some(model) = self.model(id) else {
            return Err(self.unchangeable(id));
        };
        model.clear();
        model.decor_mut().set_suffix(GOES);
        self.strike_out()
    }

    /// Adds a platform behind everything else.
    pub fn add_platform(&mut self, platform: &PlatformEntry) -> Result<(), ServiceError> {
        self.holds_key |= platform.holds_secret();
        let mut table = platform.table()?;
        table.set_position(Some(END));
        table.decor_mut().set_prefix(self.above_the_end());
        let list = self.document.entry(PLATFORM);
        let list = list.or_insert(ArrayOfTables::new().into());
        match list.as_array_of_tables_mut() {
            Some(list) => list.push(table),
            None => return Err(self.unchangeable("[[platform]]")),
        }
        Ok(())
    }

    pub fn remove_platform(&mut self, id: &str) -> Result<(), ServiceError> {
        let Some(platform) = self.platform(id) else {
            return Err(self.unchangeable(&format!("platform '{id}'")));
        };
        platform.clear();
        platform.decor_mut().set_suffix(GOES);
        self.strike_out()
    }

    /// At once: a reader finds the old text or the new one. Nothing that could not be read again.
    pub fn save(&self) -> Result<(), ServiceError> {
        let text = self.document.to_string();
        let again = text.parse::<DocumentMut>();
        again.map_err(|error| unreadable(&self.file, &error))?;
        self.write(&text)
            .map_err(|error| unwritable(&self.file, &error))
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(text.as_bytes())?;
        let mode = match fs::metadata(&self.file) {
            Ok(there) if !self.holds_key => there.permissions().mode(),
            _ => 0o600,
        };
        made.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        made.as_file().sync_all()?;
        made.persist(&self.file)
            .map(drop)
            .map_err(|error| error.error)
    }

    /// The table of that name. One that has no header yet gets it at the end of the file.
    fn section(&mut self, name: &str) -> Option<&mut dyn TableLike> {
        let has_header = |table: &Table| !table.is_implicit() || table.is_dotted();
        let there = self.document.get(name);
        if there.is_none_or(|it| it.as_table().is_some_and(|table| !has_header(table))) {
            let above = self.above_the_end();
            let table = self.document.entry(name).or_insert(Table::new().into());
            let table = table.as_table_mut()?;
            table.set_implicit(false);
            table.set_position(Some(END));
            table.decor_mut().set_prefix(above);
        }
        self.document.get_mut(name)?.as_table_like_mut()
    }

    /// What stands above a table at the end of the file: what stood there, and a gap.
    fn above_the_end(&mut self) -> String {
        let trailing = self.document.trailing().as_str().unwrap_or_default();
        let mut above = trailing.to_owned();
        self.document.set_trailing("");
        if !above.is_empty() && !above.ends_with('\n') {
            above.push('\n');
        }
        if !above.trim().is_empty() || !self.document.is_empty() {
            above.push('\n');
        }
        above
    }

    fn model(&mut self, id: &str) -> Option<&mut Table> {
        of_id(self.document.get_mut("models")?.get_mut("list")?, id)
    }

    fn platform(&mut self, id: &str) -> Option<&mut Table> {
        of_id(self.document.get_mut(PLATFORM)?, id)
    }

    /// Takes out the marked lines. Comments above them stay, which removing what they hang on would
    /// not let them.
    fn strike_out(&mut self) -> Result<(), ServiceError> {
        let text = self.document.to_string();
        let lines = text.split_inclusive('\n');
        let kept: String = lines.filter(|line| !line.contains(GOES)).collect();
        let kept = kept.parse();
        self.document = kept.map_err(|error| unreadable(&self.file, &error))?;
        Ok(())
    }

    fn unchangeable(&self, what: &str) -> ServiceError {
        let name = self.file.display();
        let error = format!("{what} stands in {name} in a way that cannot be changed here");
        ServiceError::refused(error, "change it there by hand")
    }
}

/// Of a list of tables.
fn of_id<'a>(list: &'a mut Item, id: &str) -> Option<&'a mut Table> {
    let mut list = list.as_array_of_tables_mut()?.iter_mut();
    list.find(|table| table.get("id").and_then(Item::as_str) == Some(id))
}

fn unwritable(file: &Path, error: &std::io::Error) -> ServiceError {
    let hint = "see that the directory is there and may be written to, or use --config FILE";
    ServiceError::refused(format!("cannot change {}: {error}", file.display()), hint)
}

fn unreadable(file: &Path, error: &toml_edit::TomlError) -> ServiceError {
    let error = format!("cannot change {}: {}", file.display(), error.message());
    ServiceError::refused(error, "mend it by hand, then try again")
}

fn put(table: &mut dyn TableLike, field: &str, value: &Value) {
    let mut value = written(value);
    match table.get_mut(field).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(field, value.into())),
    }
}

/// Inside braces at once; a line of its own is marked.
fn take_out(section: &mut Item, field: &str) {
    if let Some(inline) = section.as_inline_table_mut() {
        inline.remove(field);
    } else if let Some(value) = section.get_mut(field).and_then(Item::as_value_mut) {
        *value = Written::from(false).decorated(" ", GOES);
    }
}

fn written(value: &Value) -> Written {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(written).collect::<Array>().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        // No key is a date or a table.
        Value::Datetime(_) | Value::Table(_) => InlineTable::new().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# mine\n[sandbox] # walls\n# many\npool = 3 # warm\npreload = [\n  'a', # one\n]\n\n\
                          # all of them\n\n[[models.list]]\nid = 'a'\nbase_url = 'http://h'\n\n\
                          [[models.list]]\n# the second\nid = 'b'\nfallback = ['a']\nbase_url = 'http://h'\n# end\n";

    fn edit(text: &str) -> Edit {
        Edit {
            file: PathBuf::from("callgate.toml"),
            document: text.parse().unwrap(),
            holds_key: false,
        }
    }

    fn edited(
        change: impl Fn(&mut Edit) -> Result<(), ServiceError>,
    ) -> Result<String, ServiceError> {
        let mut edit = edit(BEFORE);
        change(&mut edit).map(|()| edit.document.to_string())
    }

    #[test]
    fn only_what_changes_changes() {
        let set = |section: &str, field: &str, value: Option<Value>| {
            edited(|edit| edit.set(section, field, value.as_ref())).unwrap()
        };
        let text = set("sandbox", "pool", Some(Value::from(5)));
        assert_eq!(text, BEFORE.replace("pool = 3 # warm", "pool = 5 # warm"));
        let text = set("sandbox", "pool", None);
        assert_eq!(text, BEFORE.replace("pool = 3 # warm\n", ""));
        let text = set("sandbox", "preload", None);
        assert_eq!(text, BEFORE.replace("preload = [\n  'a', # one\n]\n", ""));
        let names = Value::from(vec![Value::from("x \"y\"")]);
        let text = set("sandbox", "preload", Some(names));
        let expected = BEFORE.replace("[\n  'a', # one\n]\n", "['x \"y\"']\n");
        assert_eq!(text, expected);
        let text = set("sandbox", "calls", Some(Value::from(9)));
        assert_eq!(text, BEFORE.replace("# one\n]\n", "# one\n]\ncalls = 9\n"));
        let text = set("serve", "insecure", Some(Value::from(true)));
        assert_eq!(text, format!("{BEFORE}\n[serve]\ninsecure = true\n"));
        let text = set("models", "default", Some(Value::from("a")));
        assert_eq!(text, format!("{BEFORE}\n[models]\ndefault = \"a\"\n"));
        assert_eq!(set("serve", "insecure", None), BEFORE);
    }

    #[test]
    fn models_are_changed_and_taken_out() {
        let ids = Value::from(vec![Value::from("b")]);
        let text = edited(|edit| edit.set_of_model("a", "fallback", &ids)).unwrap();
        let first = "id = 'a'\nbase_url = 'http://h'\n";
        let expected = BEFORE.replace(first, &format!("{first}fallback = [\"b\"]\n"));
        assert_eq!(text, expected);
        let none = Value::Array(Vec::new());
        let text = edited(|edit| edit.set_of_model("b", "fallback", &none)).unwrap();
        assert_eq!(text, BEFORE.replace("fallback = ['a']", "fallback = []"));
        let text = edited(|edit| edit.remove_model("a")).unwrap();
        let expected = BEFORE.replace(&format!("[[models.list]]\n{first}"), "");
        assert_eq!(text, expected);
        let text = edited(|edit| edit.remove_model("b")).unwrap();
        let kept = BEFORE.split("[[models.list]]\n# the second").next();
        assert_eq!(text, format!("{}# end\n", kept.unwrap()));
        edited(|edit| edit.remove_model("c")).unwrap_err();
    }

    #[test]
    fn other_ways_of_writing_tables_are_kept() {
        let mut braces = edit("sandbox = { pool = 3 }\n");
        let calls = Value::from(4);
        braces.set("sandbox", "calls", Some(&calls)).unwrap();
        braces.set("sandbox", "pool", None).unwrap();
        assert_eq!(braces.document.to_string(), "sandbox = { calls = 4 }\n");
        let mut dots = edit("sandbox.pool = 3\nsandbox.calls = 5\n");
        dots.set("sandbox", "calls", Some(&calls)).unwrap();
        dots.set("sandbox", "pool", None).unwrap();
        assert_eq!(dots.document.to_string(), "sandbox.calls = 4\n");
        let mut number = edit("sandbox = 3\n");
        number.set("sandbox", "calls", Some(&calls)).unwrap_err();
    }
}
