//! The examples of the seeds in our own words, each in the mode it belongs to: real Python in the
//! real sandbox, methods in Rust, answers of a scripted model.

mod agents;
mod kinds;
mod named;
pub mod troupe;

use std::sync::Arc;

use callgate_contract::{
    Change, Effect, Kind, Message, MethodError, Mode, Part, Reply, TurnStop, Value,
};
use callgate_gate::{Call, Function, method};
use callgate_store::Store;

use self::troupe::{Troupe, words};
use crate::stage::{Scripted, python};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// The one number.
    num1: i64,
    /// The other.
    num2: i64,
}

fn my_sum_function() -> Function {
    let add = async |_: Call, Sum { num1, num2 }: Sum| Ok::<_, MethodError>(num1 + num2);
    let handler = move |call, sum| add(call, sum);
    method("my_sum_function", Kind::Tool, handler)
        .title("calculate_sum")
        .doc("Adds two whole numbers.")
        .returns("int", "Their sum.")
}

#[tokio::test]
async fn a_sum_is_used_by_the_next_line() {
    let code = "total = my_sum_function(2, 3)\nprint(total * 2, my_sum_function(num1=4, num2=5))";
    let model = Scripted::default().says(&python(code));
    let troupe = Troupe::new(model, vec![my_sum_function()]).await;
    let report = troupe.hears(Mode::Code, "What is 2 + 3, twice?").await;
    assert_eq!(troupe.printed(), "10 9\n");
    assert_eq!(
        (report.rounds, report.calls),
        (1, 2),
        "a tool starts no round"
    );
    assert_eq!(troupe.system_rows().await, [""; 0]);
    let method = troupe.agent.gate().find("my_sum_function").unwrap();
    let shown = (&*method.info().title, &*method.info().description);
    assert_eq!(shown, ("calculate_sum", "Adds two whole numbers."));
    let prompt = format!("{:?}", troupe.model.requests()[0].messages[0]);
    assert!(
        prompt.contains("my_sum_function(num1: int, num2: int) -> int"),
        "{prompt}"
    );
}

#[tokio::test]
async fn the_time_is_a_text_that_python_reads() {
    let now = |_: Call, _: Nothing| async {
        Ok::<_, MethodError>(jiff::Zoned::now().datetime().to_string())
    };
    let get_time = method("get_time", Kind::Tool, now).doc("The date and time.");
    let code = "from datetime import datetime\n\
                then = datetime.fromisoformat(get_time())\n\
                print(abs((datetime.now() - then).days))";
    let troupe = Troupe::new(Scripted::default().says(&python(code)), vec![get_time]).await;
    let report = troupe.hears(Mode::Code, "What time is it?").await;
    assert_eq!((troupe.printed().as_str(), report.rounds), ("0\n", 1));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    query: String,
}

fn search_kb() -> Function {
    let search = |_: Call, Query { query }: Query| async move {
        let found = (query == "tides").then_some("- The moon pulls.\n- Twice a day.");
        Ok::<_, MethodError>(match found {
            None => format!("The knowledge base has nothing about '{query}'."),
            Some(found) => format!("The knowledge base says about '{query}':\n{found}"),
        })
    };
    method("search_kb", Kind::Agent, search).doc("Looks things up.")
}

