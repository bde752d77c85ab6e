//! `/persona` and `/model`: who answers in a chat, and by which model.

use callgate_contract::SessionKey;

use crate::{Agent, TurnError, language::Language, texts};

impl Agent {
    pub(super) async fn choose_persona(
        &self,
        session: &SessionKey,
        name: Option<String>,
        language: Language,
    ) -> Result<String, TurnError> {
        let personas = self.store().personas();
        let Some(name) = name else {
            let now = personas.default(Some(session)).await?.name;
            let all: Vec<String> = personas.list().await?.into_iter().map(|p| p.name).collect();
            return Ok(texts::persona_is(language, &now, &all));
        };
        if name != "default" {
            personas.get(&name).await?;
        }
        let chosen = (name != "default").then(|| name.clone());
        let settings = self.store().settings();
        settings
            .change_session(session, |settings| settings.persona = chosen)
            .await?;
        Ok(texts::persona_chosen(language, &name))
    }

    pub(super) async fn choose_model(
        &self,
        session: &SessionKey,
        id: Option<String>,
        language: Language,
    ) -> Result<String, TurnError> {
        let settings = self.store().settings();
        let ids = || {
            let all = self.models().all().iter().map(|model| model.id.as_str());
            all.collect::<Vec<_>>().join(", ")
        };
        let Some(id) = id else {
            let choice = settings.session(session).await?.value.model;
            let now = &self.models().choose(choice.as_deref()).id;
            return Ok(texts::model_is(language, now, &ids()));
        };
        if self.models().get(&id).is_none() {
            return Ok(texts::no_model(language, &id, &ids()));
        }
        let chosen = Some(id.clone());
        settings
            .change_session(session, |settings| settings.model = chosen)
            .await?;
        Ok(texts::model_chosen(language, &id))
    }
}
