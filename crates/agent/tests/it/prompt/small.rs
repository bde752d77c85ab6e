//! A catalogue that fits: every method in full.

use callgate_agent::prompt::declared;
use callgate_contract::{MethodInfo, Mode};

use super::{few, prompt};

#[test]
fn code_mode() {
    insta::assert_snapshot!(prompt(Mode::Code, &few()));
}

#[test]
fn tool_mode() {
    insta::assert_snapshot!(prompt(Mode::Tools, &few()));
}

#[test]
fn no_methods_at_all() {
    let text = prompt(Mode::Code, &[]);
    assert!(text.contains("# Methods\nThere are none"), "{text}");
    assert!(!text.contains("send_message"), "{text}");
}

#[test]
fn equal_contexts_give_equal_prompts_in_any_order_of_origins() {
    let one = few();
    let mut other = few();
    other.rotate_left(2);
    for mode in [Mode::Code, Mode::Tools] {
        assert_eq!(prompt(mode, &one), prompt(mode, &one));
    }
    let origins = |methods: &[MethodInfo]| {
        let text = prompt(Mode::Code, methods);
        let heads = text.lines().filter(|line| line.starts_with("## "));
        heads.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(origins(&one), ["## builtin", "## plugin:weather"]);
    assert_eq!(origins(&one), origins(&other));
}

#[test]
fn a_docstring_cannot_begin_a_line_of_the_prompt() {
    let text = prompt(Mode::Code, &few());
    let definitions = text
        .lines()
        .filter(|line| line.starts_with("def send_message"));
    assert_eq!(definitions.count(), 1, "{text}");
}

#[test]
fn a_long_docstring_loses_its_middle() {
    let mut methods = few();
    methods[0].doc = "x".repeat(100_000);
    let text = prompt(Mode::Code, &methods);
    assert!(text.contains("bytes left out") && text.len() < 12_000);
}

#[test]
fn all_tools_are_declared() {
    let methods = few();
    let methods: Vec<&MethodInfo> = methods.iter().collect();
    assert_eq!(declared(&methods, &[]).len(), methods.len());
}
