//! What each surface says when something goes wrong, provoked one by one: what happened, and what to do about it, in the
//! words of that surface. A row is what is done, a piece of the error, and a piece of the way on.

mod code;
mod command_line;
mod configuration;
mod http;
mod plugins;

/// Each surface has its own words: what helps at one is no help at another.
const NEVER_AT_THE_TERMINAL: [&str; 4] = ["/api/", "Authorization", "of another shape", "panicked"];
const NEVER_OVER_HTTP: [&str; 6] = [
    "--args",
    "--prompt",
    "--name",
    "--replace",
    "of another shape",
    "panicked",
];

fn holds(what: &str, said: (&str, &str), wanted: (&str, &str), never: &[&str]) -> Option<String> {
    let ((error, hint), (in_error, in_hint)) = (said, wanted);
    let foreign = never
        .iter()
        .find(|it| error.contains(**it) || hint.contains(**it));
    let is_told =
        !error.is_empty() && !hint.is_empty() && error.contains(in_error) && hint.contains(in_hint);
    (!is_told || foreign.is_some()).then(|| {
        format!("{what}\n    error: {error}\n    hint:  {hint}\n    wanted: {in_error} / {in_hint}")
    })
}

/// All of them at once: one wrong row must not hide the next.
fn all_hold(failures: Vec<String>) {
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn there_are_enough_of_them() {
    let rows = [
        command_line::ROWS.len(),
        configuration::ROWS.len(),
        http::count(),
        code::ROWS.len(),
        plugins::ROWS.len(),
    ];
    let rows: usize = rows.iter().sum();
    assert!(rows >= 120, "{rows}");
}
