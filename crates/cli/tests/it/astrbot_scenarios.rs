//! AstrBot plugins together with others and with code, through the real binary: hooks of many over
//! one request, and tools in code mode, also those that come while the plugin runs.

use serde_json::{Value as Json, json};

use crate::{
    astrbot::example,
    environments::equipped,
    scene::{Said, Scene, finish},
};

/// What the model was asked in the default session: one list of requests per turn, oldest first.
fn asked(scene: &Scene) -> Vec<Vec<Json>> {
    scene.stored(async |store| {
        let session = "cli:FriendMessage:operator".parse().unwrap();
        let mut asked = Vec::new();
        for turn in store.turns().list(&session, 20).await.unwrap() {
            let rounds = callgate_agent::rounds(&store, turn.start.id).await.unwrap();
            asked.push(callgate_testkit::whole_requests(&rounds));
        }
        asked
    })
}

fn calling(name: &str, arguments: &Json) -> Json {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"tool_calls": [{"id": "1", "type": "function", "function": function}]})
}

/// The texts of a message of a request, one after the other.
fn texts(message: &Json) -> Vec<&str> {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[test]
fn hooks_of_five_plugins_change_one_request() {
    let names = ["auditor", "toolbox", "recall", "spelling", "manners"];
    let folders = names.map(|name| example(&format!("five_hooks/{name}")));
    let scene = equipped(&folders[0]);
    let model = scene.script(&[
        calling("measure", &json!({"what": "the air"})),
        json!({"content": "25 degrees."}),
        json!({"content": "You are welcome."}),
    ]);
    let plugins = folders.iter().flat_map(|folder| ["--plugin", folder]);
    let mut arguments = vec!["chat", "--model", &model, "--mode", "tools", "--json"];
    arguments.extend(plugins);
    let said = scene.given("how is teh weather?\nthanks\n", &arguments);
    let said = said.succeeded().messages();
    assert_eq!(said, ["25 degrees.", "You are welcome."]);

    let turns = asked(&scene);
    let (first, second) = (&turns[0][0], &turns[0][1]);
    let messages = first["messages"].as_array().unwrap();
    let system = messages[0]["text"].as_str().unwrap();
    assert!(
        system.ends_with("\nBe polite.\nSeen: [2, 2, True]"),
        "{system}"
    );
    assert_eq!(texts(&messages[1]), ["I live in Oslo."]);
    assert_eq!(messages[2]["text"], "Noted.");
    let user = texts(&messages[3]);
    assert_eq!(
        user[..3],
        [
            "how is the weather?",
            "<about the weather>",
            "<said in a hurry>"
        ]
    );
    let offered = first["tools"].as_array().unwrap().iter();
    let offered: Vec<&str> = offered.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(
        offered.contains(&"measure") && offered.contains(&"saw") && !offered.contains(&"hammer"),
        "{offered:?}"
    );
    let told = second["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(texts(told), ["the air: 25 degrees, asked by operator"]);

    // What was for this answer alone is not in the next question's history.
    let next = turns[1][0]["messages"].to_string();
    assert!(
        next.contains("how is the weather?") && next.contains("<said in a hurry>"),
        "{next}"
    );
    assert!(
        !next.contains("teh weather?") && !next.contains("<about the weather>"),
        "{next}"
    );
}

/// Answers that are code, in a chat of code mode.
fn coded(scene: &Scene, plugin: &str, lines: &str, codes: &[&str]) -> Said {
    let answer = |code: &&str| json!({ "content": format!("```python\n{code}\n```") });
    let answers: Vec<Json> = codes.iter().map(answer).collect();
    let model = scene.script(&answers);
    let arguments = [
        "chat", "--plugin", plugin, "--model", &model, "--mode", "code", "--json",
    ];
    scene.given(lines, &arguments)
}

#[test]
fn code_of_a_turn_calls_tools_of_an_astrbot_plugin_as_methods() {
    let plugin = example("weather_agents");
    let scene = equipped(&plugin);
    // By name, by position, one that speaks for itself, and what a tool's own error is to code.
    let code = "\
told = city_weather(city='Oslo') + '; ' + str(old_tool('tea'))
get_weather('Rome')
try:
    city_weather()
except MethodError as error:
    told += '; ' + str(error)
send_message(told)";
    let said = coded(&scene, &plugin, "how is it?\n", &[code]).succeeded();
    let [weather, told] = &said.messages()[..] else {
        panic!("{:?}", said.messages());
    };
    assert_eq!(weather, "weather_agents: Rome is sunny");
    let values = "Oslo: sunny, 25 degrees; {'word': 'tea', 'from': 'operator'}; ";
    let error = told.strip_prefix(values).unwrap();
    assert!(error.ends_with("'city'"), "{told}");
}

#[test]
fn tools_that_come_late_are_called_by_code_from_then_on() {
    let plugin = example("late_tools");
    let scene = equipped(&plugin);
    let known = "send_message(str([name for name in ('learned', 'appended', 'at_once', 'hooked') \
                 if name in globals()]))";
    let lines = "what do you know?\n/learn\nuse both\nat once, please\nin a hook\nwithout one\n\
                 /forget\nand now?\n";
    let said = coded(
        &scene,
        &plugin,
        lines,
        &[
            known,
            "send_message(learned() + ', ' + appended())",
            "send_message(at_once())",
            known,
            known,
            "send_message(appended() + ', ' + hooked())",
        ],
    );
    assert_eq!(
        said.succeeded().messages(),
        [
            "[]",
            "now I know",
            "learned for operator, appended for operator",
            "at_once for operator",
            "['learned', 'appended', 'at_once']",
            "['learned', 'at_once', 'hooked']",
            "now I do not",
            "appended for operator, hooked for operator",
        ]
    );
    // The model hears of them as of any method, also where the message itself brought one.
    let turns = asked(&scene);
    let shown = |turn: usize, name: &str| {
        let system = turns[turn][0]["messages"][0].to_string();
        system.contains(&format!("def {name}("))
    };
    assert!(!shown(0, "learned"), "{}", turns[0][0]);
    assert!(shown(1, "learned") && shown(1, "appended"));
    assert!(shown(2, "at_once"));
    assert!(!shown(4, "appended") && shown(4, "hooked"));
    assert!(!shown(5, "learned") && shown(5, "appended"));
}

const PAINTER: &str = "
import os
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star

class Painter(Star):
    @filter.command('draw')
    async def draw(self, event: AstrMessageEvent):
        yield event.image_result(os.path.join(os.path.dirname(__file__), 'a.png'))

    @filter.on_llm_request()
    async def ask_for_manners(self, event: AstrMessageEvent, req: ProviderRequest):
        req.system_prompt += '\\nBe polite.'
";

/// What a scenario expects of prompts, tools, pictures and words is compared with what came.
#[test]
fn a_scenario_forgives_nothing_that_it_names() {
    let scene = Scene::new();
    let folder = scene.home().join("painter");
    std::fs::create_dir(&folder).unwrap();
    let about = "name: painter\ndesc: paints\nversion: 1.0.0\nauthor: t\n";
    for (name, bytes) in [
        ("main.py", PAINTER.as_bytes()),
        ("metadata.yaml", about.as_bytes()),
        ("a.png", b"\x89PNG one"),
        ("b.png", b"\x89PNG two"),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let tested = |picture: &str, added: &str, tools: Json, words: &str| {
        let file = format!("/elsewhere/data/plugins/painter/{picture}");
        let system = format!("(base system prompt){added}");
        let messages = json!([
            {"role": "system", "content": system}, {"role": "user", "content": "hi"},
        ]);
        let scenario = json!({"steps": [
            {"msg": "/draw", "sent": [[{"Image": {"file": file}}]]},
            {"msg": "hi", "llm": [{"text": "good day"}], "sent": [[words]],
             "llm_requests": [{"tools": tools, "messages": messages}]},
        ]});
        let path = scene.file("painter.json", &scenario.to_string());
        let arguments = ["plugin", "test", folder.to_str().unwrap(), &path, "--json"];
        finish(scene.bare(&arguments).spawn().unwrap()).json()
    };
    let built_in = json!(["future_task", "send_message_to_user"]);
    let same = tested("a.png", "\nBe polite.", built_in, "≈good|day");
    assert_eq!(same["failed"], 0, "{same}");
    let other = tested("b.png", "", json!(["roll"]), "≈night");
    let difference = |step: usize| other["steps"][step]["difference"].as_str().unwrap();
    assert!(difference(0).contains("Image.file"), "{other}");
    for place in [
        "sent[0][0]: expected a text with \"night\"",
        "llm_requests[0].tools",
        "got \"(base system prompt)\\nBe polite.\"",
    ] {
        assert!(difference(1).contains(place), "{place}: {other}");
    }
}
