//! Lines of the seed documents, through the real binary: plugins of ours do what a line says, and the
//! model is a server on loopback, so that what it was really asked is seen on the wire.

mod conversations;
mod kinds;
mod loops;
mod models;
mod personas;
mod tools;

use serde_json::{Value as Json, json};

use crate::{astrbot::example, environments::equipped, model::FakeModel, scene::Scene};

/// Where lines are said.
const GROUP: &str = "cli:GroupMessage:7";

/// A plugin written for AstrBot, on a data directory with two models that are one server.
struct Guide {
    scene: Scene,
    model: FakeModel,
    plugin: String,
}

impl Guide {
    fn of(plugin: &str) -> Self {
        let plugin = example(plugin);
        let scene = equipped(&plugin);
        let model = FakeModel::scripted();
        let toml = model.toml_as("first") + &model.toml_as("second");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        Guide {
            scene,
            model,
            plugin,
        }
    }

    /// What is said to these messages of one chat, all in one process. Whoever says them is no more than a
    /// member of a group, and nobody is asked whether they may.
    fn chat(&self, messages: &[&str], options: &[&str]) -> Vec<String> {
        let said = self.say_as("ann", messages, options);
        let asked = self
            .scene
            .callgate(&["approval", "list", "--all", "--json"]);
        assert_eq!(asked.succeeded().json(), json!([]), "somebody was asked");
        said
    }

    fn say_as(&self, user: &str, messages: &[&str], options: &[&str]) -> Vec<String> {
        let mut arguments = vec!["chat", "--plugin", &self.plugin, "--json", "--user", user];
        if !options.contains(&"--session") {
            arguments.extend(["--session", GROUP]);
        }
        let lines = messages.join("\n") + "\n";
        let said = self.scene.given(&lines, &[&arguments, options].concat());
        said.succeeded().messages()
    }

    /// Who a chat is spoken with as, the operator says.
    fn choose_persona(&self, name: &str, options: &[&str]) {
        self.say_as("operator", &[&format!("/persona {name}")], options);
    }

    /// The same, of which every answer is JSON.
    fn found(&self, messages: &[&str], options: &[&str]) -> Vec<Json> {
        let said = self.chat(messages, options);
        said.iter().map(|text| read(text)).collect()
    }
}

fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

fn says(text: &str) -> Json {
    json!({ "content": text })
}

fn user(text: &str) -> Json {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Json {
    json!({"role": "assistant", "content": text})
}

/// The messages of a request that are the user's and the assistant's, each with its first text.
fn spoken(request: &Json) -> Vec<Json> {
    let messages = request["messages"].as_array().unwrap().iter();
    let spoken = messages.filter(|message| message["role"] != "system");
    let plain = |message: &Json| {
        let content = &message["content"];
        let text = content.get(0).map_or(content, |part| &part["text"]);
        json!({"role": message["role"], "content": text})
    };
    spoken.map(plain).collect()
}

/// The names of the tools in a request, none where it has no list of them.
fn tools(request: &Json) -> Vec<&str> {
    let tools = request["tools"].as_array();
    let names = tools.into_iter().flatten();
    names
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

/// The results of tools in a request, in order.
fn results(request: &Json) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].as_str().unwrap())
        .collect()
}
