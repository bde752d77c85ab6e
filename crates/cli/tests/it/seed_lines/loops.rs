//! Agents that loop over tools of their own.

use serde_json::{Value as Json, json};

use super::{Guide, results, says, tools};
use crate::model::calls;

/// The tools of the guide's main agent, in its order.
const MAIN: [&str; 3] = ["subagent1_name", "subagent2_name", "assign_agent"];

fn call(name: &str, query: &str) -> Json {
    calls(&[(name, json!({ "query": query }))])
}

///
#[test]
fn a_loop_goes_on_until_no_tool_is_called() {
    let guide = Guide::of("tool_loops");
    guide.model.will_say(&[
        call("assign_agent", "one"),
        call("subagent1_name", "two"),
        call("subagent2_name", "three"),
        says("it is done"),
        says("one more than there should be"),
    ]);
    assert_eq!(guide.chat(&["/loop 30"], &[]), ["assistant: it is done"]);
    let asked = guide.model.take_requests();
    let done = [
        "agent 1 fits: one",
        "the first agent did it: two",
        "the second agent does nothing",
    ];
    assert_eq!(asked.len(), 4);
    for (round, asked) in asked.iter().enumerate() {
        assert_eq!(results(asked), done[..round], "round {round}");
        assert_eq!(tools(asked), MAIN, "round {round}");
        assert_eq!(
            asked["messages"][0],
            json!({"role": "system", "content": "You are the main agent."})
        );
        assert_eq!(
            asked["messages"][1],
            json!({"role": "user", "content": "the task"})
        );
    }
}

/// the whole set in each step that is allowed, and one more round without any.
#[test]
fn after_the_last_step_the_model_is_asked_once_more_without_tools() {
    let guide = Guide::of("tool_loops");
    guide.model.will_say(&[
        call("assign_agent", "one"),
        call("assign_agent", "two"),
        says("that is as far as I came"),
    ]);
    let said = guide.chat(&["/loop 2"], &[]);
    assert_eq!(said, ["assistant: that is as far as I came"]);
    let asked = guide.model.take_requests();
    let offered: Vec<Vec<&str>> = asked.iter().map(tools).collect();
    assert_eq!(offered, [MAIN.to_vec(), MAIN.to_vec(), vec![]]);
    let last = &asked[2]["messages"];
    assert_eq!(
        results(&asked[2]),
        ["agent 1 fits: one", "agent 1 fits: two"]
    );
    let words = last.as_array().unwrap().last().unwrap();
    assert_eq!(
        words["role"], "user",
        "it is told to come to an end: {words}"
    );
}

///
#[test]
fn a_tool_past_its_time_is_told_as_such_and_the_loop_goes_on() {
    let guide = Guide::of("tool_loops");
    guide.model.will_say(&[
        calls(&[("t", json!({}))]),
        call("assign_agent", "another way"),
        says("it works without"),
    ]);
    assert_eq!(
        guide.chat(&["/impatient"], &[]),
        ["assistant: it works without"]
    );
    let asked = guide.model.take_requests();
    assert_eq!(asked.len(), 3);
    let late = "error: tool t execution timeout after 1 seconds.";
    assert_eq!(results(&asked[1]), [late]);
    assert_eq!(results(&asked[2]), [late, "agent 1 fits: another way"]);
}
