//! The newest lines of the log; new ones are heard as events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, Level, LogLine, Operation, Requester, Service, ServiceError};

/// The newest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListLogs {
    /// This one and worse.
    pub level: Option<Level>,
    pub turn: Option<String>,
    pub plugin: Option<String>,
    pub session: Option<String>,
    /// Words of the message.
    pub query: Option<String>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListLogs {
    type Response = List<LogLine>;
    const NAME: &'static str = "logs.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let before = self.page.after()?;
        let limit = self.page.limit() as usize;
        let logs = service.logs();
        let mut items = logs.read(before, limit + 1, |line| self.matches(line));
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next = last.map(|line| line.number.to_string());
        Ok(List { items, next })
    }
}

impl ListLogs {
    fn matches(&self, line: &LogLine) -> bool {
        let is =
            |wanted: &Option<String>, actual: &Option<String>| wanted.is_none() || wanted == actual;
        let words = self.query.as_deref().unwrap_or_default().to_lowercase();
        let text = line.message.to_lowercase();
        self.level.is_none_or(|level| line.level <= level)
            && is(&self.turn, &line.turn)
            && is(&self.plugin, &line.plugin)
            && is(&self.session, &line.session)
            && words.split_whitespace().all(|word| text.contains(word))
    }
}
