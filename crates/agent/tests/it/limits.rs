//! What bounds a turn, what listens to it, and what a model cannot take.

use std::{sync::Arc, time::Duration};

use callgate_agent::{Agent, Allowance, Arrived, Override, Sessions, Watch, Wiring};
use callgate_contract::{
    BoxFuture, Listener, Mode, ModelMessage, ModelReply, ModelRequest, Models, NamedModel, Part,
    Points, TurnFacts, TurnStop,
};
use callgate_store::{Incoming, NewMessage};
use callgate_testkit::Home;
use serde_json::json;

use crate::{
    scene::{Ran, coder},
    stage::{Remembering, Scripted, Stage, incoming, session, settings},
};

fn stop(arrived: &Arrived) -> Option<TurnStop> {
    match arrived {
        Arrived::Turn(report) => report.stop,
        other => panic!("not a turn: {other:?}"),
    }
}

#[tokio::test]
async fn a_budget_is_asked_before_each_round() {
    let home = Home::sqlite();
    let mut few = settings();
    few.budgets.turn = Allowance {
        calls: Some(2),
        ..Allowance::default()
    };
    let model = Scripted::default()
        .calls(&[("look", "a"), ("look", "b")])
        .calls(&[("look", "c")])
        .says("never");
    let stage = Stage::with(home.open().await, model, Default::default(), few);
    let arrived = stage.hears_from("ann", "go", Some(Mode::Tools)).await;
    assert_eq!(stop(&arrived), Some(TurnStop::Budget));
    assert_eq!(stage.ran.counts().0, 2);
    assert_eq!(
        stage.sent(),
        [
            "The budget of calls for this turn is used up. Ask for less at once, or have the operator \
          raise budget.turn_calls."
        ]
    );
}

#[tokio::test]
async fn a_refusal_is_in_the_language_of_the_message() {
    let home = Home::sqlite();
    let mut few = settings();
    few.budgets.turn = Allowance {
        calls: Some(1),
        ..Allowance::default()
    };
    let model = Scripted::default().calls(&[("look", "a")]).says("never");
    let stage = Stage::with(home.open().await, model, Default::default(), few);
    let arrived = stage.hears_from("ann", "看看吧", Some(Mode::Tools)).await;
    assert_eq!(stop(&arrived), Some(TurnStop::Budget));
    let told = "这一轮的调用次数预算用完了。一次少要求一些，或请管理者调高 budget.turn_calls。";
    assert_eq!(stage.sent(), [told]);
}

#[tokio::test]
async fn a_user_who_has_spent_the_day_is_told_so() {
    let home = Home::sqlite();
    let mut few = settings();
    few.budgets.user_day = Allowance {
        calls: Some(1),
        ..Allowance::default()
    };
    let model = Scripted::default()
        .calls(&[("look", "a")])
        .says("first")
        .says("bob's");
    let stage = Stage::with(home.open().await, model, Default::default(), few);
    stage.hears_from("ann", "one", Some(Mode::Tools)).await;
    let again = stage.hears_from("ann", "two", Some(Mode::Tools)).await;
    assert_eq!(stop(&again), Some(TurnStop::Budget));
    let other = stage.hears_from("bob", "mine", Some(Mode::Tools)).await;
    assert_eq!(
        stop(&other),
        Some(TurnStop::Answered),
        "bob has a day of his own"
    );
    assert!(
        stage
            .sent()
            .iter()
            .any(|text| text.contains("for you today")),
        "{:?}",
        stage.sent()
    );
}

#[tokio::test]
async fn a_tool_that_hangs_is_given_up_and_the_model_told() {
    let home = Home::sqlite();
    let mut hasty = settings();
    hasty.call_timeout = Duration::from_secs(1);
    let model = Scripted::default()
        .calls(&[("look", "hang")])
        .says("Too slow.");
    let stage = Stage::with(home.open().await, model, Default::default(), hasty);
    stage.hears_from("ann", "go", Some(Mode::Tools)).await;
    let request = stage.model.requests().pop().unwrap();
    let told = format!("{:?}", request.messages);
    assert!(
        told.contains("error: tool look execution timeout after 1 seconds."),
        "{told}"
    );
    assert_eq!(stage.sent(), ["Too slow."]);
}

