//! `{{user}}` in a persona's words: whoever talks to it, by the name the chat knows.

use callgate_store::Persona;

use super::Turn;
use crate::{
    TurnError,
    cards::{USER, address},
    prompt::one_line,
};

/// Characters of a name, which its bearer chooses.
const NAME: usize = 40;

impl Turn {
    pub(crate) async fn address_user(&mut self) -> Result<(), TurnError> {
        if !self.persona.as_ref().is_some_and(speaks_of_user) {
            return Ok(());
        }
        let (session, user) = (&self.facts.session, &self.facts.user);
        let known = self.agent.store().log().name_of(session, user).await?;
        let known = known.filter(|name| !name.trim().is_empty());
        let name = one_line(known.as_deref().unwrap_or(user), NAME);
        if let Some(persona) = &mut self.persona {
            persona.system_prompt = address(&persona.system_prompt, &name);
            for line in persona.begin_dialogs.iter_mut().flatten() {
                *line = address(line, &name);
            }
        }
        Ok(())
    }
}

fn speaks_of_user(persona: &Persona) -> bool {
    let mut lines = persona.begin_dialogs.iter().flatten();
    persona.system_prompt.contains(USER) || lines.any(|line| line.contains(USER))
}
