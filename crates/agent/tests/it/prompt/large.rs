//! A catalogue that does not fit: an index of constant size, and two methods to search it.

use callgate_agent::{
    prompt::{LARGE_METHODS, declared},
    search::methods,
    tokens,
};
use callgate_contract::{MethodInfo, Mode, Origin};
use callgate_gate::{Gate, GatePolicy};
use callgate_testkit::Home;

use super::{few, prompt};
use crate::search::catalogue;

/// `methods`, and the two that search.
async fn with_search(methods: Vec<MethodInfo>) -> Vec<MethodInfo> {
    let home = Home::sqlite();
    let gate = Gate::new(home.open().await, GatePolicy::default());
    let search = methods::all(&gate, &Default::default());
    let search = search.iter().map(|method| method.info().clone());
    methods.into_iter().chain(search).collect()
}

/// `count` methods of `origins` servers.
fn many(count: usize, origins: usize) -> Vec<MethodInfo> {
    let made = (0..count).map(|number| {
        let mut info = few().remove(1);
        info.name = format!("perform_operation_number_{number}");
        info.origin = Origin::Mcp(format!("server-{}", number % origins));
        info
    });
    few().into_iter().chain(made).collect()
}

#[tokio::test]
async fn code_mode() {
    insta::assert_snapshot!(prompt(Mode::Code, &with_search(catalogue()).await));
}

#[tokio::test]
async fn tool_mode() {
    insta::assert_snapshot!(prompt(Mode::Tools, &with_search(catalogue()).await));
}

#[tokio::test]
async fn five_hundred_methods_stay_under_two_thousand_tokens() {
    for (count, origins) in [(500, 1), (500, 12), (500, 500), (5_000, 40), (5_000, 5_000)] {
        let methods = with_search(many(count, origins)).await;
        for mode in [Mode::Code, Mode::Tools] {
            let text = prompt(mode, &methods);
            let tokens = tokens::estimate(&text);
            assert!(tokens < 2_000, "{count} of {origins}: {tokens}\n{text}");
            assert!(text.contains(&format!("There are {}", count + few().len())));
            assert!(text.contains("search_methods") && text.contains("describe_method"));
            // A small origin is not hidden by a huge one.
            assert!(origins > 100 || text.contains("get_forecast"), "{text}");
        }
    }
}

#[tokio::test]
async fn the_index_begins_above_the_limit() {
    let few_enough = with_search(many(LARGE_METHODS - few().len(), 3)).await;
    assert!(prompt(Mode::Code, &few_enough).contains("def perform_operation_number_0("));
    assert!(!prompt(Mode::Code, &few_enough).contains("search_methods"));
    let too_many = with_search(many(LARGE_METHODS - few().len() + 1, 3)).await;
    assert!(!prompt(Mode::Code, &too_many).contains("def perform_operation_number_0("));
    let mut too_long = few();
    for info in &mut too_long {
        info.doc = "word ".repeat(10_000);
    }
    let length = |methods: &[MethodInfo]| tokens::estimate(&prompt(Mode::Code, methods));
    assert!(length(&with_search(vec![too_long; 3].concat()).await) < 2_000);
}

#[tokio::test]
async fn of_many_tools_those_opened_are_declared() {
    let methods = with_search(many(100, 3)).await;
    let methods: Vec<&MethodInfo> = methods.iter().collect();
    let names = |opened: &[&str]| -> Vec<String> {
        let declared = declared(&methods, opened).into_iter();
        declared.map(|info| info.name.clone()).collect()
    };
    assert_eq!(names(&[]), ["search_methods", "describe_method"]);
    assert_eq!(
        names(&["get_forecast", "not_granted"]),
        ["get_forecast", "search_methods", "describe_method"]
    );
    let unsearchable: Vec<&MethodInfo> = methods[..methods.len() - 2].to_vec();
    assert_eq!(declared(&unsearchable, &[]).len(), unsearchable.len());
}
