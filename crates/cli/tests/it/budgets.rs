//! Budgets hold before a request is sent, whoever asks: the model of these tests counts what reaches
//! it and takes all that it may.

use serde_json::{Value as Json, json};

use crate::{model::FakeModel, scene::Scene, server::Server};

/// In dollars for a million tokens.
const PRICE: &str = "price = { input = 5.0, output = 15.0 }\n";

fn scene(budget: &str, model: &FakeModel, price: &str) -> Scene {
    let model = model.toml();
    Scene::configured(&format!("[budget]\n{budget}\n{model}{price}"))
}

/// How the turn ended, and what was said last.
fn sent(scene: &Scene, mode: &str) -> (Json, String) {
    let said = scene.callgate(&["send", "hi", "--mode", mode, "--json"]);
    let turn = said.lines().pop().unwrap();
    let (_, told) = scene.said().pop().unwrap_or_default();
    (turn, told)
}

#[test]
fn a_request_that_a_budget_cannot_hold_is_not_made() {
    for budget in [
        "turn_tokens = 10",
        "turn_money = 0.001",
        "conversation_tokens = 10",
        "user_day_money = 0.0001",
        "session_day_tokens = 1",
        "day_money = 0.001",
    ] {
        for mode in ["code", "tools"] {
            let model = FakeModel::counting(1_440, 5);
            let scene = scene(budget, &model, PRICE);
            let (turn, told) = sent(&scene, mode);
            assert_eq!(turn["stop"], "budget", "{budget} {mode}: {turn}");
            assert_eq!(turn["rounds"], 0, "{budget} {mode}: {turn}");
            assert_eq!(model.asked(), 0, "{budget} {mode}");
            let key = budget.split(' ').next().unwrap();
            assert!(told.contains(&format!("raise budget.{key}")), "{told}");
        }
    }
}

#[test]
fn an_answer_ends_where_the_budget_does() {
    for (budget, limit) in [("turn_tokens = 30000", 30_000), ("turn_money = 0.5", 0)] {
        let model = FakeModel::counting(1_440, 1_000_000);
        let scene = scene(budget, &model, PRICE);
        let (turn, told) = sent(&scene, "tools");
        assert_eq!(turn["stop"], "budget", "{budget}: {turn}");
        assert_eq!(model.asked(), 1, "{budget}");
        let written = model.requests()[0]["max_tokens"].as_u64().unwrap();
        // Of what is left most can be written: the prompt is counted high, not absurdly so.
        let (spent, most) = match limit {
            0 => (1_440 * 5 + written * 15, 500_000),
            limit => (1_440 + written, limit),
        };
        assert!(spent <= most && spent > most / 2, "{budget}: {written}");
        assert!(told.contains("in the middle of the answer"), "{told}");
    }
}

#[test]
fn what_fits_is_answered_and_the_second_request_of_a_day_is_not_made() {
    let model = FakeModel::counting(29_000, 5);
    let scene = scene("user_day_tokens = 30000", &model, "");
    let (turn, told) = sent(&scene, "tools");
    assert_eq!((&turn["stop"], told.as_str()), (&json!("answered"), "word"));
    let (turn, told) = sent(&scene, "tools");
    assert_eq!(turn["stop"], "budget", "{turn}");
    assert!(told.contains("has 995 left"), "{told}");
    assert_eq!(model.asked(), 1);
}

#[test]
fn a_model_of_unknown_price_is_not_asked_within_a_budget_of_money() {
    let model = FakeModel::counting(10, 5);
    let unpriced = scene("day_money = 100.0", &model, "");
    let (turn, told) = sent(&unpriced, "tools");
    assert_eq!(turn["stop"], "budget", "{turn}");
    assert!(
        told.contains("price of the model 'fake' is not known"),
        "{told}"
    );
    assert_eq!(model.asked(), 0);
    let free = scene("day_money = 100.0", &model, "price = { input = 0 }\n");
    assert_eq!(sent(&free, "tools").0["stop"], "answered");
    assert_eq!(model.requests()[0].get("max_tokens"), None);
}

const PLUGIN: &str = "\"\"\"Asks a model of its own.\"\"\"

from callgate import Context, tool


