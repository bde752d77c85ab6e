//! The choice table: which kind gives its value back, leaves a system row, starts a round, shows
//! parts.

use callgate_contract::{Kind, MethodError, Mode, ModelMessage, Part};
use callgate_gate::{Call, Function, method};
use serde_json::json;

use super::{
    Nothing,
    troupe::{Troupe, calling},
};
use crate::stage::{Scripted, python};

fn answering(kind: Kind) -> Function {
    let answer = |_: Call, _: Nothing| async { Ok::<_, MethodError>("the result") };
    method("choose", kind, answer)
}

#[tokio::test]
async fn each_kind_does_what_the_table_says() {
    for (kind, value_back, system_row, new_round, parts) in [
        (Kind::Tool, true, false, false, false),
        (Kind::Agent, false, true, true, false),
        (Kind::Behavior, true, true, false, false),
        (Kind::MultimodalAgent, false, false, true, true),
    ] {
        let model = Scripted::default()
            .says(&python("print(choose())"))
            .says("Seen.");
        let troupe = Troupe::new(model, vec![answering(kind)]).await;
        let report = troupe.hears(Mode::Code, "Choose.").await;
        assert_eq!(troupe.printed() == "the result\n", value_back, "{kind:?}");
        assert_eq!(
            troupe.system_rows().await == ["the result"],
            system_row,
            "{kind:?}"
        );
        assert_eq!(report.rounds == 2, new_round, "{kind:?}");
        if new_round {
            assert_eq!(troupe.shown(2), [Part::text("the result")], "{kind:?}");
        }
        let runs = troupe.store().turns().runs(report.turn).await.unwrap();
        let ended = &runs[0].finish.as_ref().unwrap().report["observation"];
        assert_eq!(ended.is_array(), parts, "{kind:?}: {ended}");
    }
}

/// In tool mode every result is the tool's result; only the rows differ.
#[tokio::test]
async fn in_tool_mode_each_result_is_the_tools_result() {
    for (kind, system_row) in [
        (Kind::Tool, false),
        (Kind::Agent, true),
        (Kind::Behavior, true),
        (Kind::MultimodalAgent, false),
    ] {
        let model = Scripted::default()
            .replies(calling("choose", json!({})))
            .says("Seen.");
        let troupe = Troupe::new(model, vec![answering(kind)]).await;
        let report = troupe.hears(Mode::Tools, "Choose.").await;
        assert_eq!(report.rounds, 2);
        let result = ModelMessage::tool("call_choose", "the result");
        assert_eq!(troupe.told(2), result, "{kind:?}");
        assert_eq!(
            troupe.system_rows().await == ["the result"],
            system_row,
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn an_error_in_words_is_an_ordinary_result() {
    let sorry = |_: Call, _: Nothing| async { Ok::<_, MethodError>("error: no paper") };
    let fail = |_: Call, _: Nothing| async { Err::<String, _>(MethodError::new("no ink")) };
    let methods = vec![
        method("friendly", Kind::Tool, sorry),
        method("printer", Kind::Tool, fail),
    ];
    let code = "print(friendly())\n\
                try:\n    printer()\nexcept MethodError as error:\n    print('caught', error)\n\
                printer()\nprint('never')";
    let model = Scripted::default()
        .says(&python(code))
        .says("It needs ink.");
    let troupe = Troupe::new(model, methods).await;
    let report = troupe.hears(Mode::Code, "Print it.").await;
    assert_eq!(troupe.printed(), "error: no paper\ncaught no ink\n");
    assert_eq!(report.rounds, 2);
    let told = super::words(&troupe.shown(2));
    assert!(told.contains("no ink"), "{told}");
}
