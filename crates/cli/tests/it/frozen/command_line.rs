//! `--json` of every command that has it: what it prints, and how it exits.

mod administration;
mod plugins;
mod talk;

use serde_json::Value as Json;

use super::redact::{Redact, outline};
use crate::scene::{Said, Scene, finish};

/// Commands given one after the other, and what they printed.
struct Transcript {
    scene: Scene,
    text: String,
}

impl Transcript {
    fn on(scene: Scene) -> Self {
        Transcript {
            scene,
            text: String::new(),
        }
    }

    /// Notes one command with all that it prints, and gives its first line's JSON.
    fn note(&mut self, arguments: &[&str]) -> Json {
        let said = self.scene.callgate(&[arguments, &["--json"]].concat());
        self.told(arguments, said)
    }

    /// Without our words in it, or what the machine is like.
    fn note_outline(&mut self, arguments: &[&str]) {
        let said = self.scene.callgate(&[arguments, &["--json"]].concat());
        let stdout = outline(&said.json()).to_string();
        self.told(arguments, Said { stdout, ..said });
    }

    /// Without a data directory.
    fn note_bare(&mut self, arguments: &[&str]) -> Json {
        let mut command = self.scene.bare(&[arguments, &["--json"]].concat());
        let said = finish(command.spawn().unwrap());
        self.told(arguments, said)
    }

    fn note_run(&mut self, code: &str) -> Json {
        let said = self.scene.run(code, &["--json"]);
        self.told(&["run", "-", "<<<", code], said)
    }

    fn told(&mut self, arguments: &[&str], said: Said) -> Json {
        let redact = Redact {
            home: self.scene.home(),
        };
        let lines = said.lines();
        let command = redact.text(&arguments.join(" "));
        self.text += &format!("$ callgate {command} --json\n");
        for line in &lines {
            self.text += &format!("{}\n", redact.pretty(line));
        }
        self.text += &format!("({})\n\n", said.code.unwrap());
        lines.into_iter().next().unwrap_or(Json::Null)
    }

    /// What was noted since the last time.
    fn taken(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}
