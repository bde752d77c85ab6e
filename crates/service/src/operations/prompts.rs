//! What a model would be asked.

use callgate_agent::{Override, Preview};
use callgate_contract::{Mode, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Operation, Requester, Service, ServiceError};

/// For a message that came now.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewPrompt {
    pub session: SessionKey,
    /// Who would have sent it; whoever asks where nobody is named.
    pub user: Option<String>,
    pub mode: Option<Mode>,
}

impl Operation for PreviewPrompt {
    type Response = Preview;
    const NAME: &'static str = "sessions.prompt";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let own = requester.user();
        let acting = requester.acting(&self.session, self.user.as_deref());
        let user = self.user.unwrap_or_else(|| own.clone());
        if user != own {
            requester.require(Capability::Operator)?;
        }
        let overrule = Override {
            mode: self.mode,
            // Whoever is spoken for has the rights of their own.
            role: (user == own).then(|| requester.role()),
            ..Override::default()
        };
        let agent = service.agent_for(requester).await?;
        Ok(agent.preview(&self.session, acting, overrule).await?)
    }
}
