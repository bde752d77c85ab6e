//! In code mode too, the tools of a request are what a plugin made of them.

use super::*;
use crate::{
    hosting::turns::{hears, taking},
    stage::python,
};

#[tokio::test]
async fn code_is_not_told_of_what_a_plugin_left_out_and_cannot_call_it() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|_, of| {
        let request = &of["request"];
        let tools = request["tools"].as_array().unwrap().iter();
        let left = tools.filter(|name| *name != "act");
        let system = request["system_prompt"].as_str().unwrap();
        json!({
            "tools": left.map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "system_prompt": format!("{system}\nRhyme."),
        })
    });
    let model = Scripted::default().says(&python("act x")).says("I cannot.");
    let run = json!({"hooks": ["request"]});
    let (stage, _) = taking(&home, model, plugin, run).await;
    hears(&stage, "hello").await;
    let requests = stage.model.requests();
    let ModelMessage::System { text } = &requests[0].messages[0] else {
        panic!("{:?}", requests[0]);
    };
    assert!(
        text.contains("def look(") && !text.contains("def act("),
        "{text}"
    );
    assert!(text.ends_with("\nRhyme."), "{text}");
    assert_eq!(requests.len(), 2, "it was told that there is no such thing");
    assert_eq!(stage.ran.counts().1, 0);
}
