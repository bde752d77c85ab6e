//! What was expected against what came, in words for people. Only keys that a step names are
//! compared; texts marked as cut are compared by their beginning, values marked as unstable by
//! their shape, texts in somebody else's words by what they have to name.

use serde_json::{Map, Value as Json};

use super::{OUTPUTS, Step, asked::required};

/// Begins a text that was in somebody else's words: any text is as good that contains each of the parts that
/// follow, which are separated by `|`.
const ALIKE: char = '≈';

/// Characters of a text that a difference shows around the first odd one.
const AROUND: usize = 60;

/// What differs, a line each; none if nothing does.
pub fn compare(step: &Step, observed: &Map<String, Json>) -> Option<String> {
    let expected = &step.0;
    let how = ComparisonOptions {
        clip: expected
            .get("clip")
            .and_then(Json::as_u64)
            .and_then(|it| usize::try_from(it).ok()),
        shape_only: expected.get("unstable").is_some_and(|it| *it != false),
    };
    let mut lines = Vec::new();
    for key in OUTPUTS {
        let Some(wanted) = expected.get(*key) else {
            continue;
        };
        let wanted = match *key {
            "system_pushed" if failed(expected) => without_none(wanted),
            "llm_requests" => required(wanted),
            _ => wanted.clone(),
        };
        let came = observed.get(*key).unwrap_or(&Json::Null);
        how.difference(key, &wanted, came, &mut lines);
    }
    let failure = observed.get("error").and_then(Json::as_str);
    if let Some(failure) = failure.filter(|it| !it.is_empty())
        && !lines.is_empty()
        && !expected.contains_key("error")
    {
        lines.push(format!("it failed: {failure}"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What differs between two values, a line each.
pub fn differences(place: &str, wanted: &Json, came: &Json) -> Option<String> {
    let how = ComparisonOptions {
        clip: None,
        shape_only: false,
    };
    let mut lines = Vec::new();
    how.difference(place, wanted, came, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn failed(step: &Map<String, Json>) -> bool {
    let error = step.get("error").and_then(Json::as_str);
    error.is_some_and(|error| !error.is_empty())
}

/// Compat(nekro): after an exception upstream pushes the text "None"; nobody needs that.
fn without_none(pushed: &Json) -> Json {
    let rows = pushed.as_array().into_iter().flatten();
    let kept = rows.filter(|row| row.get("msg").and_then(Json::as_str) != Some("None"));
    kept.cloned().collect()
}

struct ComparisonOptions {
    /// Texts of this length were cut.
    clip: Option<usize>,
    shape_only: bool,
}

impl ComparisonOptions {
    fn difference(&self, place: &str, wanted: &Json, came: &Json, lines: &mut Vec<String>) {
        match (wanted, came) {
            (Json::Object(wanted), Json::Object(came)) => {
                for (key, value) in wanted {
                    let place = format!("{place}.{key}");
                    match came.get(key) {
                        Some(came) => self.difference(&place, value, came, lines),
                        None => {
                            lines.push(format!("{place}: expected {}, got nothing", short(value)))
                        }
                    }
                }
                let more = came.keys().filter(|key| !wanted.contains_key(*key));
                lines.extend(
                    more.map(|key| {
                        format!("{place}.{key}: not expected, got {}", short(&came[key]))
                    }),
                );
            }
            (Json::Array(wanted), Json::Array(came)) => {
                for (index, value) in wanted.iter().enumerate() {
                    let place = format!("{place}[{index}]");
                    match came.get(index) {
                        Some(came) => self.difference(&place, value, came, lines),
                        None => {
                            lines.push(format!("{place}: expected {}, got nothing", short(value)))
                        }
                    }
                }
                for (index, value) in came.iter().enumerate().skip(wanted.len()) {
                    lines.push(format!(
                        "{place}[{index}]: not expected, got {}",
                        short(value)
                    ));
                }
            }
            (Json::String(wanted), Json::String(came)) => {
                lines.extend(self.text(place, wanted, came));
            }
            (Json::Number(wanted), Json::Number(came)) => {
                if !self.shape_only && wanted.as_f64() != came.as_f64() {
                    lines.push(format!("{place}: expected {wanted}, got {came}"));
                }
            }
            (wanted, came) if wanted == came => {}
            (Json::Bool(_), Json::Bool(_)) if self.shape_only => {}
            (wanted, came) => lines.push(format!(
                "{place}: expected {}, got {}",
                short(wanted),
                short(came)
            )),
        }
    }

    fn text(&self, place: &str, wanted: &str, came: &str) -> Option<String> {
        if let Some(parts) = wanted.strip_prefix(ALIKE) {
            let missing = parts.split('|').find(|part| !came.contains(part))?;
            return Some(format!(
                "{place}: expected a text with {missing:?}, got {:?}",
                around(came, 0)
            ));
        }
        let length = wanted.chars().count();
        let is_cut = self.clip.is_some_and(|clip| length >= clip);
        if self.shape_only || wanted == came || (is_cut && came.starts_with(wanted)) {
            return None;
        }
        let same = wanted.chars().zip(came.chars());
        let at = same.take_while(|(wanted, came)| wanted == came).count();
        if at <= AROUND && length <= 2 * AROUND && came.chars().count() <= 2 * AROUND {
            return Some(format!("{place}: expected {wanted:?}, got {came:?}"));
        }
        Some(format!(
            "{place}: differs at character {at}: expected {:?}, got {:?}",
            around(wanted, at),
            around(came, at)
        ))
    }
}

fn around(text: &str, at: usize) -> String {
    let start = at.saturating_sub(AROUND / 3);
    let shown: String = text.chars().skip(start).take(AROUND).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().count() > start + AROUND {
        "…"
    } else {
        ""
    };
    format!("{before}{shown}{after}")
}

fn short(value: &Json) -> String {
    let text = value.to_string();
    if text.chars().count() > 2 * AROUND {
        format!("{}…", text.chars().take(2 * AROUND).collect::<String>())
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(step: Json, observed: Json, expect: Option<&str>) {
        let step: Step = serde_json::from_value(step).unwrap();
        let Json::Object(observed) = observed else {
            panic!("an object")
        };
        assert_eq!(compare(&step, &observed).as_deref(), expect);
    }

    #[test]
    fn only_what_a_step_names_is_compared() {
        check(
            json!({"call": "f", "result": "a"}),
            json!({"result": "a", "error": "x", "sent": [1]}),
            None,
        );
        check(
            json!({"result": "a", "error": ""}),
            json!({"result": "b", "error": "boom"}),
            Some("result: expected \"a\", got \"b\"\nerror: expected \"\", got \"boom\""),
        );
    }

    #[test]
    fn places_are_named() {
        check(
            json!({"sent": [{"segs": [["text", "hi"]], "record": false}]}),
            json!({"sent": [{"segs": [["text", "ho"]], "record": false}, 2]}),
            Some(
                "sent[0].segs[0][1]: expected \"hi\", got \"ho\"\n\
                 sent[1]: not expected, got 2",
            ),
        );
        check(
            json!({"sent": [1]}),
            json!({"sent": []}),
            Some("sent[0]: expected 1, got nothing"),
        );
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let wanted = format!("{}门{}", "a".repeat(200), "b".repeat(200));
        let came = format!("{}窗{}", "a".repeat(200), "b".repeat(200));
        let step = Step(Map::from_iter([("result".to_owned(), json!(wanted))]));
        let observed = Map::from_iter([("result".to_owned(), json!(came))]);
        let told = compare(&step, &observed).unwrap();
        assert!(told.starts_with("result: differs at character 200: expected \"…aaa"));
        assert!(told.contains("a门b") && told.contains("a窗b"), "{told}");
    }

    #[test]
    fn cut_texts_and_unstable_values() {
        check(
            json!({"clip": 3, "result": "abc"}),
            json!({"result": "abcdef"}),
            None,
        );
        check(
            json!({"clip": 4, "result": "abc"}),
            json!({"result": "abcdef"}),
            Some("result: expected \"abc\", got \"abcdef\""),
        );
        check(
            json!({"unstable": true, "sent": [["12:00"]]}),
            json!({"sent": [["13:00"]]}),
            None,
        );
        check(
            json!({"unstable": true, "sent": [["12:00"]]}),
            json!({"sent": []}),
            Some("sent[0]: expected [\"12:00\"], got nothing"),
        );
    }

    #[test]
    fn texts_in_other_words_have_to_name_the_same() {
        let came = json!({"sent": [["there is no dog here"]]});
        for wanted in ["≈", "≈dog", "≈dog|here", "≈here|no "] {
            check(json!({"sent": [[wanted]]}), came.clone(), None);
        }
        check(
            json!({"sent": [["≈dog|cat"]]}),
            came.clone(),
            Some("sent[0][0]: expected a text with \"cat\", got \"there is no dog here\""),
        );
        check(
            json!({"sent": [["≈"]]}),
            json!({"sent": [[{"Image": {}}]]}),
            Some("sent[0][0]: expected \"≈\", got {\"Image\":{}}"),
        );
    }

    #[test]
    fn a_failure_that_nobody_asked_about_explains_the_difference() {
        check(
            json!({"py": "x", "result": "1"}),
            json!({"result": null, "error": "no x"}),
            Some("result: expected \"1\", got null\nit failed: no x"),
        );
    }

    #[test]
    fn what_upstream_pushes_by_mistake_is_not_required() {
        let pushed = json!([{"chat_key": "k", "msg": "None", "trigger": false}]);
        check(
            json!({"error": "boom", "system_pushed": pushed}),
            json!({"error": "boom", "system_pushed": []}),
            None,
        );
    }
}
