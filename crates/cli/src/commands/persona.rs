//! `callgate persona`: who answers.

use std::process::ExitCode;

use serde_json::Value as Json;

use crate::{
    args::{Common, Persona, PersonaCommand, SetPersona},
    door::Purpose,
    failure::Failure,
    request::{self, Methods, Request},
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, persona: Persona) -> Result<ExitCode, Failure> {
    let request = match &persona.command {
        PersonaCommand::List => Request::Personas,
        PersonaCommand::Show { name } => Request::Persona { name: name.clone() },
        PersonaCommand::Set(set) => Request::SetPersona(read(set)?),
        PersonaCommand::Delete { name } => Request::DeletePersona { name: name.clone() },
    };
    let answer = super::ask(common, Purpose::Look, request).await?;
    match (common.json, persona.command) {
        (true, _) => show::json(&answer),
        (false, PersonaCommand::List) => show_list(&answer),
        (false, PersonaCommand::Delete { name }) => show::note(&format!("deleted: {name}")),
        (false, _) => show_one(&answer),
    }
    Ok(ExitCode::SUCCESS)
}

fn read(set: &SetPersona) -> Result<request::SetPersona, Failure> {
    let prompt = match set
        .prompt
        .as_deref()
        .map(|text| (text, text.strip_prefix('@')))
    {
        Some((_, Some(file))) => Some(std::fs::read_to_string(file).map_err(|error| {
            let hint = "give --prompt @FILE a file that exists, or the text itself";
            Failure::new(format!("cannot read {file}: {error}"), hint)
        })?),
        Some((text, None)) => Some(text.to_owned()),
        None => None,
    };
    let names = |names: &str| {
        let names = names.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    };
    Ok(request::SetPersona {
        name: set.name.clone(),
        prompt,
        mode: set.mode.map(Into::into),
        model: set.model.clone(),
        methods: set.methods.as_deref().map(|text| match text {
            "all" => Methods::All,
            "none" => Methods::Only(Vec::new()),
            text => Methods::Only(names(text)),
        }),
        dialogs: (!set.dialog.is_empty()).then(|| set.dialog.clone()),
    })
}

fn show_list(personas: &Json) {
    let rows: Vec<Vec<String>> = personas
        .as_array()
        .into_iter()
        .flatten()
        .map(|persona| {
            let text = |field: &str| persona[field].as_str().unwrap_or_default().to_owned();
            let prompt = show::shortened(&text("system_prompt"), 48);
            vec![text("name"), text("mode"), methods(persona), prompt]
        })
        .collect();
    show::data(&show::table(&rows));
}

fn methods(persona: &Json) -> String {
    match persona["methods"].as_array().map(Vec::as_slice) {
        None => "all methods".to_owned(),
        Some([]) => "no methods".to_owned(),
        Some(names) => format!("{} methods", names.len()),
    }
}

fn show_one(persona: &Json) {
    let text = |field: &str| persona[field].as_str().unwrap_or_default();
    show::line(&paint(Colour::Bold, text("name")));
    let model = match text("model") {
        "" => "the session's model",
        model => model,
    };
    let held = match persona["methods"].as_array() {
        Some(names) if !names.is_empty() => {
            let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
            names.join(", ")
        }
        _ => methods(persona),
    };
    let about = format!("mode {}, {model}, {held}", text("mode"));
    show::line(&paint(Colour::Dim, &about));
    show::line(&format!("\n{}", text("system_prompt").trim_end()));
    let lines = persona["begin_dialogs"].as_array().into_iter().flatten();
    for (place, line) in lines.enumerate() {
        let who = ["user", "assistant"][place % 2];
        show::line(&format!("{who}: {}", line.as_str().unwrap_or_default()));
    }
}
