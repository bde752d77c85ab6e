//! What we say to people leads somewhere: every command that a text of ours names is there, and a notice is
//! in the language of the message that it answers.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    astrbot::example,
    environments::equipped,
    model::FakeModel,
    sandbox_methods::{with_packages, written},
    scene::Scene,
};

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().and_then(|it| it.to_str());
        match ending {
            None if path.is_dir() => files(&path, found),
            Some("rs" | "py" | "md" | "ts" | "svelte") => found.push(path),
            _ => {}
        }
    }
}

/// The words after each `before` that look like a command's.
fn named(text: &str, before: &str) -> BTreeSet<String> {
    let is_command =
        |word: &&str| !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase());
    let after = text.split(before).skip(1);
    let words = after.map(|rest| {
        let line = rest.split(['`', '\n', '"', ',']).next().unwrap_or_default();
        let words = line.split(' ').take_while(is_command);
        words.take(2).collect::<Vec<_>>().join(" ")
    });
    words.filter(|words| !words.is_empty()).collect()
}

/// Chat commands in a text: a slash at the beginning of a word, and not of a path.
fn chat_commands(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| it.is_whitespace() || "\"'`(".contains(it));
    let commands = words.filter_map(|word| word.strip_prefix('/'));
    let commands = commands.map(|word| word.trim_end_matches([',', '.', ';', ':', ')']));
    let is_command = |word: &&str| word.len() > 1 && word.chars().all(|it| it.is_ascii_lowercase());
    commands.filter(is_command).map(str::to_owned).collect()
}

#[test]
fn chat_commands_that_our_texts_name_are_answered_by_us() {
    let model = FakeModel::scripted();
    let scene = Scene::configured(&model.toml());
    let chat = |lines: &str| {
        scene
            .given(lines, &["chat", "--json"])
            .succeeded()
            .messages()
    };
    let mut commands = chat_commands(&chat("/help\n")[0]);
    for file in [
        "python/astrbot/texts.py",
        "python/nekro_agent/texts.py",
        "python/worker/callgate_worker/flavours/native_texts.py",
        "crates/agent/src/texts.rs",
        "crates/agent/src/commands.rs",
    ] {
        commands.append(&mut chat_commands(
            &fs::read_to_string(tree().join(file)).unwrap(),
        ));
    }
    assert!(
        commands.contains("model") && commands.contains("help"),
        "{commands:?}"
    );
    for command in commands {
        let answers = chat(&format!("/{command}\n"));
        assert_eq!(answers.len(), 1, "/{command}: {answers:?}");
    }
    assert_eq!(model.asked(), 0, "none of them is left to the model");
}

#[test]
fn commands_of_the_terminal_that_we_name_are_there() {
    let mut found = Vec::new();
    for folder in ["crates", "python", "docs", "web/src"] {
        files(&tree().join(folder), &mut found);
    }
    found.push(tree().join("README.md"));
    let read = |path: &PathBuf| named(&fs::read_to_string(path).unwrap(), "`callgate ");
    let commands: BTreeSet<String> = found.iter().flat_map(read).collect();
    assert!(commands.contains("client approve"), "{commands:?}");
    let scene = Scene::new();
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let said = scene.callgate(&words);
        assert_eq!(said.code, Some(0), "callgate {command}: {}", said.stderr);
    }
}

#[test]
fn files_that_the_code_map_names_are_there() {
    let map = fs::read_to_string(tree().join("ARCHITECTURE.md")).unwrap();
    let quoted = map.split('`').skip(1).step_by(2);
    let is_file = |word: &&str| {
        let ending = Path::new(word).extension().and_then(|it| it.to_str());
        word.contains('/') && matches!(ending, Some("rs" | "py" | "md" | "json"))
    };
    let files: BTreeSet<&str> = quoted.filter(is_file).collect();
    assert!(files.len() > 100, "{files:?}");
    let missing: Vec<&str> = files
        .into_iter()
        .filter(|file| {
            // `<domain>` stands for several: of these the folder is there.
            let known = file.split('<').next().unwrap_or_default();
            let mut folders = ["", "crates"].iter().map(|folder| tree().join(folder));
            !folders.any(|folder| folder.join(known).exists())
        })
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_notice_is_in_the_language_of_the_message_that_it_answers() {
    let scene = Scene::new();
    let silent = scene.script(&[]);
    let said = scene.given("hello\n你好\n", &["chat", "--model", &silent, "--json"]);
    let said = said.messages();
    assert!(
        said[0].starts_with("The model could not answer: "),
        "{said:?}"
    );
    assert!(said[1].starts_with("模型没能回答："), "{said:?}");

    let garden = example("command_garden");
    let scene = equipped(&garden);
    let arguments = ["chat", "--plugin", &garden, "--json"];
    let said = scene.given("/add x\n/add 三\n/boom\n", &arguments);
    assert_eq!(
        said.succeeded().messages(),
        [
            "command_garden: what you gave for 'a' does not fit. The command takes: a(int),b(int)=3",
            "command_garden：“a”填得不合适。这条命令需要：a(int),b(int)=3",
            "command_garden could not finish: broken (in boom)",
        ]
    );

    let scene = with_packages();
    let roll = "
from nekro_agent.services.command.base import CommandPermission

@plugin.mount_command('roll', 'Rolls', aliases=['掷骰'], permission=CommandPermission.PUBLIC)
async def roll(context, sides: int):
    return CmdCtl.success(str(sides))
";
    let plugin = written(&scene, "dice", roll);
    let said = scene.given("/roll\n/掷骰\n", &["chat", "--plugin", &plugin, "--json"]);
    assert_eq!(
        said.succeeded().messages(),
        [
            "That does not fit: sides is missing",
            "这样写不行：还缺 sides"
        ]
    );
}
