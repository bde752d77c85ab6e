//! Sandbox methods of plugins, as the seed's document describes them, through the real binary: what
//! `check` says of them, how code calls them, what comes back.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::{
    environments::equipped,
    scene::{Said, Scene, finish},
};

pub fn example(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins");
    examples.join(name).to_str().unwrap().to_owned()
}

fn check(scene: &Scene, plugins: &[&str]) -> Json {
    let arguments = [&["plugin", "check", "--json"], plugins].concat();
    finish(scene.bare(&arguments).spawn().unwrap()).json()
}

/// What Nekro's plugins take for granted is installed once per user, and shared by the tests.
pub fn with_packages() -> Scene {
    equipped(&example("nekro_examples"))
}

fn run(scene: &Scene, code: &str, plugin: &str) -> Json {
    scene
        .run(code, &["--json", "--plugin", &example(plugin)])
        .json()
}

fn method<'a>(report: &'a Json, name: &str) -> &'a Json {
    let methods = report["methods"].as_array().unwrap();
    let found: Vec<&Json> = methods.iter().filter(|it| it["name"] == name).collect();
    let [one] = found.as_slice() else {
        panic!("{name}: {found:?}")
    };
    one
}

/// A Nekro plugin with these methods.
pub fn written(scene: &Scene, name: &str, methods: &str) -> String {
    let folder = scene.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    let header = format!(
        "from typing import Any, Dict, List, Optional\n\
         from nekro_agent.api.plugin import NekroPlugin, SandboxMethodType\n\
         from nekro_agent.api.schemas import AgentCtx\n\
         plugin = NekroPlugin(name='{name}', module_name='{name}', description='', version='1',\n    \
         author='t', url='')\n"
    );
    std::fs::write(folder.join("__init__.py"), header + methods).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn check_lists_what_is_mounted() {
    let scene = Scene::new();
    let reports = check(&scene, &[&example("nekro_examples"), &example("objects")]);
    let report = &reports[0];
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["methods"].as_array().unwrap().len(), 7);
    let sum = method(report, "my_sum_function");
    assert_eq!(sum["title"], "calculate_sum");
    assert_eq!(sum["description"], "Adds two whole numbers.");
    assert_eq!(
        sum["parameters"]["properties"]["num2"]["description"],
        "The other."
    );
    assert!(sum["parameters"]["properties"].get("_ctx").is_none());
    for (name, kind) in [
        ("get_time", "tool"),
        ("search_kb", "agent"),
        ("send_chat_message", "behavior"),
        ("generate_image_with_comment", "multimodal_agent"),
    ] {
        assert_eq!(method(report, name)["kind"], kind);
    }
    assert_eq!(method(&reports[1], "plain")["description"], "");
}

#[test]
fn both_forms_of_the_decorator_and_both_styles_of_docstrings() {
    let scene = Scene::new();
    let body = "async def NAME(_ctx: AgentCtx, n: int) -> str:\n    \"\"\"Say it.\n\n    \
                Args:\n        n (int): How often.\n\n    Returns:\n        str: It.\n    \"\"\"\n    return ''\n";
    let numpy = "async def c(_ctx: AgentCtx, n: int) -> str:\n    \"\"\"Say it.\n\n    \
                 Parameters\n    ----------\n    n : int\n        How often.\n\n    \
                 Returns\n    -------\n    str\n        It.\n    \"\"\"\n    return ''\n";
    let methods = format!(
        "@plugin.mount_sandbox_method(SandboxMethodType.AGENT, 'say', 'Says it.')\n{}\
         @plugin.mount_sandbox_method(method_type=SandboxMethodType.AGENT, name='say', \
         description='Says it.')\n{}\
         @plugin.mount_sandbox_method(SandboxMethodType.AGENT, 'say_c')\n{numpy}",
        body.replace("NAME", "a"),
        body.replace("NAME", "b"),
    );
    let reports = check(&scene, &[&written(&scene, "forms", &methods)]);
    let report = &reports[0];
    let without_name = |name: &str| {
        let mut entry = method(report, name).clone();
        entry["name"] = Json::Null;
        entry["aliases"] = Json::Null;
        entry
    };
    assert_eq!(without_name("a"), without_name("b"));
    let described = &method(report, "c")["parameters"]["properties"]["n"];
    assert_eq!(described["description"], "How often.");
    assert_eq!(report["warnings"], json!([]), "{report}");
}

