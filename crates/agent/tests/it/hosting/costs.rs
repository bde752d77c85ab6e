//! What models cost, whoever asks them: by turn, method, plugin and user; and budgets of money, which
//! hold for everything that a turn brings about.

use callgate_agent::{AgentSettings, Allowance};
use callgate_contract::TurnStop;
use callgate_gate::{Call, GatePolicy, method};
use callgate_store::{CostBy, NewPersona, Scope};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::stage::{incoming, settings};

/// A reply that costs `money`; none where its price is not known.
fn paid(reply: ModelReply, money: Option<u64>) -> ModelReply {
    let usage = Usage {
        input: 100,
        cached: 60,
        output: 10,
        money,
        ..Usage::default()
    };
    ModelReply {
        usage: Some(usage),
        ..reply
    }
}

fn says(text: &str, money: Option<u64>) -> ModelReply {
    let reply = ModelReply {
        text: text.into(),
        ..ModelReply::default()
    };
    paid(reply, money)
}

fn calls(name: &str, argument: &str, money: Option<u64>) -> ModelReply {
    paid(calling(name, json!({argument: "x"})), money)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    #[allow(dead_code, reason = "the plugin asks the same whatever it is")]
    topic: String,
}

/// A plugin's method that asks a model of its own.
pub(super) fn register_plan(stage: &Stage, host_method: &'static str, asked: Json) {
    let (gate, plugin) = (stage.agent.gate().downgrade(), Plugin::silent());
    let handler = move |call: Call, _: Topic| {
        let (gate, plugin, asked) = (gate.upgrade().unwrap(), plugin.clone(), asked.clone());
        async move {
            let caller = Caller {
                surface: Surface::Plugin,
                journal: JournalId::fresh(),
                ..call.caller.within("plugin:planner", Some("plan"))
            };
            let answer = plugin.calls_as(&gate, &caller, host_method, asked).await;
            let answer = answer.map_err(|error| MethodError::new(error.to_string()))?;
            Ok(answer["text"].as_str().unwrap_or_default().to_owned())
        }
    };
    let plan = method("plan", callgate_contract::Kind::Tool, handler)
        .origin(callgate_contract::Origin::Plugin("planner".into()));
    stage.agent.gate().register(Arc::new(plan)).unwrap();
}

pub(super) async fn register_helper(stage: &Stage) {
    let helper = NewPersona {
        name: "helper".into(),
        system_prompt: "You help.".into(),
        mode: Mode::Tools,
        ..NewPersona::default()
    };
    let personas = stage.agent.store().personas();
    let helper = personas.create(&helper).await.unwrap();
    stage.agent.register_persona(&helper).unwrap();
}

fn question() -> Json {
    json!({"request": {"messages": [{"role": "user", "content": "how?"}]}})
}

async fn with(home: &Home, model: Scripted, settings: AgentSettings) -> Stage {
    let store = home.open().await;
    let stage = Stage::with(store, model, GatePolicy::default(), settings);
    stage.agent.register_host().unwrap();
    stage
}

async fn asked(stage: &Stage) -> TurnStop {
    let arrived = stage.hears_from("ann", "go", Some(Mode::Tools)).await;
    match arrived {
        Arrived::Turn(report) => report.stop.unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn spent_by(stage: &Stage, by: CostBy) -> Vec<(Option<String>, u64, u64, u64)> {
    let since = Timestamp::now() - SignedDuration::from_hours(1);
    let rows = stage.agent.store().costs().sum(by, since).await.unwrap();
    let row = |row: callgate_store::CostLine| {
        let cost = row.sum;
        (row.key, cost.requests, cost.money, cost.unpriced)
    };
    rows.into_iter().map(row).collect()
}

#[tokio::test]
async fn everything_a_turn_asks_of_models_is_charged_to_whoever_asked() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .replies(calls("plan", "topic", Some(10)))
        .replies(says("do it", Some(500)))
        .replies(calls("ask_helper", "query", Some(20)))
        .replies(calls("plan", "topic", None))
        .replies(says("do it again", Some(700)))
        .replies(says("helped", Some(40)))
        .replies(says("done", Some(30)));
    let stage = with(&home, model, settings()).await;
    register_plan(&stage, "model_chat", question());
    let store = stage.agent.store();
    register_helper(&stage).await;
    assert_eq!(asked(&stage).await, TurnStop::Answered);

    let key = |key: &str| Some(key.to_owned());
    assert_eq!(
        spent_by(&stage, CostBy::Method).await,
        [
            (key("plugin:planner/plan"), 2, 1_200, 0),
            (None, 3, 60, 0),
            (key("agent:helper/ask_helper"), 2, 40, 1),
        ]
    );
    assert_eq!(
        spent_by(&stage, CostBy::Plugin).await[0],
        (key("plugin:planner"), 2, 1_200, 0)
    );
    assert_eq!(
        spent_by(&stage, CostBy::User).await,
        [(key("ann"), 7, 1_300, 1)]
    );
    let turns = store.turns().list(&session(), 9).await.unwrap();
    let root = turns.iter().find(|turn| turn.start.depth == 0).unwrap();
    let whole = store
        .turns()
        .spent(Scope::Turn(root.start.id))
        .await
        .unwrap();
    assert_eq!(
        (whole.money, whole.unpriced, whole.tokens_in),
        (Some(1_300), 1, 700),
        "what its agents and plugins spent is the turn's"
    );
    stage.hears("/stats").await;
    let told = stage.sent().pop().unwrap();
    assert!(told.ends_with("at least 0.0013 spent."), "{told}");
}

#[tokio::test]
async fn a_summary_is_paid_for() {
    let home = Home::sqlite();
    let model = Scripted::default().replies(says("They talked.", Some(9)));
    let stage = with(&home, model, settings()).await;
    let conversations = stage.agent.store().conversations();
    let made = conversations.create(&session(), Default::default()).await;
    let said = |place: usize| json!({"role": "user", "content": format!("line {place}")}).into();
    let messages: Vec<_> = (0..20).map(said).collect();
    conversations
        .append(made.unwrap().id, &messages)
        .await
        .unwrap();
    stage.hears("/compact").await;
    assert_eq!(stage.sent(), ["Summarised."]);
    let compact = Some("builtin/compact".to_owned());
    assert_eq!(spent_by(&stage, CostBy::Method).await, [(compact, 1, 9, 0)]);
}

#[tokio::test]
async fn a_budget_of_money_stops_the_turn_before_the_next_round() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .calls(&[("look", "a")])
        .replies(paid(calling("look", json!({"text": "b"})), Some(600_000)))
        .says("never asked");
    let mut few = settings();
    few.budgets.turn.money = Some(500_000);
    let stage = with(&home, model, few).await;
    assert_eq!(asked(&stage).await, TurnStop::Budget);
    assert_eq!(stage.model.requests().len(), 2);
    assert_eq!(
        stage.sent(),
        [
            "The budget of money for this turn is used up: 0.60 of 0.50 are spent, and 1 request \
          whose price is not known. Ask for less at once, or have the operator raise \
          budget.turn_money."
        ]
    );
}

