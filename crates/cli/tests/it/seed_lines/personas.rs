//! Personas as plugins find and change them, and what they change of a request,
//!

use serde_json::{Value as Json, json};

use super::{GROUP, Guide, assistant, read, results, says, spoken, tools, user};
use crate::{model::calls, server::Server};

const TOOLS: [&str; 2] = ["--mode", "tools"];

fn sent(guide: &Guide, text: &str) -> String {
    let arguments = ["send", text, "--json", "--session", GROUP, "--user", "ann"];
    let said = guide.scene.callgate(&arguments).succeeded();
    said.messages().remove(0)
}

/// the server is killed, not ended.
#[test]
fn personas_are_there_with_every_field_after_a_kill() {
    let guide = Guide::of("managers");
    let options = ["--plugin", &guide.plugin];
    let server = Server::start_with(&guide.scene, &options);
    let cat = read(&sent(&guide, "/create cat hi,yo first,second"));
    let dog = read(&sent(&guide, "/create dog"));
    assert_eq!(read(&sent(&guide, "/personas")), json!([cat, dog]));
    drop(server);
    let again = Server::start_with(&guide.scene, &options);
    assert_eq!(read(&sent(&guide, "/personas")), json!([cat, dog]));
    let old = read(&sent(&guide, "/old"));
    let names: Vec<&Json> = old
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["default", "cat", "dog"]);
    again.end();
}

///
#[test]
fn a_session_has_the_default_it_chose_and_none_has_the_operators() {
    let guide = Guide::of("managers");
    let other = ["--session", "cli:FriendMessage:other"];
    let third = ["--session", "cli:FriendMessage:third"];
    let made = ["/create cat", "/create dog", "/create owl"];
    guide.chat(&made, &[]);
    guide.choose_persona("cat", &[]);
    guide.choose_persona("dog", &other);
    // In text, as an object, and in none.
    assert_eq!(
        guide.found(&["/default"], &[]),
        [json!(["cat", "cat", "default"])]
    );
    assert_eq!(
        guide.found(&["/default"], &other),
        [json!(["dog", "dog", "default"])]
    );
    assert_eq!(
        guide.found(&["/default"], &third),
        [json!(["default", "default", "default"])]
    );

    let server = Server::start_with(&guide.scene, &["--plugin", &guide.plugin]);
    let made = guide
        .scene
        .callgate(&["key", "new", "--scope", "operator", "--json"]);
    let made = made.succeeded().json();
    let key = made["key"].as_str().unwrap();
    let owl = json!({"system_prompt": "You are owl.", "default": true});
    let (status, body) = server.api("PUT", "/api/personas/owl", key, Some(&owl));
    assert_eq!(status, 200, "{body}");
    assert_eq!(
        read(&sent(&guide, "/default")),
        json!(["cat", "cat", "owl"])
    );
    server.end();
    assert_eq!(
        guide.found(&["/default"], &third),
        [json!(["owl", "owl", "owl"])]
    );
}

///
#[test]
fn a_persona_has_its_fields_and_an_update_is_later_than_its_making() {
    let guide = Guide::of("managers");
    let found = guide.found(&["/create cat hi,yo first", "/create dog", "/long"], &[]);
    let [cat, dog, long] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(*long, json!(["made", "refused"]), "255 and 256 characters");
    assert!(cat["id"].is_i64() && dog["id"].is_i64(), "{found:?}");
    assert_ne!(cat["id"], dog["id"]);
    assert_eq!(cat["system_prompt"], "You are cat.");
    assert_eq!(cat["begin_dialogs"], json!(["hi", "yo"]));
    assert_eq!(cat["tools"], json!(["first"]));
    assert_eq!([&dog["begin_dialogs"], &dog["tools"]], [&Json::Null; 2]);
    assert_eq!(cat["utc"], json!([true, true]));

    let found = guide.found(&["/update cat purring", "/personas"], &[]);
    let (updated, all) = (&found[0], found[1].as_array().unwrap());
    assert_eq!(updated["system_prompt"], "purring");
    assert_eq!(updated["created_at"], cat["created_at"]);
    let time = |persona: &Json| persona["updated_at"].as_f64().unwrap();
    assert!(time(updated) > time(cat), "{updated} after {cat}");
    assert_eq!(updated["utc"], json!([true, true]));
    assert!(all.contains(updated) && all.contains(dog), "{all:?}");
}

