//! Fences of every make.

use super::check;

#[test]
fn every_name_of_python_and_either_fence() {
    for fence in [
        "```python",
        "```py",
        "```Python",
        "```python3",
        "``` python",
        "~~~python",
        "~~~~ py",
        "```{python}",
        "```python title=\"a.py\"",
        "```tool_code",
    ] {
        let close: String = fence.chars().take_while(|c| "`~".contains(*c)).collect();
        check(&format!("{fence}\nf(1)\n{close}"), "", Some("f(1)"));
    }
}

#[test]
fn text_stands_around_and_between() {
    check(
        "Before.\n\n```python\na()\n```\nBetween.\n```py\nb()\n\nc()\n```\nAfter.",
        "Before.\n\nBetween.\n\nAfter.",
        Some("a()\n\nb()\n\nc()"),
    );
    check(
        "```python\nf()\n``` Done!  \nBye.",
        "Done!  \nBye.",
        Some("f()"),
    );
    check("On it: ```python\nf()\n```", "On it:", Some("f()"));
}

#[test]
fn other_languages_are_shown() {
    for fence in [
        "```json", "```bash", "```text", "```js", "~~~yaml", "```pycon",
    ] {
        let close: String = fence.chars().take_while(|c| "`~".contains(*c)).collect();
        let answer = format!("Like this:\n{fence}\nprint(1)\n{close}\nRight?");
        check(&answer, &answer, None);
    }
    check(
        "```json\n{}\n```\n```python\nf()\n```",
        "```json\n{}\n```",
        Some("f()"),
    );
}

#[test]
fn an_unnamed_block_is_code_if_it_reads_as_python_and_none_is_named() {
    check(
        "```\nsend_message(\"hi\")\n```",
        "",
        Some("send_message(\"hi\")"),
    );
    check(
        "~~~\nx = now()\nprint(x)\n~~~",
        "",
        Some("x = now()\nprint(x)"),
    );
    for shown in [
        "```\nRoses are red,\nviolets are blue\n```",
        "```\nnpm install left-pad\n```",
        "```\n{\"a\": 1}\n```",
        "```\n$ ls -la\ntotal 0\n```",
        "```\n+---+\n| a |\n+---+\n```",
        "```\n```",
    ] {
        check(shown, shown, None);
    }
    check(
        "```python\nf()\n```\nprints\n```\nx = 1\n```",
        "prints\n```\nx = 1\n```",
        Some("f()"),
    );
}

#[test]
fn a_fence_in_a_string_belongs_to_the_string() {
    let code = "text = \"\"\"\n```json\n{}\n```\n\"\"\"\nsend_message(text)";
    check(
        &format!("```python\n{code}\n```\nSent."),
        "Sent.",
        Some(code),
    );
    let code = "s = '''# Title\n```\nplain\n```\n'''  # it's done\nf(s)";
    check(&format!("```python\n{code}\n```"), "", Some(code));
    let code = "f(\"ends in ```\")\ng('```')";
    check(&format!("```python\n{code}\n```"), "", Some(code));
}

#[test]
fn a_string_that_never_ends_does_not_swallow_the_rest() {
    check(
        "```python\ns = \"\"\"oops\n```\nSorry, that was it.",
        "Sorry, that was it.",
        Some("s = \"\"\"oops"),
    );
}

#[test]
fn a_block_that_is_not_closed_runs_to_the_end() {
    check("Now:\n```python\na()\nb()", "Now:", Some("a()\nb()"));
    check("```python\nf()```\nBye", "Bye", Some("f()"));
    check("```python f()```", "", Some("f()"));
    check("```python", "", None);
    check("```python\n\n```", "", None);
}

#[test]
fn a_forgotten_end_before_the_next_block() {
    check(
        "```python\na()\n```python\nb()\n```\nend",
        "end",
        Some("a()\n\nb()"),
    );
    check(
        "```json\n{}\n```python\nb()\n```",
        "```json\n{}\n```",
        Some("b()"),
    );
}

#[test]
fn margins_are_removed() {
    check(
        "1. First\n   ```python\n   if a:\n       b()\n   ```\n2. Then",
        "1. First\n\n2. Then",
        Some("if a:\n    b()"),
    );
    check(
        "```python\n    if a:\n        b()\n```",
        "",
        Some("if a:\n    b()"),
    );
}

#[test]
fn blocks_inside_markdown_are_shown() {
    let shown = "```markdown\n# How to\n```python\nf()\n```\nThat is all.\n```";
    check(shown, shown, None);
    let shown = "````md\n```python\nf()\n```\n````";
    check(shown, shown, None);
}

#[test]
fn a_sentence_about_a_fence_opens_nothing() {
    let shown = "Begin your block with ```python\nand go on from there.";
    check(shown, shown, None);
    let shown = "Write `print(1)` or ``` x ``` inline.";
    check(shown, shown, None);
}

#[test]
fn both_ends_of_line_mean_the_same() {
    check(
        "Hi\r\n```python\r\na()\r\nb()\r\n```\r\nBye\r\n",
        "Hi\n\nBye",
        Some("a()\nb()"),
    );
}
