//! Personas: who a model is told to be, which methods it holds, in which mode and by which model
//! it answers. A name is an identity: it never changes. `default` is built in and cannot be made.

use callgate_contract::{Mode, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Conversation, StoreError,
    database::Database,
    row::{self, get},
    settings::{DEFAULT_PERSONA, Settings},
    tx::{Row, parameters},
};

/// Characters.
pub const MAX_PERSONA_NAME: usize = 255;

const BUILT_IN: &str = "default";
const BUILT_IN_PROMPT: &str =
    "You are a helpful assistant. Be friendly, be accurate, and say so when you do not know.";

/// Compat(astrbot): the persona of a conversation that wants none at all.
pub const NO_PERSONA: &str = "[%None]";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Persona {
    /// Ascending; 0 is the built-in one.
    pub id: i64,
    pub name: String,
    pub system_prompt: String,
    /// User and assistant in turn.
    pub begin_dialogs: Option<Vec<String>>,
    /// `None` holds all methods, an empty list none.
    pub methods: Option<Vec<String>>,
    pub mode: Mode,
    pub model: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Persona {
    /// The one that answers where nobody chose another.
    pub fn built_in() -> Persona {
        Persona {
            id: 0,
            name: BUILT_IN.to_owned(),
            system_prompt: BUILT_IN_PROMPT.to_owned(),
            begin_dialogs: None,
            methods: None,
            mode: Mode::default(),
            model: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPersona {
    pub name: String,
    pub system_prompt: String,
    pub begin_dialogs: Option<Vec<String>>,
    pub methods: Option<Vec<String>>,
    pub mode: Mode,
    pub model: Option<String>,
}

impl From<Persona> for NewPersona {
    fn from(persona: Persona) -> Self {
        NewPersona {
            name: persona.name,
            system_prompt: persona.system_prompt,
            begin_dialogs: persona.begin_dialogs,
            methods: persona.methods,
            mode: persona.mode,
            model: persona.model,
        }
    }
}

/// `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonaUpdate {
    pub system_prompt: Option<String>,
    pub begin_dialogs: Option<Vec<String>>,
    /// `Some(None)` holds all methods.
    pub methods: Option<Option<Vec<String>>>,
    pub mode: Option<Mode>,
    /// `Some(None)` leaves the choice of the model to the session.
    pub model: Option<Option<String>>,
}

pub struct Personas<'a>(pub(crate) &'a Database);

impl Personas<'_> {
    pub async fn create(&self, new: &NewPersona) -> Result<Persona, StoreError> {
        check_dialogs(new.begin_dialogs.as_deref())?;
        self.create_unchecked(new).await
    }

    /// Compat(astrbot): upstream stores an odd number of opening lines, and then ignores them.
    pub async fn create_unchecked(&self, new: &NewPersona) -> Result<Persona, StoreError> {
        check_name(&new.name)?;
        let new = new.clone();
        let begin_dialogs = list("begin_dialogs", new.begin_dialogs.as_ref())?;
        let methods = list("methods", new.methods.as_ref())?;
        let mode = row::word(new.mode)?;
        self.0
            .write(move |tx| {
                let row = tx.query_optional(
                    "INSERT INTO persona (name, system_prompt, begin_dialogs, methods, mode, model,
                                          created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                     ON CONFLICT (name) DO NOTHING RETURNING *",
                    parameters![
                        new.name,
                        new.system_prompt.as_bytes(),
                        begin_dialogs,
                        methods,
                        mode,
                        new.model,
                        row::now(),
                    ],
                )?;
                read(&row.ok_or(StoreError::PersonaExists(new.name))?)
            })
            .await
    }

    /// Returns what the persona is now.
    pub async fn update(&self, name: &str, update: &PersonaUpdate) -> Result<Persona, StoreError> {
        check_dialogs(update.begin_dialogs.as_deref())?;
        self.update_unchecked(name, update).await
    }

    /// Compat(astrbot): as [`Personas::create_unchecked`].
    pub async fn update_unchecked(
        &self,
        name: &str,
        update: &PersonaUpdate,
    ) -> Result<Persona, StoreError> {
        let (name, update) = (name.to_owned(), update.clone());
        let begin_dialogs = list("begin_dialogs", update.begin_dialogs.as_ref())?;
        let methods = update.methods.as_ref().and_then(Option::as_ref);
        let methods = list("methods", methods)?;
        let mode = update.mode.map(row::word).transpose()?;
        self.0
            .write(move |tx| {
                let row = tx.query_optional(
                    "UPDATE persona SET
                         system_prompt = COALESCE(?2, system_prompt),
                         begin_dialogs = COALESCE(?3, begin_dialogs),
                         methods = CASE WHEN ?4 = 1 THEN ?5 ELSE methods END,
                         mode = COALESCE(?6, mode),
                         model = CASE WHEN ?7 = 1 THEN ?8 ELSE model END,
                         updated_at = ?9
                     WHERE name = ?1 RETURNING *",
                    parameters![
                        name,
                        update.system_prompt.map(String::into_bytes),
                        begin_dialogs,
                        update.methods.is_some(),
                        methods,
                        mode,
                        update.model.is_some(),
                        update.model.flatten(),
                        row::now(),
                    ],
                )?;
                read(&row.ok_or(StoreError::UnknownPersona(name))?)
            })
            .await
    }

    pub async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.0
            .write(move |tx| {
                let delete = "DELETE FROM persona WHERE name = ?1";
                let deleted = tx.writes_one(delete, parameters![name])?;
                deleted
                    .then_some(())
                    .ok_or(StoreError::UnknownPersona(name))
            })
            .await
    }

    /// Of those that were made; for the built-in one there is [`Persona::built_in`].
    pub async fn get(&self, name: &str) -> Result<Persona, StoreError> {
        let found = self.find(name).await?;
        found.ok_or_else(|| StoreError::UnknownPersona(name.to_owned()))
    }

    /// In order of creation, without the built-in one.
    pub async fn list(&self) -> Result<Vec<Persona>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT * FROM persona ORDER BY id", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// For every session that has not chosen; `None` is the built-in one.
    pub async fn set_default(&self, name: Option<&str>) -> Result<(), StoreError> {
        match name {
            None | Some(BUILT_IN) => Settings(self.0).remove(DEFAULT_PERSONA).await,
            Some(name) => {
                self.get(name).await?;
                Settings(self.0).set(DEFAULT_PERSONA, &name).await
            }
        }
    }

    /// The session's choice, else the operator's, else the built-in one; a choice that no longer
    /// exists counts as none.
    pub async fn default(&self, session: Option<&SessionKey>) -> Result<Persona, StoreError> {
        if let Some(session) = session {
            let chosen = Settings(self.0).session(session).await?.value.persona;
            if let Some(persona) = self.chosen(chosen).await? {
                return Ok(persona);
            }
        }
        let chosen = Settings(self.0).get(DEFAULT_PERSONA).await?;
        let persona = self.chosen(chosen).await?;
        Ok(persona.unwrap_or_else(Persona::built_in))
    }

    /// Who answers in a conversation: the session's choice, else the conversation's own, else the
    /// default. `None` where the conversation wants no persona.
    pub async fn answering(
        &self,
        conversation: &Conversation,
    ) -> Result<Option<Persona>, StoreError> {
        let session = &conversation.session;
        let chosen = Settings(self.0).session(session).await?.value.persona;
        if let Some(persona) = self.chosen(chosen).await? {
            return Ok(Some(persona));
        }
        if conversation.persona.as_deref() == Some(NO_PERSONA) {
            return Ok(None);
        }
        match self.chosen(conversation.persona.clone()).await? {
            Some(persona) => Ok(Some(persona)),
            None => self.default(None).await.map(Some),
        }
    }

    async fn chosen(&self, name: Option<String>) -> Result<Option<Persona>, StoreError> {
        match name.as_deref() {
            None | Some("") => Ok(None),
            Some(BUILT_IN) => Ok(Some(Persona::built_in())),
            Some(name) => self.find(name).await,
        }
    }

    async fn find(&self, name: &str) -> Result<Option<Persona>, StoreError> {
        // PostgreSQL takes no NUL, and no name holds one.
        if name.contains('\0') {
            return Ok(None);
        }
        let name = name.to_owned();
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM persona WHERE name = ?1";
                let row = tx.query_optional(select, parameters![name])?;
                row.as_ref().map(read).transpose()
            })
            .await
    }
}

