//! What must hold for any answer.

use callgate_agent::extract;
use proptest::prelude::*;

/// Prose that could tempt: it holds fences in sentences, Python words and quotation marks.
fn prose() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "said [a-z ]{0,20}",
        "said [\\PC&&[^`~<]]{0,20}",
        Just("said import os".to_owned()),
        Just("said \"\"\" and '''".to_owned()),
        Just("said `inline` code".to_owned()),
    ];
    prop::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"))
}

/// Code with everything that makes the end of a block hard to find.
fn code() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z]{1,5} = [0-9]{1,3}",
        "f\\(\"[^\"\\\\\n\r]{0,12}\"\\)",
        Just("s = \"\"\"\n```python\nx\n```\n\"\"\"".to_owned()),
        Just("s = '''it's \"quoted\"\n~~~\n'''".to_owned()),
        Just("# don't <think> of ```".to_owned()),
        Just("print('```', \"</think>\")".to_owned()),
        Just("if a:\n    b()\n\n    c()".to_owned()),
        Just("x = [\n  1,\n]".to_owned()),
    ];
    prop::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n"))
}

fn fence() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        Just(("```python", "```")),
        Just(("```py", "```")),
        Just(("~~~python", "~~~")),
        Just(("````Python3", "````")),
    ]
}

type Part = (String, (&'static str, &'static str), String);

fn parts() -> impl Strategy<Value = Vec<Part>> {
    prop::collection::vec((prose(), fence(), code()), 1..4)
}

fn written(parts: &[Part], end: &str) -> String {
    let mut answer = String::new();
    for (prose, (open, close), code) in parts {
        answer += &format!("{prose}\n{open}\n{code}\n{close}\n");
    }
    answer + end
}

proptest! {
    #[test]
    fn never_loses_code_and_never_runs_prose(parts in parts(), end in prose()) {
        let answer = extract(&written(&parts, &end));
        let blocks: Vec<&str> = parts.iter().map(|(_, _, code)| code.trim_end()).collect();
        prop_assert_eq!(answer.code, Some(blocks.join("\n\n")));
        let said = parts.iter().map(|(prose, ..)| prose.as_str()).chain([end.as_str()]);
        let said: Vec<&str> = said.flat_map(str::split_whitespace).collect();
        prop_assert_eq!(answer.text.split_whitespace().collect::<Vec<_>>(), said);
    }

    #[test]
    fn the_last_block_may_be_left_open(parts in parts()) {
        let whole = written(&parts, "");
        let open = whole.trim_end().trim_end_matches(['`', '~']).trim_end();
        prop_assert_eq!(extract(open).code, extract(&whole).code);
    }

    #[test]
    fn ends_of_line_do_not_matter(parts in parts(), end in prose(), any in "\\PC{0,40}(\n\\PC{0,40}){0,4}") {
        for answer in [written(&parts, &end), any] {
            prop_assert_eq!(extract(&answer.replace('\n', "\r\n")), extract(&answer));
        }
    }

    #[test]
    fn thoughts_change_neither_text_nor_code(parts in parts(), thought in prose(), draft in code()) {
        let plain = extract(&written(&parts, ""));
        let draft = draft.replace("</think>", "").replace("<think>", "");
        let thinking = format!("<think>{thought}\n```python\n{draft}\n```\n</think>\n{}", written(&parts, ""));
        let thinking = extract(&thinking);
        prop_assert_eq!((thinking.text, thinking.code), (plain.text, plain.code));
        prop_assert!(thinking.thought.is_some());
    }

    #[test]
    fn prose_alone_is_said(said in prose()) {
        let answer = extract(&said);
        prop_assert_eq!(answer.code, None);
        prop_assert_eq!(answer.text, said.trim());
    }

    #[test]
    fn any_text_comes_apart(text in ".*", pieces in prop::collection::vec(
        prop_oneof![
            Just("```"), Just("```python"), Just("~~~"), Just("<think>"), Just("</think>"),
            Just("\"\"\""), Just("'"), Just("\\"), Just("\n"), Just("\r\n"), Just("f(x)"), Just(" "),
            Just("门"), Just("("), Just("]"), Just(":"), Just("="), Just(";"), Just("if "), Just("@"),
        ], 0..60)
    ) {
        for answer in [text, pieces.concat()] {
            let parts = extract(&answer);
            prop_assert!(parts.code.is_none_or(|code| !code.trim().is_empty()));
        }
    }
}