#[test]
fn broken_rules_are_warned_of_by_file_and_line() {
    let scene = Scene::new();
    let none = written(
        &scene,
        "no_context",
        "@plugin.mount_sandbox_method(SandboxMethodType.TOOL, 'f')\nasync def f() -> None: ...\n",
    );
    let reports = check(&scene, &[&example("rules_broken"), &none]);
    assert_eq!(reports[0]["ok"], true, "{reports}");
    let warnings: Vec<&str> = reports[0]["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning.as_str().unwrap())
        .collect();
    let source = std::fs::read_to_string(example("rules_broken/__init__.py")).unwrap();
    for (function, told) in [
        ("not_async", "should be `async def`"),
        (
            "other_context",
            "the first parameter should be `_ctx: AgentCtx`, not `ctx`",
        ),
        ("unannotated", "parameter `word` has no annotation"),
        ("undocumented", "has no docstring"),
        (
            "late_summary",
            "should begin with a summary in its first line",
        ),
        (
            "wrong_args",
            "parameter `untold` is not described under `Args:`",
        ),
        ("wrong_args", "`_ctx` stands under `Args:`"),
        (
            "wrong_args",
            "`Args:` describes `invented`, which is no parameter",
        ),
        ("no_returns", "the docstring has no `Returns:`"),
        (
            "agent_gives_dict",
            "kind agent should return `str`, not `dict`",
        ),
        (
            "behavior_gives_bool",
            "kind behavior should return `str`, not `bool`",
        ),
        (
            "multimodal_gives_int",
            "should return a list of message parts, not `int`",
        ),
        ("agent_gives_dict", "are named in two styles"),
    ] {
        let line = source
            .lines()
            .position(|it| it.contains(&format!("def {function}(")));
        let place = format!("__init__.py:{}: {function}: ", line.unwrap() + 1);
        let found = warnings
            .iter()
            .filter(|it| it.starts_with(&place) && it.contains(told));
        assert_eq!(found.count(), 1, "{place}{told}: {warnings:#?}");
    }
    assert_eq!(warnings.len(), 13, "{warnings:#?}");
    let hints = reports[0]["hints"].to_string();
    assert!(
        hints.contains("an `Example:` in the docstring helps"),
        "{hints}"
    );
    assert_eq!(reports[1]["ok"], false);
    let error = reports[1]["error"].as_str().unwrap();
    assert!(error.contains("takes no parameter"), "{error}");
}

#[test]
fn code_calls_them_and_goes_on_with_what_they_give() {
    let scene = with_packages();
    let code = "
import os, datetime
print(my_sum_function(2, 3), calculate_sum(num1=2, num2=3))
print(datetime.datetime.fromisoformat(get_time()).year > 2000, len(get_current_time()) > 10)
_ck = 'onebot_v11-group_999'
print(where_am_i())
help(get_user_preference)
theme = get_user_preference(user_id='user_123', preference_key='theme')
print('theme', theme)
";
    let report = run(&scene, code, "nekro_examples");
    assert_eq!(report["stop"], "finished", "{report}");
    let stdout = report["stdout"].as_str().unwrap();
    let expect = "5 5\nTrue True\n{'chat': 'cli-private_operator', 'user': 'operator'}\n";
    assert!(stdout.starts_with(expect), "{stdout}");
    assert!(stdout.ends_with("theme None\n"), "{stdout}");
    let shown = "get_user_preference(user_id: str, preference_key: str)";
    assert!(
        stdout.contains(shown) && !stdout.contains("_ctx"),
        "{stdout}"
    );
    let first = &report["calls"][0];
    assert_eq!(first["method"], "my_sum_function");
    assert_eq!(
        (&first["kind"], &first["value"]),
        (&json!("tool"), &json!(5))
    );
}

#[test]
fn values_and_objects_arrive_as_what_they_are() {
    let scene = with_packages();
    let code = "
import collections, datetime, decimal, os, pathlib, uuid
plains = {'str': 'text', 'int': 2**80, 'float': 1.5, 'bool': True, 'none': None, 'list': [1, [2]],
          'tuple': (1, 2), 'set': {1, 2}, 'bytes': b'\\x00\\xff', 'dict': {1: 'one', (2, 3): 'two'},
          'datetime': datetime.datetime(2026, 1, 2, 3, 4, 5), 'date': datetime.date(2026, 1, 2),
          'timedelta': datetime.timedelta(days=1, seconds=2), 'decimal': decimal.Decimal('1.10'),
          'uuid': uuid.UUID(int=7)}
for kind, value in plains.items():
    got = plain(kind)
    assert got == value and type(got) is type(value), (kind, got)
point = made('dataclass')
assert point.x == 1 and point['y'] == 2
assert made('model').degrees == [20, 21]
assert made('namedtuple').left == 'a'
assert made('own').size == 3
count = made('counter')
assert type(count) is collections.Counter and count['a'] == 2
try:
    made('socket')
except MethodError as error:
    print(error)
for kind in ('private', 'slots', 'native'):
    try:
        print('arrived', made(kind))
    except MethodError as error:
        print(str(error).splitlines()[0])
try:
    fail('')
except MethodError as error:
    print(error)
try:
    given(object())
except Exception as error:
    print(error)
print(process() != os.getpid())
open('/app/shared/a.txt', 'w').write('hello')
print(shared_text('/app/shared/a.txt'))
try:
    shared_text('/app/shared/../../../etc/passwd')
except MethodError as error:
    print('refused')
print(keep('onebot_v11-group_1', 'k', 'one'), keep('cli-private_operator', 'k', 'two'))
fail('boom')
";
    let report = run(&scene, code, "objects");
    assert_eq!(report["stop"], "error", "{report}");
    let stdout = report["stdout"].as_str().unwrap();
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(
        lines[0].contains("items[0]") && lines[0].contains("socket"),
        "{stdout}"
    );
    for (line, told) in [
        (1, "result.items[3]: cannot pass a 'Vault'"),
        (2, "result.right: cannot pass a 'Slotted'"),
        (3, "result[0]: cannot pass a 'Failed'"),
    ] {
        assert!(lines[line].contains(told), "{stdout}");
    }
    assert!(lines[4].contains("ValueError"), "{stdout}");
    assert!(lines[5].contains("cannot pass a 'object'"), "{stdout}");
    assert_eq!(
        lines[6..],
        ["True", "True hello", "refused", "None two"],
        "{stdout}"
    );
    let error = report["error"].as_str().unwrap();
    assert!(
        error.contains("ValueError: boom") && !error.contains("__init__.py"),
        "{error}"
    );
}

#[test]
fn arrays_and_pictures_arrive_where_the_sandbox_has_their_packages() {
    let scene = with_packages();
    let ask = "
for kind in ('array', 'picture'):
    try:
        print(type(made(kind)).__name__)
    except MethodError as error:
        print(error)
";
    let report = run(&scene, ask, "objects");
    let stdout = report["stdout"].as_str().unwrap();
    assert!(
        stdout.contains("result.grid: cannot pass a 'ndarray'"),
        "{report}"
    );
    assert!(stdout.contains("cannot pass a 'Image'"), "{report}");

    scene
        .callgate(&["sandbox", "install", "numpy", "pillow"])
        .succeeded();
    let code = "
import numpy
from PIL import Image
made_of = made('array')
grid = made_of['grid']
assert type(grid) is numpy.ndarray and grid.sum() == 15 and grid.shape == (2, 3)
assert made_of['mean'] == 2.5 and type(made_of['mean']) is float
picture = made('picture')
assert isinstance(picture, Image.Image) and picture.getpixel((0, 0)) == (255, 0, 0)
for value in (grid, [picture]):
    try:
        given(value)
    except Exception as error:
        print(error)
print(given(grid[1, 2]))
";
    let report = run(&scene, code, "objects");
    assert_eq!(report["stop"], "finished", "{report}");
    let stdout = report["stdout"].as_str().unwrap();
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].contains("cannot pass a 'ndarray'"), "{stdout}");
    assert!(
        lines[1].contains("[0]") && lines[1].contains("'Image'"),
        "{stdout}"
    );
    assert_eq!(lines[2], "int 5");
}

