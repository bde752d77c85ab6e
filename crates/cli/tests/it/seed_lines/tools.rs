//! Tools as the model is told of them: A-09, A-11, A-15 to A-19.

use serde_json::{Value as Json, json};

use super::{Guide, results, says, tools};
use crate::{
    model::calls,
    scene::{Scene, finish},
};

fn check(guide: &Guide) -> Json {
    let arguments = ["plugin", "check", &guide.plugin, "--json"];
    finish(guide.scene.bare(&arguments).spawn().unwrap()).json()[0].clone()
}

/// What the model gets to know of a tool.
fn declared<'a>(request: &'a Json, name: &str) -> &'a Json {
    let tools = request["tools"].as_array().unwrap().iter();
    let named: Vec<&Json> = tools.filter(|it| it["function"]["name"] == name).collect();
    let [one] = named[..] else {
        panic!("{name}: {named:?}");
    };
    assert_eq!(one["type"], "function");
    &one["function"]
}

fn text(name: &str, description: &str) -> Json {
    json!({
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
    })
}

/// A-09
#[test]
fn name_description_and_parameters_reach_the_model_as_they_are_written() {
    let guide = Guide::of("tool_loops");
    let call = calls(&[("bilibili_videos", json!({"keywords": "cats"}))]);
    guide.model.will_say(&[call, says("one film")]);
    let said = guide.chat(&["films, please", "/wrong"], &["--mode", "tools"]);
    assert_eq!(said, ["one film", "refused: ValidationError"]);
    let asked = guide.model.take_requests();
    assert_eq!(
        *declared(&asked[0], "bilibili_videos"),
        json!({
            "name": "bilibili_videos",
            "description": "Finds videos.",
            "parameters": text("keywords", "What to look for."),
        })
    );
    assert_eq!(results(&asked[1]), ["1. a film about cats\nlink: xxx"]);
}

/// The tools of a plugin stand beside the host's own methods, which are told of in full.
#[test]
fn methods_of_the_host_are_declared_in_full_beside_a_plugins_tools() {
    let guide = Guide::of("tool_loops");
    guide.model.will_say(&[says("nothing to do")]);
    guide.chat(&["hello"], &["--mode", "tools"]);
    let with_plugin = guide.model.take_requests();
    guide.model.will_say(&[says("nothing to do")]);
    let alone = ["send", "hello", "--mode", "tools", "--json"];
    guide.scene.callgate(&alone).succeeded();
    let without = guide.model.take_requests();
    let own = [
        "five_types",
        "get_weather",
        "bilibili_videos",
        "second_tool",
    ];
    let mut expected = own.to_vec();
    expected.extend(tools(&without[0]));
    assert_eq!(tools(&with_plugin[0]), expected);
    for name in tools(&without[0]) {
        assert_eq!(declared(&with_plugin[0], name), declared(&without[0], name));
    }
}

/// A-11
#[test]
fn tools_of_the_start_are_listed_and_a_repeated_name_replaces_with_a_warning() {
    let guide = Guide::of("tool_loops");
    let report = check(&guide);
    let methods = report["methods"].as_array().unwrap().iter();
    let methods: Vec<&str> = methods.map(|it| it["name"].as_str().unwrap()).collect();
    assert!(methods.contains(&"bilibili_videos"), "{methods:?}");
    let second = methods.iter().filter(|name| **name == "second_tool");
    assert_eq!(second.count(), 1);
    assert_eq!(report["warnings"], json!(["tool second_tool is replaced"]));

    let call = calls(&[("second_tool", json!({"word": "tea"}))]);
    guide.model.will_say(&[call, says("done")]);
    assert_eq!(guide.chat(&["go"], &["--mode", "tools"]), ["done"]);
    let asked = guide.model.take_requests();
    let second = declared(&asked[0], "second_tool");
    assert_eq!(second["description"], "The final one.");
    assert_eq!(results(&asked[1]), ["from the final one: tea"]);
}

/// A-15 to A-18: the function's name where none is given, the docstring as schema, each type.
#[test]
fn a_docstring_is_the_schema_of_a_decorated_tool() {
    let guide = Guide::of("tool_loops");
    let types = json!({
        "text": "t", "amount": 1.5, "record": {"a": [1]}, "sure": true, "items": [1, "b"], "names": ["x"],
    });
    let both = calls(&[
        ("five_types", types),
        ("get_weather", json!({"location": "Rome"})),
    ]);
    guide.model.will_say(&[both, says("done")]);
    assert_eq!(guide.chat(&["go"], &["--mode", "tools"]), ["done"]);
    let asked = guide.model.take_requests();
    let location = json!({"type": "string", "description": "where"});
    assert_eq!(
        *declared(&asked[0], "get_weather"),
        json!({
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {"location": location}},
        })
    );
    let names = json!({
        "type": "array", "items": {"type": "string"}, "description": "a list of texts",
    });
    assert_eq!(
        *declared(&asked[0], "five_types"),
        json!({
            "name": "five_types",
            "description": "All the types.\n\nMore about them.",
            "parameters": {"type": "object", "properties": {
                "text": {"type": "string", "description": "a text"},
                "amount": {"type": "number", "description": "a number"},
                "record": {"type": "object", "description": "an object"},
                "sure": {"type": "boolean", "description": "yes or no"},
                "items": {"type": "array", "description": "a list"},
                "names": names,
            }},
        })
    );
    let values = r#"["t", 1.5, {"a": [1]}, true, [1, "b"], ["x"]]"#;
    assert_eq!(results(&asked[1]), [values, "sunny in Rome"]);
}

/// A plugin with one decorated tool, whose parameter is described by this heading and type.
fn decorated(scene: &Scene, name: &str, heading: &str, kind: &str) -> String {
    let folder = scene.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    let source = format!(
        "from astrbot.api.event import filter
from astrbot.api.star import Star


class Odd(Star):
    @filter.llm_tool(name='odd_tool')
    async def odd(self, event, mistaken):
        '''Odd.

        {heading}
            mistaken{kind}: something
        '''
"
    );
    std::fs::write(folder.join("main.py"), source).unwrap();
    let metadata = format!("name: {name}\nauthor: t\ndesc: t\nversion: 1.0.0\n");
    std::fs::write(folder.join("metadata.yaml"), metadata).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// A-19
#[test]
fn a_docstring_of_the_wrong_format_is_told_by_tool_and_parameter() {
    let scene = Scene::new();
    let folders = [
        decorated(&scene, "without_type", "Args:", ""),
        decorated(&scene, "unknown_type", "Args:", "(integer)"),
        decorated(&scene, "items_of_text", "Args:", "(string[x])"),
        decorated(&scene, "lists_of_lists", "Args:", "(array[array[string]])"),
        decorated(&scene, "other_heading", "参数:", "(string)"),
        decorated(&scene, "wide_colon", "Args：", "(string)"),
    ];
    let mut arguments = vec!["plugin", "check", "--json"];
    arguments.extend(folders.iter().map(String::as_str));
    let reports = finish(scene.bare(&arguments).spawn().unwrap()).json();
    let (refused, warned) = reports.as_array().unwrap().split_at(4);
    for report in refused {
        assert_eq!(report["ok"], false, "{report}");
        let error = report["error"].as_str().unwrap();
        let names = error.contains("odd_tool") && error.contains("mistaken");
        assert!(names, "{error}");
    }
    assert_eq!(warned.len(), 2);
    for report in warned {
        assert_eq!(report["ok"], true, "{report}");
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("odd_tool"), "{report}");
        let parameters = &report["methods"][0]["parameters"];
        assert_eq!(parameters["properties"], json!({}), "silently lost");
    }
}