fn check_name(name: &str) -> Result<(), StoreError> {
    let problem = match name.chars().count() {
        0 => "it is empty",
        length if length > MAX_PERSONA_NAME => "it is longer than 255 characters",
        _ if name.chars().any(char::is_control) => "it holds a control character",
        _ if name == BUILT_IN => "the built-in persona has it",
        _ => return Ok(()),
    };
    Err(StoreError::PersonaName {
        name: name.to_owned(),
        problem,
    })
}

fn check_dialogs(lines: Option<&[String]>) -> Result<(), StoreError> {
    match lines.map_or(0, <[String]>::len) {
        count if count % 2 == 0 => Ok(()),
        count => Err(StoreError::OddDialogs { count }),
    }
}

fn list(what: &'static str, list: Option<&Vec<String>>) -> Result<Option<String>, StoreError> {
    list.map(|list| row::json(what, list)).transpose()
}

fn read_list(what: &'static str, list: Option<String>) -> Result<Option<Vec<String>>, StoreError> {
    list.map(|list| row::read_json(what, &list)).transpose()
}

fn read(row: &Row) -> Result<Persona, StoreError> {
    Ok(Persona {
        id: get(row, "id")?,
        name: get(row, "name")?,
        system_prompt: row::read_text("system prompt", get(row, "system_prompt")?)?,
        begin_dialogs: read_list("begin_dialogs", get(row, "begin_dialogs")?)?,
        methods: read_list("methods", get(row, "methods")?)?,
        mode: row::read_word("mode", get(row, "mode")?)?,
        model: get(row, "model")?,
        created_at: row::read_time(get(row, "created_at")?)?,
        updated_at: row::read_time(get(row, "updated_at")?)?,
    })
}