#[test]
fn results_that_break_a_rule_still_have_the_effect_of_their_kind() {
    let scene = with_packages();
    let code = "print(not_async())\nbehavior_gives_bool()\nagent_gives_dict()\nprint('never')\n";
    let report = run(&scene, code, "rules_broken");
    assert_eq!(report["stop"], "agent", "{report}");
    assert_eq!(report["observation"], "{'a': 1}");
    assert_eq!(report["stdout"], "still called\n");
    let rows = scene.said();
    assert!(
        rows.iter()
            .any(|(role, text)| role == "system" && text == "True"),
        "{rows:?}"
    );
}

#[test]
fn the_prompt_holds_docstrings_as_they_are_written() {
    let scene = with_packages();
    let prompt = |plugin: &str| {
        let said: Said = scene.callgate(&["prompt", "--json", "--plugin", &example(plugin)]);
        said.succeeded()
            .json()
            .to_string()
            .replace("\\n", "\n")
            .replace("\\\"", "\"")
    };
    let text = prompt("nekro_examples");
    assert!(
        text.contains("my_sum_function(num1: int, num2: int) -> int"),
        "{text}"
    );
    assert!(text.contains("Preferences are kept for each person, whatever the chat."));
    assert!(text.contains("```python\n"), "the example keeps its fence");
    assert!(
        text.contains("theme = get_user_preference(user_id=\"user_123\""),
        "{text}"
    );
    let text = prompt("rules_broken");
    assert!(
        text.contains("late_summary") && !text.contains("undocumented"),
        "{text}"
    );
}

#[test]
fn the_documents_examples_do_what_it_says() {
    let scene = Scene::new();
    let (plugin, scenario) = (
        example("nekro_examples"),
        example("nekro_examples/scenario.json"),
    );
    let arguments = ["plugin", "test", &plugin, &scenario, "--json"];
    let report = finish(scene.bare(&arguments).spawn().unwrap()).json();
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], 12);
}

#[test]
fn one_is_called_by_either_name_by_hand() {
    let scene = with_packages();
    let plugin = example("nekro_examples");
    for (name, arguments) in [
        ("my_sum_function", "{\"num1\": 2, \"num2\": 3}"),
        ("my_sum_function", "[2, 3]"),
        ("calculate_sum", "[2, 3]"),
    ] {
        let call = [
            "call", name, "--args", arguments, "--plugin", &plugin, "--json",
        ];
        let answer = scene.callgate(&call).succeeded().json();
        assert_eq!(answer, json!({"value": 5, "kind": "tool"}));
    }
}
