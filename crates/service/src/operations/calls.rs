//! One method, called directly.

use callgate_contract::{Kind, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Capability, Operation, Requester, Service, ServiceError};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallMethod {
    pub name: String,
    /// An object by name or an array by position.
    #[serde(default)]
    pub arguments: Json,
    /// On behalf of this session; that of whoever asks where none is named. For operators.
    pub session: Option<SessionKey>,
    /// On behalf of this user; whoever asks where nobody is named. For operators.
    pub user: Option<String>,
}

impl Operation for CallMethod {
    type Response = CallResult;
    const NAME: &'static str = "methods.call";
    const CAPABILITY: Capability = Capability::Methods;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if self.session.is_some() || self.user.is_some() {
            requester.require(Capability::Operator)?;
        }
        service.call_method(requester, self).await
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// What the method gave: any JSON.
    pub value: Json,
    pub kind: Kind,
}
