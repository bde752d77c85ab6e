//! Every command that the documents show can be typed.

use std::path::Path;

use clap::Parser;

use super::Arguments;

/// The commands in a document's blocks for shells, without what the shell does around them.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            is_shell = !is_shell && matches!(language, "sh" | "");
        } else if is_shell {
            let line = line.split(" #").next().unwrap_or_default();
            for command in line
                .split(" && ")
                .flat_map(|part| part.split([';', '|', '>', '<', '&']))
            {
                if command.trim().starts_with("callgate ") {
                    commands.push(words(command));
                }
            }
        }
    }
    commands
}

/// As a shell divides them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it reads the repository")]
fn every_command_in_the_documents_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = std::fs::read_dir(root.join("docs")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let documents = files.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let mut tried = 0;
    for path in documents.chain(["README.md", "SECURITY.md"].map(|name| root.join(name))) {
        for command in commands(&std::fs::read_to_string(&path).unwrap()) {
            // What stands in capitals or dots is for the reader to fill in.
            let line = command.iter().map(|word| match word.as_str() {
                "N" => "1",
                word => word,
            });
            if let Err(error) = Arguments::try_parse_from(line) {
                let is_help = !error.use_stderr();
                assert!(
                    is_help,
                    "{}: {}\n{error}",
                    path.display(),
                    command.join(" ")
                );
            }
            tried += 1;
        }
    }
    assert!(tried > 50, "only {tried} were found");
}
