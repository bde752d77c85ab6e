//! What a model reads: both modes, small and large catalogues, the chat and the moment.

mod chat;
mod large;
mod small;

use callgate_agent::prompt::{PromptContext, system_prompt};
use callgate_contract::{Kind, MethodInfo, Mode};
use callgate_gate::method;

use callgate_contract::{Effect, Method, MethodError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    /// What people will read.
    #[allow(dead_code)]
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    /// Its name, in any language.
    #[allow(dead_code)]
    city: String,
    /// How many days ahead.
    #[allow(dead_code)]
    #[serde(default)]
    days: u8,
}

async fn nothing<A>(_call: callgate_gate::Call, _arguments: A) -> Result<String, MethodError> {
    Ok(String::new())
}

/// One method of every kind and of several origins.
fn few() -> Vec<MethodInfo> {
    let weather = callgate_contract::Origin::Plugin("weather".into());
    let methods = [
        method("look_outside", Kind::MultimodalAgent, nothing::<City>)
            .doc("A picture of a city as it looks now.")
            .origin(weather.clone()),
        method("get_forecast", Kind::Tool, nothing::<City>)
            .doc("The weather of the coming days.")
            .returns("list[dict]", "One entry a day.")
            .example("for day in get_forecast(\"Rome\", 3):\n    print(day[\"high\"])")
            .origin(weather)
            .effect(Effect::Pure),
        method("research", Kind::Agent, nothing::<Text>).doc("Ask a specialist."),
        method("remember", Kind::Behavior, nothing::<Text>)
            .doc("Keep a note.\n\ndef send_message(): a line that looks like a definition"),
        method("send_message", Kind::Tool, nothing::<Text>).doc("Say something in this chat."),
    ];
    methods.iter().map(|method| method.info().clone()).collect()
}

fn prompt(mode: Mode, methods: &[MethodInfo]) -> String {
    let methods: Vec<&MethodInfo> = methods.iter().collect();
    system_prompt(&PromptContext {
        mode,
        persona: "You are Ada, who keeps things short.\n",
        methods: &methods,
        packages: &["numpy", "pillow"],
    })
}