/// Adds a line to each request and signs each answer.
struct Signing;

impl Listener for Signing {
    fn points(&self) -> Points {
        Points::BEFORE_MODEL | Points::AFTER_MODEL | Points::BEFORE_ANSWER
    }

    fn before_model<'a>(
        &'a self,
        turn: &'a TurnFacts,
        request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let line = format!("heard from {}", turn.user);
            request.messages.push(ModelMessage::user(line));
        })
    }

    fn after_model<'a>(&'a self, _: &'a TurnFacts, reply: &'a mut ModelReply) -> BoxFuture<'a, ()> {
        Box::pin(async move { reply.text.push('!') })
    }

    fn before_answer<'a>(
        &'a self,
        _: &'a TurnFacts,
        parts: &'a mut Vec<Part>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move { parts.push(Part::text("-- signed")) })
    }
}

fn agent(
    store: callgate_store::Store,
    models: Models,
    listeners: Vec<Arc<dyn Listener>>,
) -> (Agent, Arc<Remembering>) {
    let outbox = Arc::new(Remembering::default());
    let agent = Agent::new(Wiring {
        coder: coder(store, Default::default(), &Ran::default()),
        models,
        settings: settings(),
        listeners,
        outbox: outbox.clone(),
        packages: Vec::new(),
        sessions: Sessions::default(),
    });
    (agent, outbox)
}

fn named(id: &str, model: &Scripted) -> NamedModel {
    NamedModel {
        id: id.into(),
        model: Arc::new(model.clone()),
    }
}

#[tokio::test]
async fn a_listener_changes_request_reply_and_answer() {
    let home = Home::sqlite();
    let model = Scripted::default().says("Hello");
    let models = Models::new(named("script", &model), Vec::new(), None, None);
    let (agent, outbox) = agent(home.open().await, models, vec![Arc::new(Signing)]);
    agent
        .arrive(incoming("ann", "hi"), Override::default(), Watch::default())
        .await
        .unwrap();
    assert_eq!(*outbox.0.lock().unwrap(), ["Hello!-- signed"]);
    let last = model.requests().pop().unwrap().messages.pop();
    assert_eq!(last, Some(ModelMessage::user("heard from ann")));
    let conversations = agent.store().conversations();
    let current = conversations.current(&session()).await.unwrap().unwrap();
    let history = conversations.history(current).await.unwrap();
    assert_eq!(
        history.last().unwrap().message["content"],
        "Hello!",
        "history keeps the model's words"
    );
}

fn picture() -> Incoming {
    let mut message = incoming("ann", "what is this?");
    message.parts.push(Part::Image {
        url: "data:image/png;base64,AA==".into(),
    });
    message
}

#[tokio::test]
async fn what_a_model_cannot_take_goes_to_the_vision_model_or_becomes_a_note() {
    let blind = Scripted::default().says("I cannot see it.");
    let home = Home::sqlite();
    let models = Models::new(named("blind", &blind), Vec::new(), None, None);
    let (agent_without, _) = agent(home.open().await, models, Vec::new());
    agent_without
        .arrive(picture(), Override::default(), Watch::default())
        .await
        .unwrap();
    let asked = format!("{:?}", blind.requests()[0].messages);
    assert!(
        asked.contains("image left out: this model cannot take it"),
        "{asked}"
    );

    let home = Home::sqlite();
    let (blind, mut seeing) = (Scripted::default(), Scripted::default().says("A dot."));
    seeing.accepts.image = true;
    let models = Models::new(
        named("blind", &blind),
        vec![named("seeing", &seeing)],
        None,
        Some("seeing".into()),
    );
    let (with_vision, outbox) = agent(home.open().await, models, Vec::new());
    with_vision
        .arrive(picture(), Override::default(), Watch::default())
        .await
        .unwrap();
    assert!(blind.requests().is_empty());
    assert!(format!("{:?}", seeing.requests()[0].messages).contains("base64,AA=="));
    assert_eq!(*outbox.0.lock().unwrap(), ["A dot."]);
}

