//! Methods: which there are, and how each is called.

use callgate_contract::{Effect, Exposure, JournalId, Kind, MethodInfo, SessionKey, Surface};
use callgate_gate::signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{List, MethodCallers, MethodStatistics, Page};
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// An operator sees what any caller may use, another key what remote callers may.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListMethods {
    /// Words of the name, title or description.
    pub query: Option<String>,
    /// As `builtin` or `plugin:ID`.
    pub origin: Option<String>,
    pub kind: Option<Kind>,
    /// As callers of this session see them. For operators.
    pub session: Option<SessionKey>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListMethods {
    type Response = List<MethodView>;
    const NAME: &'static str = "methods.list";
    const CAPABILITY: Capability = Capability::Methods;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.wait_for_methods(requester, None).await?;
        let mut methods = visible(service, requester, self.session)?;
        let words = self.query.unwrap_or_default().to_lowercase();
        methods.retain(|method| {
            let text = format!("{} {} {}", method.name, method.title, method.description);
            let text = text.to_lowercase();
            let origin = self.origin.as_ref();
            words.split_whitespace().all(|word| text.contains(word))
                && self.kind.is_none_or(|kind| kind == method.kind)
                && origin.is_none_or(|origin| *origin == method.origin)
        });
        self.page.of(methods, MethodView::full_name)
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetMethod {
    /// Its name, or its origin and name.
    pub name: String,
}

impl Operation for GetMethod {
    type Response = MethodDetails;
    const NAME: &'static str = "methods.get";
    const CAPABILITY: Capability = Capability::Methods;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service
            .wait_for_methods(requester, Some(&self.name))
            .await?;
        if requester.capabilities().holds(Capability::Operator)
            && let Some(method) = service.gate().find(&self.name)
        {
            let info = method.info();
            return Ok(MethodDetails {
                method: info.into(),
                statistics: Some(service.method_statistics(info).await?),
                callers: Some(service.method_callers(info).await?),
            });
        }
        let found = visible(service, requester, None)?
            .into_iter()
            .find(|method| method.name == self.name || method.full_name() == self.name);
        let missing =
            || ServiceError::not_found(format!("no method '{}'", self.name), Listing::Methods);
        Ok(MethodDetails {
            method: found.ok_or_else(missing)?,
            statistics: None,
            callers: None,
        })
    }
}

/// With what only operators see.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodDetails {
    #[serde(flatten)]
    pub method: MethodView,
    pub statistics: Option<MethodStatistics>,
    pub callers: Option<MethodCallers>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MethodView {
    pub name: String,
    pub title: String,
    pub description: String,
    pub doc: String,
    /// As Python shows it.
    pub signature: String,
    /// JSON Schema of an object.
    pub parameters: Json,
    pub kind: Kind,
    /// `builtin`, `plugin:ID`, `mcp:SERVER`, `client:ID` or `agent:PERSONA`.
    pub origin: String,
    pub exposure: Exposure,
    pub effect: Effect,
    pub deadline_seconds: f64,
}

impl MethodView {
    /// Of several methods of one name each has its own.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.origin, self.name)
    }
}

impl From<&MethodInfo> for MethodView {
    fn from(info: &MethodInfo) -> Self {
        MethodView {
            name: info.name.clone(),
            title: info.title.clone(),
            description: info.description.clone(),
            doc: info.doc.clone(),
            signature: signature(info),
            parameters: info.parameters.clone(),
            kind: info.kind,
            origin: info.origin.to_string(),
            exposure: info.exposure,
            effect: info.effect,
            deadline_seconds: info.deadline.as_secs_f64(),
        }
    }
}

/// What the host offers to plugin code alone would bury the rest; by name each is still shown.
fn visible(
    service: &Service,
    requester: &Requester,
    session: Option<SessionKey>,
) -> Result<Vec<MethodView>, ServiceError> {
    let surfaces: &[Surface] = if requester.capabilities().holds(Capability::Operator) {
        &[
            Surface::Code,
            Surface::ToolCall,
            Surface::Remote,
            Surface::Plugin,
        ]
    } else {
        &[Surface::Remote]
    };
    if session.is_some() {
        requester.require(Capability::Operator)?;
    }
    let session = match session {
        Some(session) => session,
        None => requester.session()?,
    };
    let mut views: Vec<MethodView> = Vec::new();
    for surface in surfaces {
        let acting = (requester.into(), requester.role());
        let caller = service.caller(session.clone(), acting, *surface, JournalId::fresh());
        let methods = service.gate().catalogue(&caller);
        let open = methods.iter().map(|method| method.info());
        let open = open.filter(|info| info.exposure != Exposure::PLUGINS);
        views.extend(open.map(MethodView::from));
    }
    views.sort_by(|one, other| one.name.cmp(&other.name));
    views.dedup_by(|one, other| one.name == other.name && one.origin == other.origin);
    Ok(views)
}
