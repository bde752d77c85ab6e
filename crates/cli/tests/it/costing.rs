//! `cost`, and budgets of money, with a scripted model that says what it costs.

use serde_json::{Value as Json, json};

use crate::scene::Scene;

const PLUGIN: &str = "\"\"\"Plans with a model of its own.\"\"\"

from callgate import Context, tool


@tool
async def plan(ctx: Context, topic: str) -> str:
    \"\"\"Makes a plan.

    Args:
        topic: What for.
    \"\"\"
    return await ctx.ask(f\"Plan {topic}\")
";

/// In dollars; nothing said where it is not known.
fn usage(cost: Option<f64>) -> Json {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "cost": cost})
}

fn planning(scene: &Scene) -> (String, String) {
    let folder = scene.home().join("planner");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), PLUGIN).unwrap();
    let function = json!({"name": "plan", "arguments": "{\"topic\": \"tea\"}"});
    let calls = json!([{"id": "1", "type": "function", "function": function}]);
    let model = scene.script(&[
        json!({"tool_calls": calls, "usage": usage(Some(0.01))}),
        json!({"content": "Boil water.", "usage": usage(Some(0.5))}),
        json!({"content": "Done.", "usage": usage(None)}),
    ]);
    (model, folder.to_str().unwrap().to_owned())
}

fn send(scene: &Scene) -> Json {
    let (model, plugin) = planning(scene);
    let said = scene.callgate(&[
        "send", "go", "--mode", "tools", "--model", &model, "--plugin", &plugin, "--json",
    ]);
    let turn = said.lines().pop().unwrap();
    assert_eq!(said.code == Some(0), turn["stop"] == "answered", "{turn}");
    turn
}

#[test]
fn what_was_spent_is_told_by_method_and_in_a_table() {
    let scene = Scene::new();
    assert_eq!(send(&scene)["stop"], "answered");
    let cost = scene
        .callgate(&["cost", "--by", "method", "--json"])
        .succeeded();
    let cost = cost.json();
    let row = |row: &Json| {
        let count = |field: &str| row[field].as_u64().unwrap();
        let key = row["key"].as_str().map(str::to_owned);
        (key, count("requests"), count("money"), count("unpriced"))
    };
    let rows: Vec<_> = cost["rows"].as_array().unwrap().iter().map(row).collect();
    let plan = Some("plugin:planner/plan".to_owned());
    assert_eq!(rows, [(plan, 1, 500_000, 0), (None, 2, 10_000, 1)]);
    assert_eq!(cost["total"]["tokens_in"], 300);

    let table = scene.callgate(&["cost", "--since", "1h"]).succeeded();
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert!(lines[0].starts_with("day"), "{}", table.stdout);
    assert!(lines[1].ends_with("at least 0.51"), "{}", table.stdout);
    assert!(
        table.stderr.contains("price is not known"),
        "{}",
        table.stderr
    );

    let refused = scene.callgate(&["cost", "--since", "yesterday"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("write 7d, 24h"),
        "{}",
        refused.stderr
    );
    let none = Scene::new().callgate(&["cost"]).succeeded();
    assert_eq!(none.stdout, "");
}

#[test]
fn a_turn_that_has_spent_its_money_stops_and_says_what_to_do() {
    let scene = Scene::configured("[budget]\nturn_money = 0.4\n");
    assert_eq!(send(&scene)["stop"], "budget");
    let (_, told) = scene.said().pop().unwrap();
    assert_eq!(
        told,
        "The budget of money for this turn is used up: 0.51 of 0.40 are spent. Ask for less at \
         once, or have the operator raise budget.turn_money."
    );
    let refused = Scene::configured("[budget]\nturn_money = 0\n").callgate(&["methods"]);
    assert_eq!(refused.code, Some(1));
}