@tool
async def plan(ctx: Context) -> str:
    \"\"\"Makes a plan.\"\"\"
    return await ctx.ask(\"What now?\")
";

#[test]
fn what_a_plugin_asks_within_a_turn_is_not_sent_either() {
    let scene = Scene::configured("[budget]\nturn_tokens = 30000\n");
    let plugin = scene.home().join("planner");
    std::fs::create_dir(&plugin).unwrap();
    std::fs::write(plugin.join("__init__.py"), PLUGIN).unwrap();
    let function = json!({"name": "plan", "arguments": "{}"});
    let usage = json!({"prompt_tokens": 29_990, "completion_tokens": 1});
    let model = scene.script(&[
        json!({"tool_calls": [{"id": "1", "function": function}], "usage": usage}),
        json!({"content": "never asked for"}),
    ]);
    let plugin = plugin.to_str().unwrap();
    let said = scene.callgate(&[
        "send", "go", "--mode", "tools", "--model", &model, "--plugin", plugin, "--json",
    ]);
    let turn = said.lines().pop().unwrap();
    assert_eq!(turn["stop"], "budget", "{turn}");
    let error = turn["calls"][0]["error"].as_str().unwrap();
    assert!(
        error.contains("budget of tokens for this turn has 9 left"),
        "{turn}"
    );
    let cost = scene.callgate(&["cost", "--json"]).succeeded().json();
    assert_eq!(cost["total"]["requests"], 1, "{cost}");
}

#[test]
fn many_at_once_stay_within_a_budget_together() {
    let model = FakeModel::counting(5, 4_000);
    // Room for two answers, whoever is first.
    let scene = scene("day_tokens = 9000", &model, "");
    let (server, key) = serving(&scene);
    let body = json!({
        "model": "model/fake", "max_tokens": 4_000,
        "messages": [{"role": "user", "content": "hi"}],
    });
    let statuses: Vec<u16> = std::thread::scope(|threads| {
        let ask = || {
            server
                .api("POST", "/v1/chat/completions", &key, Some(&body))
                .0
        };
        let asked: Vec<_> = (0..6).map(|_| threads.spawn(ask)).collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let answered = statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(answered, 2, "{statuses:?}");
    let written = model.requests().into_iter();
    let written: u64 = written
        .map(|it| 5 + it["max_tokens"].as_u64().unwrap())
        .sum();
    assert!(written <= 9_000, "{written}");
    server.end();
}

fn serving(scene: &Scene) -> (Server, String) {
    let made = scene.callgate(&["key", "new", "--scope", "models", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    (Server::start(scene), key)
}

#[test]
fn over_v1_nothing_is_sent_that_a_budget_cannot_hold() {
    let model = FakeModel::counting(10, 1_000_000);
    let scene = scene("user_day_tokens = 5000", &model, "");
    let (server, key) = serving(&scene);
    let post = |path: &str, body: Json| server.api("POST", path, &key, Some(&body));
    let long = "word ".repeat(10_000);
    let chat = |text: &str| json!({"model": "model/fake", "messages": [{"role": "user", "content": text}]});
    let (status, refused) = post("/v1/chat/completions", chat(&long));
    assert_eq!(status, 429, "{refused}");
    assert_eq!(refused["error"]["code"], "insufficient_quota", "{refused}");
    let embeddings = json!({"model": "model/fake", "input": long});
    assert_eq!(post("/v1/embeddings", embeddings).0, 429);
    let response = json!({"model": "model/fake", "input": long});
    assert_eq!(post("/v1/responses", response).0, 429);
    assert_eq!(model.asked(), 0);

    // Also what an asker demands is cut to what is left.
    let mut greedy = chat("hi");
    greedy["max_tokens"] = json!(900_000);
    assert_eq!(post("/v1/chat/completions", greedy).0, 429);
    let written = model.requests()[0]["max_tokens"].as_u64().unwrap();
    assert!(written < 5_000, "{written}");
    server.end();
}

#[test]
fn an_answer_that_breaks_off_over_v1_is_paid_for_once() {
    let model = FakeModel::breaking_off();
    let scene = Scene::configured(&model.toml());
    let (server, key) = serving(&scene);
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let before = model.asked();
        let body = json!({
            "model": "model/fake", "stream": true, "input": "hi",
            "messages": [{"role": "user", "content": "hi"}],
        });
        let (status, told) = server.text("POST", path, &key, Some(&body));
        assert_eq!(status, 200, "{told}");
        assert!(told.contains("Half of"), "{told}");
        assert!(told.contains("cut off before its end"), "{told}");
        assert_eq!(model.asked(), before + 1, "{path}");
    }
    server.end();
    let cost = scene.callgate(&["cost", "--json"]).succeeded().json();
    assert_eq!(cost["total"]["requests"], 2, "{cost}");
    assert!(cost["total"]["tokens_out"].as_u64().unwrap() > 0, "{cost}");
}
