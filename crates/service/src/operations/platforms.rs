//! Chat platforms, as the operator connects, tries and leaves them. What changes holds at once.

use std::time::Duration;

use callgate_platforms::PlatformStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deleted, List};
use crate::{
    Capability, Listing, News, Operation, Requester, Service, ServiceError,
    config::{Edit, PlatformEntry, PlatformKind},
};

/// How long a test waits for somebody to connect.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// Those the operator named, each with how it stands.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListPlatforms {}

/// A platform as it is written down, without its secrets, and as it stands.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlatformView {
    #[serde(flatten)]
    pub entry: PlatformEntry,
    pub has_token: bool,
    /// None where no server runs that would connect it.
    pub status: Option<PlatformStatus>,
}

impl Operation for ListPlatforms {
    type Response = List<PlatformView>;
    const NAME: &'static str = "platforms.list";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let entries = service.configured().platform.clone();
        let views = entries.iter().map(|entry| service.platform_view(entry));
        Ok(List::whole(views.collect()))
    }
}

/// Writes a platform down and connects it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddPlatform {
    pub platform: PlatformEntry,
}

impl Operation for AddPlatform {
    type Response = PlatformView;
    const NAME: &'static str = "platforms.add";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let entry = self.platform;
        entry.settings()?;
        if service.configured_platform(&entry.id).is_some() {
            return Err(ServiceError::conflict(
                format!("there is a platform '{}' already", entry.id),
                "choose another id, or remove that one first",
            ));
        }
        let mut edit = Edit::open(service.config_file())?;
        edit.add_platform(&entry)?;
        edit.save()?;
        service.reconnect_platforms().await?;
        Ok(service.platform_view(&entry))
    }
}

/// Leaves a platform. Its chats stay, and what waits for them waits on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemovePlatform {
    pub id: String,
}

impl Operation for RemovePlatform {
    type Response = Deleted;
    const NAME: &'static str = "platforms.remove";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.require_platform(&self.id)?;
        let mut edit = Edit::open(service.config_file())?;
        edit.remove_platform(&self.id)?;
        edit.save()?;
        service.reconnect_platforms().await?;
        service.store().cursors().remove(&self.id).await?;
        Ok(Deleted { deleted: self.id })
    }
}

/// Waits a moment until a bot is connected, and says how it stands.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestPlatform {
    pub id: String,
}

impl Operation for TestPlatform {
    type Response = PlatformView;
    const NAME: &'static str = "platforms.test";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let entry = service.require_platform(&self.id)?;
        let Some(platform) = service.platforms().of(&self.id) else {
            return Err(ServiceError::refused(
                "no server is running that would connect it",
                "start one with `callgate serve`",
            ));
        };
        let before = platform.status().last_error_at;
        let connected = async {
            loop {
                let status = platform.status();
                // Where we connect ourselves, a failure says all there is to say.
                let has_failed = entry.listen.is_none() && status.last_error_at != before;
                if !status.accounts.is_empty() || has_failed {
                    break;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        // What came of it is in the status.
        let _ = tokio::time::timeout(PATIENCE, connected).await;
        Ok(service.platform_view(&entry))
    }
}

impl Service {
    /// What plugins may need besides packages, as far as it is configured.
    pub(crate) fn provided(&self) -> &'static [&'static str] {
        let is_onebot = |entry: &PlatformEntry| entry.kind == PlatformKind::Onebot;
        if self.configured().platform.iter().any(is_onebot) {
            &["OneBot"]
        } else {
            &[]
        }
    }

    fn configured_platform(&self, id: &str) -> Option<PlatformEntry> {
        let config = self.configured();
        config.platform.iter().find(|entry| entry.id == id).cloned()
    }

    fn require_platform(&self, id: &str) -> Result<PlatformEntry, ServiceError> {
        let unknown = || ServiceError::not_found(format!("no platform '{id}'"), Listing::Platforms);
        self.configured_platform(id).ok_or_else(unknown)
    }

    fn platform_view(&self, entry: &PlatformEntry) -> PlatformView {
        PlatformView {
            entry: entry.shown(),
            has_token: entry.token.is_some() || entry.token_env.is_some(),
            status: self.platforms().status(&entry.id),
        }
    }

    async fn reconnect_platforms(&self) -> Result<(), ServiceError> {
        self.read_config().await?;
        self.live().announce(&News::Platforms {});
        Ok(())
    }
}
