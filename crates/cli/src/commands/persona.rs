//! `callgate persona`: who answers.

use std::{io::Read, path::Path, process::ExitCode};

use callgate_agent::cards::MAX_CARD;
use callgate_service::operations::{
    self, DeletePersona, GetPersona, ImportPersonas, ListPersonas, PersonaView,
};
use serde_json::json;

use crate::{
    args::{Common, ImportPersona, Persona, PersonaCommand, SetPersona},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, persona: Persona) -> Result<ExitCode, Failure> {
    match persona.command {
        PersonaCommand::List => {
            let personas = super::call(common, Purpose::Look, ListPersonas {}).await?;
            common.show(&personas.items, |personas| show_list(personas));
        }
        PersonaCommand::Show { name } => {
            let persona = super::call(common, Purpose::Look, GetPersona { name }).await?;
            common.show(&persona, show_one);
        }
        PersonaCommand::Set(set) => {
            let persona = super::call(common, Purpose::Look, read(set)?).await?;
            common.show(&persona, show_one);
        }
        PersonaCommand::Import(import) => return take(common, &import).await,
        PersonaCommand::Delete { name } => {
            let gone = super::call(common, Purpose::Look, DeletePersona { name }).await?;
            common.show(&gone, |gone| {
                show::note(&format!("deleted: {}", gone.deleted));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn take(common: &Common, import: &ImportPersona) -> Result<ExitCode, Failure> {
    let file = contents(&import.file)?;
    let name = import.name.as_deref();
    let import = ImportPersonas::read(&file, name, import.greeting, import.replace)?;
    let taken = super::call(common, Purpose::Look, import).await?.items;
    match taken.as_slice() {
        [persona] if common.json => common.show(persona, |_| {}),
        personas => common.show(personas, |personas| {
            for taken in personas {
                show_one(&taken.persona);
                for note in &taken.notes {
                    show::note(note);
                }
            }
        }),
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

fn read(set: SetPersona) -> Result<operations::SetPersona, Failure> {
    let prompt = match set.prompt {
        Some(text) => Some(match text.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file).map_err(|error| {
                let hint = "give --prompt @FILE a file that exists, or the text itself";
                Failure::new(format!("cannot read {file}: {error}"), hint)
            })?,
            None => text,
        }),
        None => None,
    };
    let names = |names: &str| {
        let names = names.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    };
    Ok(operations::SetPersona {
        name: set.name,
        system_prompt: prompt,
        begin_dialogs: (!set.dialog.is_empty()).then_some(set.dialog),
        methods: set.methods.map(|text| match text.as_str() {
            "all" => None,
            "none" => Some(Vec::new()),
            text => Some(names(text)),
        }),
        mode: set.mode.map(Into::into),
        model: set.model.map(|id| Some(id).filter(|id| !id.is_empty())),
        default: None,
    })
}

fn show_list(personas: &[PersonaView]) {
    let rows: Vec<Vec<String>> = personas
        .iter()
        .map(|persona| {
            let prompt = show::shortened(&persona.system_prompt, 48);
            vec![
                persona.name.clone(),
                mode(persona),
                methods(persona),
                prompt,
            ]
        })
        .collect();
    show::data(&show::table(&rows));
}

fn mode(persona: &PersonaView) -> String {
    json!(persona.mode).as_str().unwrap_or_default().to_owned()
}

fn methods(persona: &PersonaView) -> String {
    match persona.methods.as_deref() {
        None => "all methods".to_owned(),
        Some([]) => "no methods".to_owned(),
        Some(names) => format!("{} methods", names.len()),
    }
}

fn show_one(persona: &PersonaView) {
    show::line(&paint(Colour::Bold, &persona.name));
    let model = persona.model.as_deref().unwrap_or("the session's model");
    let held = match &persona.methods {
        Some(names) if !names.is_empty() => names.join(", "),
        _ => methods(persona),
    };
    let about = format!("mode {}, {model}, {held}", mode(persona));
    show::line(&paint(Colour::Dim, &about));
    show::line(&format!("\n{}", persona.system_prompt.trim_end()));
    for (place, line) in persona.begin_dialogs.iter().enumerate() {
        let who = ["user", "assistant"][place % 2];
        show::line(&format!("{who}: {line}"));
    }
}
