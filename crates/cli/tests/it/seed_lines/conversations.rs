//! Conversations as plugins find and change them.

use serde_json::{Value as Json, json};

use super::{Guide, assistant, says, spoken, user};

const HERE: &str = super::GROUP;

///
#[test]
fn the_current_conversation_holds_what_was_said_in_a_turn() {
    let guide = Guide::of("managers");
    guide.model.will_say(&[says("good day")]);
    let said = guide.chat(&["hello", "/history"], &[]);
    assert_eq!(said[0], "good day");
    let found = super::read(&said[1]);
    assert_eq!(found[0], true, "it is the current one");
    assert_eq!(found[1], true, "of this session");
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": "good day"}]});
    assert_eq!(found[2], json!([user("hello"), answer]));
    // It is the stored one: a later process reads the same.
    assert_eq!(guide.found(&["/history"], &[]), [found]);
}

///
#[test]
fn the_next_turn_is_asked_with_the_history_switched_to() {
    let guide = Guide::of("managers");
    let begin = ["apple", "banana"].map(|word| format!("/begin {HERE} {word}"));
    let made = guide.chat(&[&begin[0], &begin[1]], &[]);
    let (apple, banana) = (&made[0], &made[1]);
    for (conversation, word) in [(apple, "apple"), (banana, "banana"), (apple, "apple")] {
        let switch = format!("/switch {conversation}");
        guide.model.will_say(&[says("that one")]);
        let said = guide.chat(&[&switch, "which?"], &["--mode", "tools"]);
        assert_eq!(super::read(&said[0]), json!([null, conversation]));
        let [asked] = &guide.model.take_requests()[..] else {
            panic!("asked once");
        };
        let remembered = [
            user(&format!("remember {word}")),
            assistant(&format!("{word}, yes")),
        ];
        let spoken = spoken(asked);
        assert_eq!(spoken[..2], remembered);
        assert_eq!(*spoken.last().unwrap(), user("which?"));
        let other = if word == "apple" { "banana" } else { "apple" };
        assert!(!asked["messages"].to_string().contains(other), "{asked}");
    }
}

/// only the first two colons divide.
#[test]
fn a_session_id_may_hold_colons() {
    let guide = Guide::of("managers");
    let umo = "p:GroupMessage:a:b!c";
    let lines = [format!("/begin {umo} word"), format!("/whose {umo}")];
    let said = guide.chat(&lines.each_ref().map(String::as_str), &[]);
    let parts = json!(["p", "GroupMessage", "a:b!c", umo]);
    assert_eq!(super::read(&said[1]), json!([parts, [["p", umo]]]));
}

/// without a current one nothing happens.
#[test]
fn an_update_without_an_id_is_of_the_current_conversation() {
    let guide = Guide::of("managers");
    let begin = ["one", "two"].map(|word| format!("/begin {HERE} {word}"));
    let lines = ["/retitle nobody", &begin[0], &begin[1], "/retitle mine"];
    let said = guide.chat(&lines, &[]);
    assert_eq!(super::read(&said[0]), json!([]));
    assert_eq!(super::read(&said[3]), json!(["mine", null]), "newest first");
}

///
#[test]
fn conversations_are_listed_of_all_or_of_a_platform_or_of_a_session() {
    let guide = Guide::of("managers");
    let places = [HERE, "p:FriendMessage:x", "q:GroupMessage:y", HERE];
    let begin = places.map(|place| format!("/begin {place} word"));
    let made = guide.chat(&begin.each_ref().map(String::as_str), &[]);
    let found = guide.found(&["/conversations"], &[]);
    let [all, of_p, of_q, of_none, of_session] = &found[0].as_array().unwrap()[..] else {
        panic!("{found:?}");
    };
    let newest_first: Vec<&String> = made.iter().rev().collect();
    assert_eq!(*all, json!(newest_first));
    assert_eq!(*of_p, json!([made[1]]));
    assert_eq!(*of_q, json!([made[2]]));
    assert_eq!(*of_none, Json::Array(Vec::new()));
    assert_eq!(*of_session, json!([made[3], made[0]]), "newest first");
}
