//! `callgate persona`: who answers.

use std::{io::Read, path::Path, process::ExitCode};

use callgate_agent::cards::{self, MAX_CARD};
use serde_json::{Value as Json, json};

use callgate_service::request::{self, Methods, Request};

use crate::{
    args::{Common, ImportPersona, Persona, PersonaCommand, SetPersona},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, persona: Persona) -> Result<ExitCode, Failure> {
    let request = match &persona.command {
        PersonaCommand::Import(import) => return take(common, import).await,
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

async fn take(common: &Common, import: &ImportPersona) -> Result<ExitCode, Failure> {
    let cards = cards::read(&contents(&import.file)?, import.greeting)
        .map_err(|error| Failure::new(error.to_string(), error.hint()))?;
    if import.name.is_some() && cards.len() > 1 {
        return Err(Failure::new(
            format!(
                "the file holds {} personas, and --name names one",
                cards.len()
            ),
            "leave out --name",
        ));
    }
    let mut taken = Vec::new();
    for card in cards {
        let notes = card.notes.clone();
        let request = Request::TakePersona {
            persona: request::SetPersona::from_card(card.persona, import.name.clone()),
            replace: import.replace,
        };
        let mut persona = super::ask(common, Purpose::Look, request).await?;
        persona["source"] = json!(card.source);
        persona["notes"] = json!(notes);
        taken.push(persona);
    }
    match (common.json, taken.as_slice()) {
        (true, [persona]) => show::json(persona),
        (true, personas) => show::json(&json!(personas)),
        (false, personas) => {
            for persona in personas {
                show_one(persona);
                for note in persona["notes"].as_array().into_iter().flatten() {
                    show::note(note.as_str().unwrap_or_default());
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        let hint = "give a character card (PNG or JSON) or the JSON of an AstrBot persona";
        Failure::new(format!("cannot read {}: {error}", file.display()), hint)
    };
    let opened = std::fs::File::open(file).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = opened.take(MAX_CARD + 1).read_to_end(&mut bytes);
    if read.map_err(failed)? as u64 <= MAX_CARD {
        Ok(bytes)
    } else {
        Err(Failure::new(
            format!("{} is larger than 32 MB", file.display()),
            "a character card is a picture of ordinary size",
        ))
    }
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