#[tokio::test]
async fn what_the_knowledge_base_says_is_the_next_observation() {
    for (query, expected) in [
        (
            "tides",
            "The knowledge base says about 'tides':\n- The moon pulls.\n- Twice a day.",
        ),
        (
            "unicorns",
            "The knowledge base has nothing about 'unicorns'.",
        ),
    ] {
        let code = format!("search_kb(\"{query}\")\nprint(\"never\")");
        let model = Scripted::default().says(&python(&code)).says("I see.");
        let troupe = Troupe::new(model, vec![search_kb()]).await;
        let report = troupe.hears(Mode::Code, "Tell me.").await;
        assert_eq!((report.rounds, report.stop), (2, Some(TurnStop::Answered)));
        assert_eq!(troupe.shown(2), [Part::text(expected)]);
        assert_eq!(troupe.system_rows().await, [expected]);
        assert_eq!(troupe.printed(), "", "the line after the call never ran");
        assert_eq!(troupe.sent(), ["I see."]);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct TextToSend {
    text_to_send: String,
}

fn send_chat_message() -> Function {
    let send = |call: Call, TextToSend { text_to_send: text }: TextToSend| async move {
        let shown: String = text.chars().take(30).collect();
        let message = Message {
            session: call.caller.session,
            parts: vec![Part::text(text)],
        };
        Ok::<_, MethodError>(Reply {
            value: format!("Message '{shown}...' has been successfully sent.").into(),
            changes: vec![Change::Send { message }],
        })
    };
    method("send_chat_message", Kind::Behavior, send).title("send_channel_message")
}

#[tokio::test]
async fn a_channel_message_goes_out_whole_and_is_cut_in_its_row_only() {
    let long = "八千里路云和月".repeat(6);
    let cut: String = long.chars().take(30).collect();
    for (text, shown) in [("hello", "hello"), (long.as_str(), cut.as_str())] {
        let code = format!("print(send_chat_message('{text}'))\nprint('after')");
        let model = Scripted::default().says(&python(&code)).says("Later.");
        let troupe = Troupe::new(model, vec![send_chat_message()]).await;
        let report = troupe.hears(Mode::Code, "Say it.").await;
        let row = format!("Message '{shown}...' has been successfully sent.");
        assert_eq!((report.rounds, report.stop), (1, Some(TurnStop::Answered)));
        assert_eq!(troupe.sent(), [text]);
        assert_eq!(troupe.system_rows().await, [row.as_str()]);
        assert_eq!(troupe.printed(), format!("{row}\nafter\n"));
        troupe.hears(Mode::Code, "And then?").await;
        let seen = words(&troupe.shown(2));
        assert!(seen.contains(&row), "a later turn sees the row: {seen}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    topic: String,
}

const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
    Value::Dict(entries.collect())
}

fn generate_image_with_comment() -> Function {
    let draw = |_: Call, Topic { topic }: Topic| async move {
        let comment = format!("A picture of '{topic}'.");
        let url = dict([("url", PICTURE.into())]);
        Ok::<_, MethodError>(Value::List(vec![
            dict([("type", "text".into()), ("text", comment.into())]),
            dict([("type", "image_url".into()), ("image_url", url)]),
        ]))
    };
    method("generate_image_with_comment", Kind::MultimodalAgent, draw)
}

#[tokio::test]
async fn an_image_with_its_comment_is_looked_at_in_the_next_round() {
    let code = python("generate_image_with_comment('cat')\nprint('never')");
    for sees in [true, false] {
        let mut model = Scripted::default().says(&code).says("What a cat.");
        model.accepts.image = sees;
        let troupe = Troupe::new(model, vec![generate_image_with_comment()]).await;
        let report = troupe.hears(Mode::Code, "Draw a cat.").await;
        assert_eq!((report.rounds, troupe.printed().as_str()), (2, ""));
        let image = if sees {
            Part::Image {
                url: PICTURE.into(),
            }
        } else {
            Part::text("[image left out: this model cannot take it]")
        };
        assert_eq!(troupe.shown(2), [Part::text("A picture of 'cat'."), image]);
        assert_eq!(troupe.system_rows().await, [""; 0]);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Preference {
    /// Whose.
    user_id: String,
    /// Which one, such as "theme".
    preference_key: String,
}

const EXAMPLE: &str = r#"theme = get_user_preference(user_id="user_123", preference_key="theme")
if theme:
    print(f"User's theme is: {theme}")
else:
    print("User's theme preference setting not found.")"#;

fn note_name(of: &Preference) -> String {
    format!("{}/{}", of.user_id, of.preference_key)
}

fn get_user_preference(store: Store) -> Function {
    let get = move |call: Call, wanted: Preference| {
        let store = store.clone();
        async move {
            let found = store
                .notes()
                .get(&call.caller.session, &note_name(&wanted))
                .await;
            let found = found.map_err(|error| MethodError::new(error.to_string()))?;
            Ok::<_, MethodError>(found.map_or(Value::Null, |note| note.text.into()))
        }
    };
    method("get_user_preference", Kind::Tool, get)
        .doc("A preference of a user.")
        .returns(
            "Optional[str]",
            "The value, or None where nothing is stored.",
        )
        .example(EXAMPLE)
}

fn prefer_dark() -> Function {
    let set = |call: Call, preference: Preference| async move {
        Ok::<_, MethodError>(Reply {
            value: true.into(),
            changes: vec![Change::Remember {
                session: call.caller.session,
                name: note_name(&preference),
                text: "dark".into(),
            }],
        })
    };
    method("prefer_dark", Kind::Tool, set).effect(Effect::Rows)
}

#[tokio::test]
async fn a_preference_is_found_or_is_none() {
    let stored = format!("prefer_dark('user_123', 'theme')\n{EXAMPLE}");
    for (code, expected) in [
        (stored.as_str(), "User's theme is: dark\n"),
        (EXAMPLE, "User's theme preference setting not found.\n"),
    ] {
        let model = Scripted::default().says(&python(code));
        let troupe = Troupe::new(model, vec![prefer_dark()]).await;
        let get = get_user_preference(troupe.store().clone());
        troupe.agent.gate().register(Arc::new(get)).unwrap();
        let report = troupe.hears(Mode::Code, "Which theme do I like?").await;
        assert_eq!((troupe.printed().as_str(), report.rounds), (expected, 1));
        let prompt = format!("{:?}", troupe.model.requests()[0].messages[0]);
        assert!(prompt.contains("Example:"), "{prompt}");
        assert!(
            prompt.contains("preference_key: str) -> Optional[str]"),
            "{prompt}"
        );
    }
}
