//! A session taken out of one place and executed again in another: equal where nothing was touched,
//! and the first difference named exactly where something was.

mod damaged;
mod meddled;
mod play;

use callgate_agent::capsule::{Difference, MAX_FILES};
use callgate_contract::Mode;
use callgate_store::NewPersona;
use serde_json::json;

use self::play::{Play, again};
use crate::{
    seeds::troupe::calling,
    stage::{Scripted, python, session},
};

/// Randomness, clocks, an effect, an agent round, an error and its retry, a file.
fn code(model: Scripted) -> Scripted {
    model
        .says(&python(
            "import random, time, uuid\n\
             print(random.random(), time.time(), uuid.uuid4(), time.monotonic())\n\
             print(act('one'), time.time(), {'b', 'a', 'c'})\n\
             search('the weather')",
        ))
        .says(&python(
            "import time\nlook('twice')\nraise ValueError(f'at {time.time()}')",
        ))
        .says(&python(
            "import datetime, random\n\
             with open('/app/shared/out.txt', 'a') as out:\n    \
                 print(random.random(), datetime.datetime.now(), file=out)\n\
             note('written')\n\
             say(open('/app/shared/out.txt').read())",
        ))
}

/// Calls side by side, one that fails, one that is no method, malformed arguments, then words.
fn tools(model: Scripted) -> Scripted {
    model
        .calls(&[("look", "here"), ("look", "there"), ("look", "everywhere")])
        .calls(&[("look", "fail"), ("juggle", "balls")])
        .says("There it is.")
}

