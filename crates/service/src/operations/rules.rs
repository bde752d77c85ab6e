//! Rules: who may call what, as it is decided now, and changing it.

use callgate_contract::Rule;
use callgate_store::StoredRule;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{List, Page};
use crate::{Capability, News, Operation, Requester, Service, ServiceError};

/// All rules, in the order in which they are looked at: what operators made, the newest first; those of
/// the configuration; then the standing answers, which settle what is asked.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListRules {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListRules {
    type Response = List<PolicyRuleView>;
    const NAME: &'static str = "rules.list";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let stored = service.store().rules().list().await?;
        let newest = stored.into_iter().rev().map(PolicyRuleView::from);
        let (answers, mut views): (Vec<_>, Vec<_>) =
            newest.partition(|view| view.source == RuleSource::Answer);
        let configured = service.config().rules().into_iter();
        views.extend(configured.map(PolicyRuleView::configured));
        views.extend(answers);
        self.page.of(views, |view| match view.id {
            Some(id) => id.to_string(),
            None => serde_json::to_string(&view.rule).unwrap_or_default(),
        })
    }
}

/// Holds from the next call on, before all other rules. One about the same takes the place of the other.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRule {
    pub rule: Rule,
}

impl Operation for AddRule {
    type Response = PolicyRuleView;
    const NAME: &'static str = "rules.add";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if let Err(error) = self.rule.check() {
            let hint = "docs/rules.md shows how rules are written";
            return Err(ServiceError::invalid(error.to_string(), hint));
        }
        let by = requester.label();
        let made = service.gate().add_rule(&self.rule, &by).await?;
        service.live().announce(&News::Rules {});
        Ok(made.into())
    }
}

/// A rule or a standing answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveRule {
    pub id: i64,
}

impl Operation for RemoveRule {
    type Response = PolicyRuleView;
    const NAME: &'static str = "rules.remove";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let removed = service.gate().remove_rule(self.id).await?;
        service.live().announce(&News::Rules {});
        Ok(removed.into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    Operator,
    Configuration,
    /// Of an approval that was answered for always.
    Answer,
}

/// Who may call what, and by whose word.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PolicyRuleView {
    /// None of what the configuration says.
    pub id: Option<i64>,
    pub source: RuleSource,
    pub rule: Rule,
    /// Of an answer for these arguments alone.
    pub arguments: Option<Json>,
    #[schemars(with = "Option<String>")]
    pub made_at: Option<Timestamp>,
    pub made_by: Option<String>,
}

impl PolicyRuleView {
    fn configured(rule: Rule) -> Self {
        PolicyRuleView {
            id: None,
            source: RuleSource::Configuration,
            rule,
            arguments: None,
            made_at: None,
            made_by: None,
        }
    }
}

impl From<StoredRule> for PolicyRuleView {
    fn from(stored: StoredRule) -> Self {
        PolicyRuleView {
            id: Some(stored.id),
            source: match stored.answer {
                Some(_) => RuleSource::Answer,
                None => RuleSource::Operator,
            },
            rule: stored.rule,
            arguments: stored.answer.and_then(|answer| answer.arguments),
            made_at: Some(stored.made_at),
            made_by: stored.made_by,
        }
    }
}
