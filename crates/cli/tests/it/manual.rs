//! Help, completions and manual pages: all say what can be typed.

use std::process::Command;

use crate::scene::Scene;

#[test]
fn help_explains_each_command_as_its_own_option_does() {
    let scene = Scene::new();
    for words in [&[][..], &["plugin"], &["plugin", "install"]] {
        let asked = scene.callgate(&[&["help"], words].concat()).succeeded();
        let option = scene.callgate(&[words, &["--help"]].concat()).succeeded();
        assert_eq!(asked.stdout, option.stdout, "{words:?}");
    }
    let unknown = scene.callgate(&["help", "plugin", "instal"]);
    assert_eq!(unknown.code, Some(1));
    let told =
        "error: there is no command 'plugin instal'\nhint: `callgate help` lists what there is\n";
    assert_eq!(unknown.stderr, told);
}

/// What bash offers once it has read the script.
#[allow(clippy::disallowed_methods, reason = "a shell of the test's own")]
fn offered(script: &str, words: &[&str]) -> Vec<String> {
    let line = words.join("' '");
    let last = words.len() - 1;
    let asks = format!(
        "{script}\nCOMP_WORDS=('{line}')\nCOMP_CWORD={last}\n_callgate callgate '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[last],
        words[last - 1],
    );
    let bash = Command::new("bash").args(["-c", &asks]).output().unwrap();
    assert!(
        bash.status.success(),
        "{}",
        String::from_utf8_lossy(&bash.stderr)
    );
    let offered = String::from_utf8(bash.stdout).unwrap();
    offered.lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_commands_and_options() {
    let scene = Scene::new();
    let bash = scene.callgate(&["completions", "bash"]).succeeded().stdout;
    assert_eq!(offered(&bash, &["callgate", "plat"]), ["platform"]);
    assert_eq!(offered(&bash, &["callgate", "plugin", "inst"]), ["install"]);
    let options = offered(&bash, &["callgate", "plugin", "install", "--rep"]);
    assert_eq!(options, ["--replace"]);
    for (shell, begins) in [("zsh", "#compdef callgate"), ("fish", "# Print an optspec")] {
        let script = scene.callgate(&["completions", shell]).succeeded().stdout;
        assert!(script.starts_with(begins), "{script}");
        assert!(script.contains("platform"));
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scene = Scene::new();
    let folder = scene.data().join("man/man1");
    let to = folder.to_str().unwrap();
    scene.callgate(&["man", to]).succeeded();
    let page = std::fs::read_to_string(folder.join("callgate-plugin-install.1")).unwrap();
    assert!(
        page.contains(".SH NAME") && page.contains("replace"),
        "{page}"
    );
    let help = scene.callgate(&["--help"]).succeeded().stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let commands = list.lines().take_while(|line| !line.trim().is_empty());
    let commands: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 25, "{commands:?}");
    for command in commands {
        assert!(
            folder.join(format!("callgate-{command}.1")).exists(),
            "{command}"
        );
    }
    let taken = scene.file("file", "");
    let failed = scene.callgate(&["man", &taken]);
    assert!(
        failed.stderr.contains("choose a folder"),
        "{}",
        failed.stderr
    );
}