fn one_run(difference: &Difference) -> (u32, &str) {
    (difference.place.round.unwrap(), difference.what.as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_equal_on_another_machine() {
    let model = tools(code(Scripted::default()))
        .replies(calling("ask_helper", json!({"query": "How old is it?"})))
        .says(&python("import random\nprint(random.random())\nexit(9)"))
        .says("Seven years.")
        .says("It is seven years old.")
        .says(&python(
            "text = open('/app/uploads/given.txt').read()\n\
             fetch('fetched.txt')\n\
             print(text, open('/app/shared/fetched.txt').read())\n\
             say('read')",
        ));
    let play = Play::new(model).await;
    let helper = NewPersona {
        name: "helper".into(),
        system_prompt: "Help.".into(),
        ..NewPersona::default()
    };
    play.troupe
        .store()
        .personas()
        .create(&helper)
        .await
        .unwrap();
    play.troupe.agent.register_personas().await.unwrap();
    play.troupe.hears(Mode::Code, "Do it all").await;
    play.troupe.hears(Mode::Tools, "Where is it?").await;
    play.troupe.hears(Mode::Tools, "And how old?").await;
    play.upload("given.txt", "given by a person").await;
    let last = play.troupe.hears(Mode::Code, "Read them").await;
    assert_eq!(last.calls, 2, "{last:?}");
    let acted = play.acted();

    let capsule = play.capsule().await;
    let replayed = again(&capsule).await;
    assert_eq!(replayed.difference, None, "{:?}", replayed.notes);
    assert!(replayed.equal);
    assert_eq!((replayed.turns, replayed.runs), (5, 5));
    assert_eq!(replayed.notes, Vec::<String>::new());
    assert_eq!(play.acted(), acted, "a method was really called");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_turn_is_a_capsule_too() {
    let play = Play::new(code(tools(Scripted::default()))).await;
    play.troupe.hears(Mode::Tools, "Where is it?").await;
    let turn = play.troupe.hears(Mode::Code, "Do it all").await;
    let capsule = play.capsule_of(Some(turn.turn)).await;
    assert_eq!(capsule.turns.len(), 1);
    let replayed = again(&capsule).await;
    assert_eq!(replayed.difference, None);
    assert_eq!((replayed.turns, replayed.runs), (1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn code_without_a_turn_is_executed_again() {
    let play = Play::new(Scripted::default()).await;
    play.run("import time\nprint(look('x'), time.time())\nprint(time.time())")
        .await;
    play.run("import threading\nthreading.Thread(target=print).start()")
        .await;
    let replayed = again(&play.capsule().await).await;
    assert_eq!((replayed.difference, replayed.runs), (None, 1));
    assert!(
        replayed.notes[0].contains("it used threads"),
        "{:?}",
        replayed.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_reply_result_or_clock_is_named_where_it_is() {
    let play = Play::new(tools(code(Scripted::default()))).await;
    play.troupe.hears(Mode::Code, "Do it all").await;
    play.troupe.hears(Mode::Tools, "Where is it?").await;
    let capsule = play.capsule().await;

    let mut other = capsule.clone();
    let reply = &mut other.turns[0].rounds[1].answer.as_mut().unwrap().reply;
    reply["text"] = python("look('once')").into();
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(one_run(&difference), (2, "code"));
    assert_eq!(difference.found, json!("look('once')"));

    let mut other = capsule.clone();
    let call = &mut other.turns[0].runs[0].calls[0];
    let outcome = call.outcome.as_mut().unwrap();
    outcome.value = Some(play::value("did two"));
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(one_run(&difference), (1, "value"));
    assert_eq!(difference.place.call, Some(1));
    assert_eq!(difference.place.turn, Some(capsule.turns[0].id));
    assert_eq!(difference.expected, json!("did one"));
    assert_eq!(difference.found, json!("did two"));

    let mut other = capsule.clone();
    other.turns[0].runs[1].code = "import time\nact('another')".into();
    let reply = &mut other.turns[0].rounds[1].answer.as_mut().unwrap().reply;
    reply["text"] = python("import time\nact('another')").into();
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(
        (one_run(&difference), difference.place.call),
        ((2, "call"), Some(1))
    );
    assert_eq!(difference.expected["method"], "look");

    let mut other = capsule.clone();
    other.turns[0].runs[0].seed.0[0] ^= 1;
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(one_run(&difference), (1, "stdout"));

    let mut other = capsule.clone();
    other.turns[0].runs[0].calls[0].clocks[0] += 1_000_000_000;
    assert_eq!(
        one_run(&again(&other).await.difference.unwrap()),
        (1, "stdout")
    );

    // Tool mode: what the model asked for, and what it was told.
    let mut other = capsule.clone();
    let reply = &mut other.turns[1].rounds[0].answer.as_mut().unwrap().reply;
    reply["tool_calls"][1]["arguments"]["text"] = "nowhere".into();
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(
        (one_run(&difference), difference.place.call),
        ((1, "call"), Some(2))
    );
    assert_eq!(difference.expected["arguments"]["text"], "there");
    assert_eq!(difference.found["arguments"]["text"], "nowhere");

    let mut other = capsule.clone();
    let outcome = other.turns[1].calls[2].outcome.as_mut().unwrap();
    outcome.value = Some(play::value("saw nothing"));
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(
        (one_run(&difference), difference.place.call),
        ((1, "message"), Some(3))
    );
    assert_eq!(difference.expected["content"], "saw everywhere");

    let mut other = capsule.clone();
    let reply = &mut other.turns[1].rounds[2].answer.as_mut().unwrap().reply;
    reply["text"] = "There it was.".into();
    let difference = again(&other).await.difference.unwrap();
    assert_eq!(one_run(&difference), (3, "message"));
    assert_eq!(difference.found["content"], "There it was.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_is_the_first_difference() {
    let model = Scripted::default().says(&python(
        "print(len(open('/app/uploads/given.txt').read()))\nsay(look('at it'))",
    ));
    let play = Play::new(model).await;
    play.upload("given.txt", "given by a person").await;
    play.troupe.hears(Mode::Code, "Read it").await;
    let mut capsule = play.capsule().await;
    assert_eq!(again(&capsule).await.difference, None);
    capsule.files.clear();
    let difference = again(&capsule).await.difference.unwrap();
    assert_eq!(one_run(&difference), (1, "stop"));
    assert_eq!(difference.expected["stop"], "finished");
    let error = difference.found["error"].as_str().unwrap();
    assert!(error.contains("FileNotFoundError"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_code_makes_otherwise_is_a_difference() {
    let write = "open('/app/shared/made.txt', 'w').write('by code')";
    let play = Play::new(Scripted::default().says(&python(write))).await;
    play.troupe.hears(Mode::Code, "Write it").await;
    let mut capsule = play.capsule().await;
    assert!(again(&capsule).await.equal);
    let made = capsule
        .files
        .iter_mut()
        .find(|file| file.name == "made.txt");
    made.unwrap().content.as_mut().unwrap().0 = b"by hand".to_vec();
    let difference = again(&capsule).await.difference.unwrap();
    assert_eq!(difference.what, "file");
    assert_eq!(
        difference.place.file.as_deref(),
        Some("/app/shared/made.txt")
    );
    assert_eq!(difference.expected["begins"], "by hand");
    assert_eq!(difference.found["begins"], "by code");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_beyond_the_bound_are_named_and_not_held() {
    let play = Play::new(Scripted::default().says("Hello.")).await;
    play.troupe.hears(Mode::Tools, "Hi").await;
    play.upload("small.txt", "small").await;
    play.upload("large.bin", &"x".repeat(MAX_FILES as usize))
        .await;
    let capsule = play.capsule().await;
    let held: Vec<(&str, bool)> = capsule
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.content.is_some()))
        .collect();
    assert_eq!(held, [("large.bin", false), ("small.txt", true)]);
    assert_eq!(capsule.files[0].size, MAX_FILES);
    let replayed = again(&capsule).await;
    assert!(replayed.equal);
    assert!(
        replayed.notes[0].contains("/app/uploads/large.bin"),
        "{:?}",
        replayed.notes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_is_said_and_nothing_secret_is_in_it() {
    let model = Scripted::default()
        .calls(&[("look", "fail")])
        .says("No.")
        .calls(&[("act", "x")]);
    let play = Play::new(model).await;
    play.troupe.hears(Mode::Tools, "Look").await;
    play.troupe.store().keys().create(&[]).await.unwrap();
    let (key, id) = (play.key().await, session());
    let capsule = play.capsule().await;
    let mut written = Vec::new();
    callgate_agent::capsule::write(&capsule, &mut written).unwrap();
    let text = String::from_utf8(written).unwrap();
    assert!(!text.contains(&key), "a key is in the capsule");
    assert!(
        !text.contains(play::TRACEBACK),
        "a traceback is in the capsule"
    );
    assert!(text.contains(&id.to_string()));

    // The last turn's model has nothing to say after its call: how that went cannot be had again.
    play.troupe.hears(Mode::Tools, "Act").await;
    let replayed = again(&play.capsule().await).await;
    assert_eq!(replayed.difference, None);
}
