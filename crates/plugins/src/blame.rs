//! Which plugin was at work when a worker hung or died, read from the stacks that the interpreter's
//! own signal handler wrote.

use std::path::PathBuf;

/// A place in a plugin's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodePlace {
    pub(crate) plugin: String,
    /// `file:line in function`.
    pub(crate) line: String,
}

/// The innermost frame of a plugin, of the thread that runs the event loop where it can be told:
/// that one is written last.
pub(crate) fn find(dump: &str, plugins: &[(String, PathBuf)]) -> Option<CodePlace> {
    let mut found = None;
    for thread in dump.split("\n\n") {
        let place = thread.lines().find_map(|line| place(line, plugins));
        found = place.or(found);
    }
    found
}

/// `  File "/a/b.py", line 3 in f`
fn place(line: &str, plugins: &[(String, PathBuf)]) -> Option<CodePlace> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (plugin, _) = plugins
        .iter()
        .find(|(_, path)| PathBuf::from(file).starts_with(path))?;
    let (number, function) = rest.split_once(" in ").unwrap_or((rest, "?"));
    Some(CodePlace {
        plugin: plugin.clone(),
        line: format!("{file}:{number} in {function}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_line_of_a_plugin_is_named() {
        let plugins = [
            ("one".to_owned(), PathBuf::from("/p/one")),
            ("two".to_owned(), PathBuf::from("/p/two")),
        ];
        let dump = "Thread 0x1 (most recent call first):\n  File \"/p/one/a.py\", line 3 in idle\n\n\
                    Current thread 0x2 (most recent call first):\n  File \"/lib/re.py\", line 1 in match\n  \
                    File \"/p/two/b.py\", line 7 in search\n  File \"/p/one/a.py\", line 9 in call\n";
        let place = find(dump, &plugins).unwrap();
        assert_eq!(place.plugin, "two");
        assert_eq!(place.line, "/p/two/b.py:7 in search");
        assert_eq!(
            find(
                "Thread 0x1:\n  File \"/lib/re.py\", line 1 in f\n",
                &plugins
            ),
            None
        );
    }
}
