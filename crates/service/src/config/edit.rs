//! [`Edit`]: changes of the configuration file as text. What is not changed stays as it was written,
//! comments included; a file in which a change cannot be made that way is left alone.

use std::{
    fs::{self, Permissions},
    io::Write,
    ops::Range,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use crate::ServiceError;

/// The file with what is to become of it. Nothing is written before [`Edit::save`].
pub struct Edit {
    file: PathBuf,
    text: String,
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
        Ok(Edit { file, text })
    }

    /// Sets `section.field`, or takes it out.
    pub fn set(
        &mut self,
        section: &str,
        field: &str,
        value: Option<&Value>,
    ) -> Result<(), ServiceError> {
        let text = value.map(written);
        let after = place(&self.text, section, field, text.as_deref());
        let wanted = changed(&self.text, section, field, value);
        let after = after.filter(|after| wanted.is_some() && after.parse().ok() == wanted);
        self.take(after, &format!("{section}.{field}"))
    }

    /// Sets a field of the model `id`, or takes it out.
    pub fn set_of_model(
        &mut self,
        id: &str,
        field: &str,
        value: &Value,
    ) -> Result<(), ServiceError> {
        let after = place_in_model(&self.text, id, field, &written(value));
        let fits = |after: &String| {
            let model = models(after).into_iter().find(|it| is_called(it, id));
            model.is_some_and(|model| model.get(field) == Some(value))
        };
        let (after, count) = (after.filter(fits), models(&self.text).len());
        self.take(after.filter(|after| models(after).len() == count), id)
    }

    pub fn remove_model(&mut self, id: &str) -> Result<(), ServiceError> {
        let after = without_model(&self.text, id);
        let mut rest = models(&self.text);
        rest.retain(|it| !is_called(it, id));
        self.take(after.filter(|after| models(after) == rest), id)
    }

    fn take(&mut self, after: Option<String>, what: &str) -> Result<(), ServiceError> {
        match after {
            Some(after) => {
                self.text = after;
                Ok(())
            }
            None => {
                let name = self.file.display();
                let error = format!("{what} stands in {name} in a way that cannot be changed here");
                Err(ServiceError::refused(error, "change it there by hand"))
            }
        }
    }

    /// At once: a reader finds the old text or the new one.
    pub fn save(&self) -> Result<(), ServiceError> {
        self.write().map_err(|error| unwritable(&self.file, &error))
    }

    fn write(&self) -> std::io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(self.text.as_bytes())?;
        let there = fs::metadata(&self.file).map(|there| there.permissions().mode());
        let mode = Permissions::from_mode(there.unwrap_or(0o600));
        made.as_file().set_permissions(mode)?;
        made.as_file().sync_all()?;
        made.persist(&self.file)
            .map(drop)
            .map_err(|error| error.error)
    }
}

fn unwritable(file: &Path, error: &std::io::Error) -> ServiceError {
    let hint = "see that the directory is there and may be written to";
    ServiceError::refused(format!("cannot change {}: {error}", file.display()), hint)
}

/// Text that TOML reads back; JSON's strings and lists are TOML's too.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Integer(number) => number.to_string(),
        // With a point, so that it stays one.
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(flag) => flag.to_string(),
        // No key is a date or a table.
        Value::Datetime(_) | Value::Table(_) => "{}".to_owned(),
    }
}

/// What the text is to say: all it says now, but for the one field.
fn changed(text: &str, section: &str, field: &str, value: Option<&Value>) -> Option<Table> {
    let mut table: Table = text.parse().ok()?;
    match value {
        Some(value) => {
            let section = table.entry(section).or_insert_with(|| Table::new().into());
            section
                .as_table_mut()?
                .insert(field.to_owned(), value.clone());
        }
        None => {
            if let Some(section) = table.get_mut(section) {
                section.as_table_mut()?.remove(field);
            }
        }
    }
    Some(table)
}

fn said(text: &str, section: &str, field: &str) -> Option<Value> {
    let table: Table = text.parse().ok()?;
    table.get(section)?.get(field).cloned()
}

fn models(text: &str) -> Vec<Value> {
    let list = said(text, "models", "list");
    list.and_then(|list| list.as_array().cloned())
        .unwrap_or_default()
}

fn is_called(model: &Value, id: &str) -> bool {
    model.get("id").and_then(Value::as_str) == Some(id)
}

/// Where a name and its value stand.
struct Found {
    key: Range<usize>,
    value: Range<usize>,
}

fn find<'a>(table: &'a DeTable<'_>, name: &str) -> Option<(Found, &'a DeValue<'a>)> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    let found = Found {
        key: key.span(),
        value: value.span(),
    };
    Some((found, value.get_ref()))
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> Option<String> {
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    Some(format!("{before}{with}{after}"))
}

fn line_start(text: &str, at: usize) -> Option<usize> {
    Some(text.get(..at)?.rfind('\n').map_or(0, |end| end + 1))
}

/// Behind the end of the line.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    Some(rest.find('\n').map_or(text.len(), |end| at + end + 1))
}

