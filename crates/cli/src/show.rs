//! Printing: data to standard output, everything about it to standard error, colours only where
//! somebody sees them and never as the only sign of anything.

use std::{
    io::{IsTerminal, Write},
    sync::LazyLock,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::Value as Json;

use crate::failure::Failure;

#[derive(Clone, Copy)]
pub enum Colour {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

/// Decided once for each stream.
struct ColourSupport {
    stdout: bool,
    stderr: bool,
}

static COLOURED: LazyLock<ColourSupport> = LazyLock::new(|| {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let wanted = !refused && !dumb;
    ColourSupport {
        stdout: wanted && std::io::stdout().is_terminal(),
        stderr: wanted && std::io::stderr().is_terminal(),
    }
});

/// `text` in `colour`, for standard output.
pub fn paint(colour: Colour, text: &str) -> String {
    coloured(COLOURED.stdout, colour, text)
}

/// `text` in `colour`, for standard error.
pub fn paint_note(colour: Colour, text: &str) -> String {
    coloured(COLOURED.stderr, colour, text)
}

/// For what others print to standard error.
pub fn is_coloured_for_notes() -> bool {
    COLOURED.stderr
}

fn coloured(on: bool, colour: Colour, text: &str) -> String {
    let code = match colour {
        Colour::Bold => 1,
        Colour::Dim => 2,
        Colour::Red => 31,
        Colour::Green => 32,
        Colour::Yellow => 33,
        Colour::Cyan => 36,
    };
    if on {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// Data, as it is, at once.
pub fn data(text: &str) {
    let mut stdout = std::io::stdout().lock();
    // A reader that has seen enough (`| head`) must not cut off a run in the middle.
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

pub fn line(text: &str) {
    data(&format!("{text}\n"));
}

pub fn json(value: &Json) {
    line(&value.to_string());
}

/// `1 call`, `2 calls`.
pub fn count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}

/// Something about the data, for the person at the terminal.
pub fn note(text: &str) {
    // Nobody to tell if this fails.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        return json(&serde_json::json!(failure));
    }
    note(&format!(
        "{} {}\n{} {}",
        paint_note(Colour::Red, "error:"),
        failure.error,
        paint_note(Colour::Cyan, "hint:"),
        failure.hint
    ));
}

/// Columns, each as wide as its widest cell; the last takes what it needs.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// At most `limit` characters of the first line, with a sign where something was left out.
pub fn shortened(text: &str, limit: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(limit).collect();
    if short.len() < text.trim_end().len() {
        let room = limit.saturating_sub(1);
        format!("{}…", short.chars().take(room).collect::<String>())
    } else {
        short
    }
}

/// A sign of life on standard error, where that is a terminal, until it is finished.
pub fn spinner(message: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(message.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A choice by the word that stands for it in JSON.
pub fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_between_characters() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("门门门门", 3), "门门…");
        assert_eq!(shortened("one\ntwo", 10), "one…");
    }

    #[test]
    fn columns_line_up() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(
            table(&[row(["a", "x"]), row(["门门门", ""])]),
            "a    x\n门门门\n"
        );
    }
}
