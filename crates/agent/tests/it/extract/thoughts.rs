//! Thinking aloud: neither said nor run.

use callgate_agent::{Answer, extract};

#[track_caller]
fn check(answer: &str, thought: Option<&str>, text: &str, code: Option<&str>) {
    let expect = Answer {
        thought: thought.map(str::to_owned),
        text: text.to_owned(),
        code: code.map(str::to_owned),
    };
    assert_eq!(extract(answer), expect, "{answer}");
}

#[test]
fn apart_from_text_and_code() {
    check("<think>hm</think>Hello", Some("hm"), "Hello", None);
    check(
        "<think>\na\n</think>\n\n```python\nf()\n```\nok",
        Some("a"),
        "ok",
        Some("f()"),
    );
    check(
        "<think>a</think>```python\nf()\n```",
        Some("a"),
        "",
        Some("f()"),
    );
    check(
        "<thinking>a</thinking> one <think>b</think> two",
        Some("a\n\nb"),
        "one \n two",
        None,
    );
    check("<think></think>Hello", None, "Hello", None);
}

#[test]
fn drafts_of_code_are_not_run() {
    check(
        "<think>maybe\n```python\nwrong()\n```\n</think>\n```python\nright()\n```",
        Some("maybe\n```python\nwrong()\n```"),
        "",
        Some("right()"),
    );
}

#[test]
fn unclosed_it_runs_to_the_end() {
    check(
        "<think>so\n```python\ndraft()\n```",
        Some("so\n```python\ndraft()\n```"),
        "",
        None,
    );
}

#[test]
fn nested_it_ends_with_the_last() {
    check(
        "<think>a <think>b</think> c</think>done",
        Some("a <think>b</think> c"),
        "done",
        None,
    );
    check(
        "<think>I use <think> tags</think>done",
        Some("I use <think> tags"),
        "done",
        None,
    );
}

#[test]
fn without_its_beginning_all_before_is_thought() {
    check(
        "First I\n```python\ndraft()\n```\nno.\n</think>\n```python\nreal()\n```",
        Some("First I\n```python\ndraft()\n```\nno."),
        "",
        Some("real()"),
    );
    check("```python\nf()\n```\n</think>", None, "", Some("f()"));
}

#[test]
fn a_tag_in_code_or_in_a_sentence_is_no_thought() {
    check(
        "```python\nprint(\"<think>\")\nf()\n```",
        None,
        "",
        Some("print(\"<think>\")\nf()"),
    );
    let said = "The `<think>` tag opens, the `</think>` tag closes.";
    check(said, None, said, None);
    let said = "Reasoning begins with <think> in some models.\nNot in all.";
    check(said, None, said, None);
}
