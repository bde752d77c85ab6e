//! Limits: how much people may ask for, as it holds now, and changing it.

use callgate_contract::Limit;
use callgate_store::StoredLimit;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, News, Operation, Requester, Service, ServiceError};

/// All limits that hold: those that were set, the newest first, then those of the configuration.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListLimits {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListLimits {
    type Response = List<LimitView>;
    const NAME: &'static str = "limits.list";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let (set, now) = (service.store().limits().list().await?, Timestamp::now());
        let newest = set.iter().rev().cloned().map(LimitView::from);
        let configured = service.config().limit.iter().cloned();
        let mut views: Vec<LimitView> = newest
            .chain(configured.map(LimitView::configured))
            .collect();
        views.retain(|view| view.limit.holds_at(now));
        self.page.of(views, |view| match view.id {
            Some(id) => id.to_string(),
            None => serde_json::to_string(&view.limit).unwrap_or_default(),
        })
    }
}

/// Holds from the next message on. One that bounds the same of the same takes the place of the other.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddLimit {
    pub limit: Limit,
}

impl Operation for AddLimit {
    type Response = LimitView;
    const NAME: &'static str = "limits.add";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let hint = "docs/limits.md shows how limits are written";
        if let Err(error) = self.limit.check() {
            return Err(ServiceError::invalid(error.to_string(), hint));
        }
        if !self.limit.holds_at(Timestamp::now()) {
            return Err(ServiceError::invalid("this limit has ended already", hint));
        }
        let by = requester.label();
        let made = service.store().limits().add(&self.limit, &by).await?;
        service.live().announce(&News::Rules {});
        Ok(made.into())
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveLimit {
    pub id: i64,
}

impl Operation for RemoveLimit {
    type Response = LimitView;
    const NAME: &'static str = "limits.remove";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let removed = service.store().limits().remove(self.id).await?;
        service.live().announce(&News::Rules {});
        Ok(removed.into())
    }
}

/// How much somebody may ask for, and by whose word.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LimitView {
    /// None of what the configuration says.
    pub id: Option<i64>,
    pub limit: Limit,
    #[schemars(with = "Option<String>")]
    pub made_at: Option<Timestamp>,
    pub made_by: Option<String>,
}

impl LimitView {
    fn configured(limit: Limit) -> Self {
        LimitView {
            id: None,
            limit,
            made_at: None,
            made_by: None,
        }
    }
}

impl From<StoredLimit> for LimitView {
    fn from(stored: StoredLimit) -> Self {
        LimitView {
            id: Some(stored.id),
            limit: stored.limit,
            made_at: Some(stored.made_at),
            made_by: Some(stored.made_by),
        }
    }
}