///
#[test]
fn the_old_dictionary_has_its_keys_and_moods_have_no_effect() {
    let guide = Guide::of("managers");
    guide.chat(&["/create cat hi,yo first", "/create dog"], &[]);
    guide.model.will_say(&[says("meow"), says("meow again")]);
    guide.choose_persona("cat", &[]);
    let lines = ["/old", "hello", "/moods", "hello", "/old"];
    let said = guide.chat(&lines, &TOOLS);
    let cat = json!({
        "prompt": "You are cat.", "name": "cat", "begin_dialogs": ["hi", "yo"],
        "mood_imitation_dialogs": [], "tools": ["first"],
    });
    let dog = json!({
        "prompt": "You are dog.", "name": "dog", "begin_dialogs": [],
        "mood_imitation_dialogs": [], "tools": null,
    });
    assert_eq!(
        read(&said[0]),
        json!([cat, cat, dog]),
        "the session's, then all"
    );
    let moody = read(&said[4]);
    assert_eq!(
        moody[0]["mood_imitation_dialogs"],
        json!(["mood of the user", "mood of the assistant"]),
        "the plugin did set it"
    );
    for asked in guide.model.take_requests() {
        let system = asked["messages"][0]["content"].as_str().unwrap();
        assert!(system.starts_with("You are cat."), "{system}");
        assert!(!asked.to_string().contains("mood of the"), "{asked}");
    }
}

/// dialogues come before the history, in every request, and are never part of it.
#[test]
fn opening_dialogues_come_first_unless_one_lacks_its_answer() {
    let guide = Guide::of("managers");
    guide.chat(&["/create cat hi,yo", "/create odd alone"], &[]);
    let answers = ["meow", "purr", "hm"].map(says);
    guide.model.will_say(&answers);
    guide.choose_persona("cat", &[]);
    let said = guide.chat(&["one", "two", "/history"], &TOOLS);
    guide.choose_persona("odd", &[]);
    guide.chat(&["three"], &TOOLS);
    let asked: Vec<Vec<Json>> = guide.model.take_requests().iter().map(spoken).collect();
    let opening = [user("hi"), assistant("yo")];
    let first = [user("one"), assistant("meow")];
    let second = [user("two"), assistant("purr")];
    assert_eq!(asked[0], [&opening[..], &first[..1]].concat());
    assert_eq!(asked[1], [&opening[..], &first, &second[..1]].concat());
    assert_eq!(asked[2], [&first[..], &second, &[user("three")]].concat());
    let kept = read(&said[2])[2].to_string();
    assert!(kept.contains("one") && kept.contains("purr"), "{kept}");
    assert!(
        !kept.contains("\"hi\"") && !kept.contains("\"yo\""),
        "{kept}"
    );
}

///
#[test]
fn a_persona_has_all_tools_or_none_or_those_it_names() {
    let guide = Guide::of("managers");
    guide.chat(&["/create cat"], &[]);
    guide.model.will_say(&[says("hello")]);
    guide.chat(&["hello"], &TOOLS);
    guide.choose_persona("cat", &[]);
    let usual = guide.model.take_requests();
    assert!(tools(&usual[0]).len() > 5, "{usual:?}");

    let cases = [
        ("now,recall,no_such_tool", vec!["now", "recall"]),
        ("none", vec![]),
        ("all", tools(&usual[0])),
    ];
    for (allowed, expected) in cases {
        // A call of what is not allowed reaches nobody.
        let call = calls(&[("remember", json!({"name": allowed, "text": "kept"}))]);
        guide.model.will_say(&[call, says("tried")]);
        guide.chat(&[&format!("/allow cat {allowed}"), "hello"], &TOOLS);
        let asked = guide.model.take_requests();
        assert_eq!(tools(&asked[0]), expected, "{allowed}");
        let refused = results(&asked[1]).last().unwrap().contains("not granted");
        assert_eq!(refused, allowed != "all", "{asked:?}");
    }
    assert_eq!(guide.scene.notes_in(GROUP), ["all"]);
}
