//! Tools and agents as the second seed shows them: weather, video search, a main agent that hands
//! its task to another.

use std::time::Duration;

use callgate_contract::{
    Change, Kind, Message, MethodError, Mode, ModelMessage, Part, Reply, TurnStop, Value,
};
use callgate_gate::{Call, Function, method};
use callgate_store::NewPersona;
use serde_json::json;

use super::{
    Nothing, Query,
    troupe::{Troupe, calling, words},
};
use crate::stage::{Scripted, settings};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    /// The city to get weather information for.
    city: String,
}

fn weather() -> Function {
    let look = |_: Call, City { city }: City| async move {
        Ok::<_, MethodError>(format!("It is sunny in {city}, 25 degrees."))
    };
    method("weather", Kind::Tool, look).doc("Get weather information for a location")
}

fn tools(troupe: &Troupe, round: usize) -> Vec<String> {
    let requests = troupe.model.requests();
    let mut names: Vec<_> = requests[round - 1]
        .tools
        .iter()
        .map(|t| t.name.clone())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_weather_tool_that_speaks_for_itself_ends_the_turn() {
    let tell = |call: Call, City { city }: City| async move {
        let message = Message {
            session: call.caller.session,
            parts: vec![Part::text(format!("Weather of {city}: rain"))],
        };
        Ok::<_, MethodError>(Reply {
            value: Value::Null,
            changes: vec![Change::Send { message }],
        })
    };
    let tool = method("get_weather", Kind::Tool, tell).doc("Tells the weather.");
    let model = Scripted::default().replies(calling("get_weather", json!({"city": "Oslo"})));
    let troupe = Troupe::new(model, vec![tool]).await;
    let report = troupe.hears(Mode::Tools, "Does it rain in Oslo?").await;
    assert_eq!((report.rounds, report.stop), (1, Some(TurnStop::Answered)));
    assert_eq!(troupe.sent(), ["Weather of Oslo: rain"]);
    let tool = &troupe.model.requests()[0].tools[0];
    assert_eq!(tool.name, "get_weather");
    assert_eq!(tool.parameters["properties"]["city"]["type"], "string");
    let about = "The city to get weather information for.";
    assert_eq!(tool.parameters["properties"]["city"]["description"], about);
}

#[tokio::test]
async fn a_video_search_is_read_before_the_answer() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Keywords {
        #[allow(dead_code, reason = "the search is a stub")]
        keywords: String,
    }
    let found = "1. 标题：怎样养猫\n链接：v/1";
    let search = move |_: Call, _: Keywords| async move { Ok::<_, MethodError>(found) };
    let videos = method("search_videos", Kind::Tool, search).doc("Finds videos.");
    let call = || calling("search_videos", json!({"keywords": "猫"}));
    let model = Scripted::default()
        .replies(call())
        .says("There is one about cats.");
    let troupe = Troupe::new(model, vec![videos]).await;
    let report = troupe.hears(Mode::Tools, "Find videos about cats.").await;
    assert_eq!((report.rounds, report.calls), (2, 1));
    assert_eq!(
        troupe.told(2),
        ModelMessage::tool("call_search_videos", found)
    );
    assert_eq!(report.text, "There is one about cats.");
    assert_eq!(troupe.sent(), ["There is one about cats."]);
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_told_as_such() {
    let sleep = |_: Call, _: Nothing| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok::<_, MethodError>("too late")
    };
    let model = Scripted::default()
        .replies(calling("slow", json!({})))
        .says("Never mind.");
    let mut settings = settings();
    settings.call_timeout = Duration::from_secs(1);
    let slow = method("slow", Kind::Tool, sleep);
    let troupe = Troupe::with(model, vec![slow], settings).await;
    let report = troupe.hears(Mode::Tools, "Wait.").await;
    assert_eq!((report.rounds, report.stop), (2, Some(TurnStop::Answered)));
    let expected = "error: tool slow execution timeout after 1 seconds.";
    assert_eq!(words(&troupe.shown(2)), expected);
}

const MAIN: &str = "You are the main agent and delegate tasks. \
                    Before delegating, use 'assign_agent' to find out who is suited.";

#[tokio::test]
async fn a_task_is_assigned_to_an_agent_that_has_tools_of_its_own() {
    let assign = |_: Call, _: Query| async { Ok::<_, MethodError>("Ask the forecaster.") };
    let useless = |_: Call, _: Query| async { Ok::<_, MethodError>("I am of no use.") };
    let methods = vec![
        method("assign_agent", Kind::Tool, assign).doc("Says which agent is suited."),
        method("subagent2_name", Kind::Tool, useless),
        weather(),
    ];
    let query = "What is the weather in Beijing?";
    let inner = "Beijing has sun and 25 degrees.";
    let model = Scripted::default()
        .replies(calling("assign_agent", json!({"query": query})))
        .replies(calling("ask_forecaster", json!({"query": query})))
        .replies(calling("weather", json!({"city": "Beijing"})))
        .says(inner)
        .says("Take your sunglasses.");
    let troupe = Troupe::new(model, methods).await;
    let names = |names: &[&str]| Some(names.iter().map(|&name| name.into()).collect());
    let forecaster = NewPersona {
        name: "forecaster".into(),
        system_prompt: "You know the weather.".into(),
        methods: names(&["weather"]),
        mode: Mode::Tools,
        ..NewPersona::default()
    };
    let main = NewPersona {
        name: "main".into(),
        system_prompt: MAIN.into(),
        methods: names(&[
            "assign_agent",
            "ask_forecaster",
            "subagent2_name",
            "weather",
        ]),
        mode: Mode::Tools,
        ..NewPersona::default()
    };
    for persona in [&forecaster, &main] {
        troupe.store().personas().create(persona).await.unwrap();
    }
    troupe
        .store()
        .personas()
        .set_default(Some("main"))
        .await
        .unwrap();
    troupe.agent.register_personas().await.unwrap();

    let report = troupe.hears(Mode::Tools, "Test calling a sub-agent.").await;
    assert_eq!((report.rounds, report.stop), (3, Some(TurnStop::Answered)));
    assert_eq!(
        troupe.sent(),
        ["Take your sunglasses."],
        "the inner answer is not sent"
    );
    let requests = troupe.model.requests();
    let ModelMessage::System { text } = &requests[0].messages[0] else {
        panic!("{:?}", requests[0].messages[0]);
    };
    assert!(text.contains(MAIN), "{text}");
    assert_eq!(
        tools(&troupe, 1),
        [
            "ask_forecaster",
            "assign_agent",
            "subagent2_name",
            "weather"
        ]
    );
    assert_eq!(words(&troupe.shown(2)), "Ask the forecaster.");

    assert_eq!(tools(&troupe, 3), ["weather"]);
    let asked = &requests[2].messages[1];
    let ModelMessage::User { parts } = asked else {
        panic!("{asked:?}");
    };
    assert_eq!(
        (requests[2].messages.len(), &parts[0]),
        (2, &Part::text(query))
    );
    assert_eq!(
        words(&troupe.shown(4)),
        "It is sunny in Beijing, 25 degrees."
    );
    assert_eq!(
        troupe.told(5),
        ModelMessage::tool("call_ask_forecaster", inner)
    );
}
