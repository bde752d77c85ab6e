//! `search_methods` and `describe_method` through a real gate.

use std::sync::Arc;

use callgate_agent::search::methods;
use callgate_contract::{
    Allowed, Arguments, BoxFuture, Budget, CallContext, Caller, Exposure, Grant, JournalId, Method,
    MethodError, MethodInfo, Reply, Value,
};
use callgate_gate::{Gate, GatePolicy};
use callgate_testkit::Home;

use super::catalogue;
use crate::scene::caller;

/// A description without code.
pub struct Described(pub MethodInfo);

impl Method for Described {
    fn info(&self) -> &MethodInfo {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _context: CallContext<'a>,
        _arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async { Err(MethodError::new("not here")) })
    }
}

async fn gate(home: &Home) -> Gate {
    let gate = Gate::new(home.open().await, GatePolicy::default());
    for mut info in catalogue() {
        if info.name == "read_logs" {
            info.exposure = Exposure {
                code: false,
                ..Exposure::AI
            };
        }
        gate.register(Arc::new(Described(info))).unwrap();
    }
    for method in methods::all(&gate, &Default::default()) {
        gate.register(method).unwrap();
    }
    gate
}

fn only(names: &[&str]) -> Caller {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Caller {
        grant: Arc::new(Grant {
            methods: Allowed::Only(names),
            budget: Budget::new(100, 100),
            ..Grant::everything()
        }),
        ..caller()
    }
}

async fn ask(gate: &Gate, caller: &Caller, method: &str, text: &str) -> Result<String, String> {
    let arguments = Arguments {
        positional: vec![text.into()],
        named: Vec::new(),
    };
    let caller = Caller {
        journal: JournalId::fresh(),
        ..caller.clone()
    };
    let outcome = gate.call(&caller, 1, method, arguments).await;
    let value = outcome.map_err(|error| error.to_string())?.value;
    Ok(value.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_search_shows_how_to_call_what_it_finds() {
    let home = Home::sqlite();
    let gate = gate(&home).await;
    let found = ask(&gate, &caller(), "search_methods", "weather in Rome")
        .await
        .unwrap();
    let first: Vec<&str> = found.lines().take(2).collect();
    assert_eq!(
        first,
        [
            "get_forecast(city: str = ..., days: str = ...) -> str",
            "    Forecast for a city over the coming days: temperature, wind, chance of rain",
        ]
    );
    assert!(!found.contains("search_methods"), "{found}");
    let nothing = ask(&gate, &caller(), "search_methods", "xyzzy")
        .await
        .unwrap();
    assert!(nothing.starts_with("No method fits"), "{nothing}");
}

#[tokio::test]
async fn a_description_is_whole_and_names_the_origin() {
    let home = Home::sqlite();
    let gate = gate(&home).await;
    let whole =
        "From mcp:maps:\ndef geocode(address: str = ...) -> str:\n    Coordinates of an address.";
    for name in ["geocode", "mcp:maps/geocode", "mcp_maps__geocode"] {
        let text = ask(&gate, &caller(), "describe_method", name).await;
        assert_eq!(text.as_deref(), Ok(whole), "{name}");
    }
    let unknown = ask(&gate, &caller(), "describe_method", "find_place")
        .await
        .unwrap_err();
    assert!(unknown.contains("Perhaps: find_places"), "{unknown}");
}

#[tokio::test]
async fn neither_shows_what_the_caller_may_not_use() {
    let home = Home::sqlite();
    let gate = gate(&home).await;
    let caller = only(&["geocode", "search_methods", "describe_method"]);
    let found = ask(
        &gate,
        &caller,
        "search_methods",
        "weather forecast, address",
    )
    .await
    .unwrap();
    assert!(
        found.starts_with("geocode(") && !found.contains("forecast"),
        "{found}"
    );
    for (caller, hidden) in [
        (&caller, "get_forecast"),
        (&crate::scene::caller(), "read_logs"),
    ] {
        let refused = ask(&gate, caller, "describe_method", hidden)
            .await
            .unwrap_err();
        assert!(refused.contains("no method"), "{refused}");
        assert!(!refused.contains("Perhaps: get_forecast"), "{refused}");
        let found = ask(&gate, caller, "search_methods", hidden).await.unwrap();
        assert!(!found.contains(hidden), "{found}");
    }
}