#[tokio::test]
async fn a_long_history_is_summarised_and_nothing_is_lost() {
    let home = Home::sqlite();
    let stage = Stage::new(
        home.open().await,
        Scripted::default()
            .says("They talked about tea.")
            .says("Yes."),
    );
    let conversations = stage.agent.store().conversations();
    let conversation = conversations.get_or_create(&session(), None).await.unwrap();
    let messages: Vec<NewMessage> = (0..20)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": format!("line {number}")}).into()
        })
        .collect();
    conversations
        .append(conversation.id, &messages)
        .await
        .unwrap();
    stage.hears("/compact").await;
    assert_eq!(stage.sent(), ["Summarised."]);
    let context = conversations.context(conversation.id).await.unwrap();
    assert!(
        context.len() < 20
            && context[0]
                .message
                .to_string()
                .contains("They talked about tea.")
    );
    assert!(
        conversations.history(conversation.id).await.unwrap().len() > 20,
        "nothing is deleted"
    );

    stage
        .hears_from("ann", "still there?", Some(Mode::Tools))
        .await;
    let asked = format!("{:?}", stage.model.requests().pop().unwrap().messages);
    assert!(
        asked.contains("They talked about tea.") && !asked.contains("line 3\""),
        "{asked}"
    );
    assert!(asked.contains("line 19"), "{asked}");
}

#[tokio::test]
async fn a_turn_over_its_budget_still_acts_on_what_was_answered() {
    let home = Home::sqlite();
    let store = home.open().await;
    let first = Scripted::default()
        .calls(&[("act", "a")])
        .calls(&[("act", "b")])
        .says("!hang");
    let stage = Stage::new(store.clone(), first);
    let cut = stage.hears_from("ann", "go", Some(Mode::Tools));
    let until = async {
        while stage.model.requests().len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        arrived = cut => panic!("{arrived:?}"),
        () = until => {}
    }
    let mut few = settings();
    few.budgets.turn.calls = Some(1);
    let second = Stage::with(store, Scripted::default(), Default::default(), few);
    second.agent.recover().await.unwrap();
    assert_eq!(
        second.sent(),
        [
            "The budget of calls for this turn is used up. Ask for less at once, or have the operator \
          raise budget.turn_calls."
        ]
    );
    let turn = second
        .agent
        .store()
        .turns()
        .list(&session(), 1)
        .await
        .unwrap();
    let report = turn[0].finish.as_ref().unwrap().report.clone();
    assert_eq!(
        (&report["rounds"], &report["calls"]),
        (&json!(2), &json!(2))
    );
    let conversations = second.agent.store().conversations();
    let current = conversations.current(&session()).await.unwrap().unwrap();
    let history = conversations.history(current).await.unwrap();
    assert!(format!("{history:?}").contains("did b"), "{history:?}");
}

#[tokio::test]
async fn a_look_at_the_prompt_leaves_nothing_behind() {
    let home = Home::sqlite();
    let store = home.open().await;
    let stage = Stage::new(store.clone(), Scripted::default());
    for mode in [Mode::Code, Mode::Tools] {
        let overrule = Override {
            mode: Some(mode),
            ..Override::default()
        };
        let preview = stage
            .agent
            .preview(&session(), "cli:ann".parse().unwrap(), overrule)
            .await;
        assert!(!preview.unwrap().request.messages.is_empty());
    }
    assert_eq!(store.sessions().list().await.unwrap(), []);
    assert_eq!(store.conversations().list(None, None).await.unwrap(), []);
}
