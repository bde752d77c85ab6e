//! Agents as methods: a persona that other agents can ask. It works with the rights and the budget
//! of whoever asked, and never deeper than the operator allows.
//!
//! A persona is `ask_NAME` of origin `agent:NAME`: a turn of its own below the caller's, with the caller's
//! grant narrowed to what the persona holds. Clones of a budget share one account.

use std::sync::Arc;

use callgate_contract::{
    Allowed, Effect, Grant, Kind, Method, MethodError, Origin, Part, TurnStop,
};
use callgate_gate::{Call, InvalidMethod, method};
use callgate_store::Persona;

use crate::{
    Agent, Parent, TurnAsk, TurnError, Watch,
    nested::{cancel_below, to_the_end},
    turn::{SessionContext, Speakers, TurnOptions},
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Ask {
    /// What the agent is to find out or do, with everything it needs to know.
    query: String,
}

impl Agent {
    /// Makes each stored persona callable, as `ask_NAME`.
    pub async fn register_personas(&self) -> Result<(), TurnError> {
        for persona in self.store().personas().list().await? {
            if let Err(error) = self.register_persona(&persona) {
                tracing::warn!(persona = persona.name, %error, "could not register a persona as a method");
            }
        }
        Ok(())
    }

    pub fn register_persona(&self, persona: &Persona) -> Result<(), InvalidMethod> {
        let (agent, name) = (self.downgrade(), persona.name.clone());
        let handler = move |call: Call, ask: Ask| {
            let (agent, name) = (agent.upgrade(), name.clone());
            async move {
                let agent = agent.ok_or(MethodError::new("the agent is gone"))?;
                let answer = agent.ask_persona(&name, call, ask.query).await;
                answer.map_err(|error| MethodError::new(error.to_string()))?
            }
        };
        let about: String = persona.system_prompt.chars().take(200).collect();
        let made = method(&method_name(&persona.name), Kind::Tool, handler)
            .title(&persona.name)
            .doc(&format!(
                "Ask the agent '{}', who works on its own and answers in words. {about}",
                persona.name
            ))
            .returns("str", "The agent's answer.")
            .effect(Effect::Effectful)
            .deadline(std::time::Duration::from_secs(600))
            .origin(Origin::Agent(persona.name.clone()));
        self.gate().register(Arc::new(made) as Arc<dyn Method>)?;
        Ok(())
    }

    async fn ask_persona(
        &self,
        name: &str,
        call: Call,
        query: String,
    ) -> Result<Result<String, MethodError>, TurnError> {
        let origin = Origin::Agent(name.to_owned()).to_string();
        let caller = call.caller.within(origin, Some(&method_name(name)));
        if caller.depth >= self.settings().depth {
            let depth = self.settings().depth;
            return Ok(Err(MethodError::new(format!(
                "agents may not be nested deeper than {depth}: do it yourself"
            ))));
        }
        let persona = self.store().personas().get(name).await?;
        let grant = Grant {
            methods: both(&caller.grant.methods, persona.methods.as_deref()),
            ..Grant::clone(&caller.grant)
        };
        let cancel = cancel_below(&caller);
        let parent = Parent::of(&caller, Arc::new(grant));
        let model = persona.model.clone().unwrap_or_default();
        let ask = TurnAsk {
            session: caller.session,
            principal: caller.principal,
            role: caller.role,
            speakers: Speakers::default(),
            parts: vec![Part::text(query)],
            rows: Vec::new(),
            conversation: None,
            history: None,
            mode: persona.mode,
            model: self.models().choose(Some(&model)).id.clone(),
            persona: Some(persona),
            parent: Some(parent),
            options: TurnOptions::default(),
            watch: Watch::default(),
            cancel: cancel.clone(),
            known: SessionContext::default(),
        };
        let agent = self.clone();
        // Boxed: a turn may call an agent, whose turn may call an agent.
        let answered = Box::pin(async move { agent.turn(ask).await });
        let report = match to_the_end(cancel, answered).await {
            Ok(report) => report,
            Err(error) => return Ok(Err(error)),
        };
        Ok(match report.text.trim() {
            "" if report.stop == Some(TurnStop::Cancelled) => {
                Err(MethodError::new(format!("the agent '{name}' was stopped")))
            }
            "" => Err(MethodError::new(format!(
                "the agent '{name}' gave no answer"
            ))),
            text => Ok(text.to_owned()),
        })
    }
}

/// What both the caller and the persona hold.
pub(crate) fn both(caller: &Allowed, persona: Option<&[String]>) -> Allowed {
    match (caller, persona) {
        (allowed, None) => allowed.clone(),
        (Allowed::All, Some(names)) => Allowed::Only(names.to_vec()),
        (Allowed::Only(held), Some(names)) => {
            let shared = names.iter().filter(|name| held.contains(name));
            Allowed::Only(shared.cloned().collect())
        }
    }
}

/// `ask_` and the persona's name, as far as a Python identifier can hold it.
fn method_name(persona: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
    format!("ask_{}", persona.chars().map(letter).collect::<String>())
}