#[tokio::test]
async fn what_plugins_ask_of_models_counts_and_is_refused_when_nothing_is_left() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .replies(calls("plan", "topic", Some(1)))
        .replies(says("dear", Some(100)))
        .replies(calls("plan", "topic", Some(1)))
        .says("never asked");
    let mut few = settings();
    few.budgets.turn.money = Some(100);
    let stage = with(&home, model, few).await;
    register_plan(&stage, "model_chat", question());
    assert_eq!(
        asked(&stage).await,
        TurnStop::Budget,
        "its plugin has spent it"
    );
    assert_eq!(stage.model.requests().len(), 2);

    // Asked for by itself, a plugin is refused as well.
    let spent = Allowance {
        money: Some(1),
        ..Allowance::default()
    };
    let mut none = settings();
    none.budgets.user_day = spent;
    let stage = with(&home, Scripted::default().says("never asked"), none).await;
    let plugin = Plugin::silent();
    for (name, asked) in [
        ("model_chat", question()),
        ("agent_loop", json!({"messages": [], "tools": []})),
    ] {
        let ended = plugin.calls(stage.agent.gate(), name, asked).await;
        let told = match ended {
            Ok(ended) => ended["text"].as_str().unwrap().to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(told.contains("The budget of money for you today"), "{told}");
    }
    assert!(stage.model.requests().is_empty());
}

#[tokio::test]
async fn agents_and_plugins_are_not_asked_where_their_turn_has_no_room_left() {
    for (name, argument) in [("ask_helper", "query"), ("plan", "topic")] {
        let home = Home::sqlite();
        let mut first = calls(name, argument, None);
        first.usage = first.usage.map(|usage| Usage {
            input: 19_980,
            ..usage
        });
        let model = Scripted::default().replies(first).says("never asked");
        let mut few = settings();
        few.budgets.turn.tokens = Some(20_000);
        let stage = with(&home, model, few).await;
        register_plan(&stage, "model_chat", question());
        register_helper(&stage).await;
        assert_eq!(asked(&stage).await, TurnStop::Budget);
        let requests = stage.model.requests();
        assert_eq!(requests.len(), 1, "{name}");
        let limit = requests[0].output_limit.unwrap();
        assert!(limit < 20_000 && limit > 10_000, "{limit}");
    }
}

#[tokio::test]
async fn a_history_that_cannot_be_paid_for_is_not_summarised() {
    let home = Home::sqlite();
    let mut few = settings();
    few.budgets.day.tokens = Some(100);
    let stage = with(&home, Scripted::default().says("never asked"), few).await;
    let conversations = stage.agent.store().conversations();
    let made = conversations.create(&session(), Default::default()).await;
    let said = |place: usize| json!({"role": "user", "content": format!("line {place}")}).into();
    let messages: Vec<_> = (0..20).map(said).collect();
    let kept = conversations.append(made.unwrap().id, &messages).await;
    kept.unwrap();
    stage.hears("/compact").await;
    assert_ne!(stage.sent(), ["Summarised."]);
    assert!(stage.model.requests().is_empty());
}

#[tokio::test]
async fn each_budget_of_money_has_its_own_reach() {
    let allowance = Allowance {
        money: Some(50),
        ..Allowance::default()
    };
    for (scope, others_may) in [("user_day", true), ("session_day", false), ("day", false)] {
        let home = Home::sqlite();
        let model = Scripted::default()
            .replies(says("one", Some(50)))
            .replies(says("two", Some(50)));
        let mut few = settings();
        match scope {
            "user_day" => few.budgets.user_day = allowance,
            "session_day" => few.budgets.session_day = allowance,
            _ => few.budgets.day = allowance,
        }
        let stage = with(&home, model, few).await;
        stage.hears("first").await;
        stage.hears("second").await;
        let told = stage.sent().pop().unwrap();
        assert!(told.contains("0.0001 of 0.0001 are spent"), "{told}");
        assert!(told.contains(&format!("budget.{scope}_money")), "{told}");
        let mut bob = incoming("bob", "hello");
        bob.parts = vec![Part::text("hello")];
        let arrived = stage
            .agent
            .arrive(bob, Override::default(), Watch::default());
        let Arrived::Turn(report) = arrived.await.unwrap() else {
            panic!("bob is answered");
        };
        let answered = report.stop == Some(TurnStop::Answered);
        assert_eq!(answered, others_may, "{scope}");
    }
}