fn place(text: &str, section: &str, field: &str, value: Option<&str>) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let known = find(document.get_ref(), section);
    let inner = known.as_ref().and_then(|(_, value)| value.as_table());
    if let Some((found, _)) = inner.and_then(|table| find(table, field)) {
        return match value {
            Some(value) => spliced(text, found.value, value),
            None => {
                let start = line_start(text, found.key.start)?;
                spliced(text, start..line_end(text, found.value.end)?, "")
            }
        };
    }
    let Some(value) = value else {
        return Some(text.to_owned());
    };
    let line = format!("{field} = {value}\n");
    if let Some(after) = header(text, &format!("[{section}]")) {
        return spliced(text, after..after, &line);
    }
    let gap = match text.trim().is_empty() {
        true => "",
        false if text.ends_with('\n') => "\n",
        false => "\n\n",
    };
    Some(format!("{text}{gap}[{section}]\n{line}"))
}

/// Behind the line that is this header.
fn header(text: &str, header: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let said = line.split('#').next().unwrap_or_default().trim();
        if said == header {
            // Of a last line without an end there is no next one.
            return line.ends_with('\n').then_some(end);
        }
        at = end;
    }
    None
}

/// The table of one model in the list.
fn model<'a>(document: &'a DeTable<'a>, id: &str) -> Option<&'a DeTable<'a>> {
    let (_, section) = find(document, "models")?;
    let (_, list) = find(section.as_table()?, "list")?;
    let mut tables = list
        .as_array()?
        .iter()
        .filter_map(|it| it.get_ref().as_table());
    tables.find(|table| {
        let name = find(table, "id").and_then(|(_, value)| value.as_str());
        name == Some(id)
    })
}

fn place_in_model(text: &str, id: &str, field: &str, value: &str) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let table = model(document.get_ref(), id)?;
    if let Some((found, _)) = find(table, field) {
        return spliced(text, found.value, value);
    }
    let (name, _) = find(table, "id")?;
    let end = line_end(text, name.value.end)?;
    let gap = if text.get(..end)?.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    spliced(text, end..end, &format!("{gap}{field} = {value}\n"))
}

/// From its header to the next one.
fn without_model(text: &str, id: &str) -> Option<String> {
    const HEADER: &str = "[[models.list]]";
    let document = DeTable::parse(text).ok()?;
    let (name, _) = find(model(document.get_ref(), id)?, "id")?;
    let start = text.get(..name.key.start)?.rfind(HEADER)?;
    let start = line_start(text, start)?;
    let body = text.get(name.key.start..)?;
    let next = body.find("\n[").map(|end| name.key.start + end + 1);
    spliced(text, start..next.unwrap_or(text.len()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# mine\n[sandbox] # walls\npool = 3 # warm\npreload = [\n  'a', # one\n]\n\n\
                          [[models.list]]\nid = 'a'\nbase_url = 'http://h'\n\n\
                          [[models.list]]\n# the second\nid = 'b'\nfallback = ['a']\nbase_url = 'http://h'\n";

    fn edited(
        change: impl Fn(&mut Edit) -> Result<(), ServiceError>,
    ) -> Result<String, ServiceError> {
        let mut edit = Edit {
            file: PathBuf::from("callgate.toml"),
            text: BEFORE.to_owned(),
        };
        change(&mut edit).map(|()| edit.text)
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
        let names = Value::from(vec![Value::from("x \"y\"")]);
        let text = set("sandbox", "preload", Some(names));
        assert!(text.contains("preload = [\"x \\\"y\\\"\"]\n"), "{text}");
        let text = set("sandbox", "calls", Some(Value::from(9)));
        assert!(text.contains("[sandbox] # walls\ncalls = 9\n"), "{text}");
        let text = set("serve", "insecure", Some(Value::from(true)));
        assert_eq!(text, format!("{BEFORE}\n[serve]\ninsecure = true\n"));
        assert_eq!(set("serve", "insecure", None), BEFORE);
    }

    #[test]
    fn models_are_changed_and_taken_out() {
        let ids = Value::from(vec![Value::from("b")]);
        let text = edited(|edit| edit.set_of_model("a", "fallback", &ids)).unwrap();
        assert!(text.contains("id = 'a'\nfallback = [\"b\"]\n"), "{text}");
        let none = Value::Array(Vec::new());
        let text = edited(|edit| edit.set_of_model("b", "fallback", &none)).unwrap();
        assert!(text.contains("id = 'b'\nfallback = []\n"), "{text}");
        let text = edited(|edit| edit.remove_model("a")).unwrap();
        assert!(
            !text.contains("id = 'a'") && text.contains("# the second"),
            "{text}"
        );
        let text = edited(|edit| edit.remove_model("b")).unwrap();
        assert!(text.ends_with("base_url = 'http://h'\n\n"), "{text}");
        edited(|edit| edit.remove_model("c")).unwrap_err();
    }

    #[test]
    fn what_cannot_be_changed_this_way_is_left_alone() {
        let mut edit = Edit {
            file: PathBuf::from("callgate.toml"),
            text: "sandbox = { pool = 3 }\n".to_owned(),
        };
        edit.set("sandbox", "pool", Some(&Value::from(4))).unwrap();
        assert_eq!(edit.text, "sandbox = { pool = 4 }\n");
        edit.set("sandbox", "calls", Some(&Value::from(4)))
            .unwrap_err();
        edit.set("sandbox", "pool", None).unwrap_err();
        assert_eq!(edit.text, "sandbox = { pool = 4 }\n");
    }
}
