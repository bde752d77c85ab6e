//! Plugins, as the operator sees and administers them.

mod install;
mod logs;
mod settings;
mod view;

use callgate_contract::SessionKey;
use callgate_plugins::{Plugin, check::CheckReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Deleted, List, Page};
use crate::{Capability, Listing, News, Operation, Requester, Service, ServiceError};

pub use install::{CreatePlugin, InstallPlugin, InstallResult};
pub use logs::{ListPluginLogs, PluginLine, PluginLogs};
pub use settings::{
    ConfigurePlugin, GetPluginConfig, PluginConfig, PluginSettings, SetPluginConfig,
};
pub use view::{PluginCommand, PluginError, PluginMethod, PluginState, PluginView, WorkerView};

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListPlugins {
    /// `enabled_here` is for this session.
    pub session: Option<SessionKey>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListPlugins {
    type Response = List<PluginView>;
    const NAME: &'static str = "plugins.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let plugins = service.plugin_views(self.session.as_ref()).await;
        self.page.of(plugins, |plugin| plugin.id.clone())
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetPlugin {
    pub id: String,
    /// `enabled_here` is for this session.
    pub session: Option<SessionKey>,
}

impl Operation for GetPlugin {
    type Response = PluginView;
    const NAME: &'static str = "plugins.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.plugin_view(&self.id, self.session.as_ref()).await
    }
}

/// On or off, everywhere or in one session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchPlugin {
    pub id: String,
    pub enabled: bool,
    /// Only in this session.
    pub session: Option<SessionKey>,
}

impl Operation for SwitchPlugin {
    type Response = PluginView;
    const NAME: &'static str = "plugins.switch";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.plugin_view(&self.id, None).await?;
        let plugins = service.plugins();
        if let Some(session) = &self.session {
            if !plugins.enable_in(&view.id, session, self.enabled).await? {
                let hint = "enable it everywhere first";
                return Err(ServiceError::conflict("this plugin is not loaded", hint));
            }
        } else {
            if let Some(folder) = &view.folder {
                service.library().enable(folder, self.enabled)?;
                service.reload_plugins(Some(folder)).await;
            }
            // Also where another plugin had switched it off.
            plugins.enable(&view.id, self.enabled).await?;
        }
        service.live().announce(&News::Plugins {});
        service.plugin_view(&view.id, self.session.as_ref()).await
    }
}

/// From its files.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReloadPlugin {
    pub id: String,
}

impl Operation for ReloadPlugin {
    type Response = PluginView;
    const NAME: &'static str = "plugins.reload";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.plugin_view(&self.id, None).await?;
        let name = view.folder.unwrap_or(view.id);
        service.reload_plugins(Some(&name)).await;
        service.live().announce(&News::Plugins {});
        service.plugin_view(&self.id, None).await
    }
}

/// From their files, also those that came or went since; what came of each that was meant.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReloadPlugins {
    /// All of them if left out.
    pub name: Option<String>,
}

impl Operation for ReloadPlugins {
    type Response = Vec<CheckReport>;
    const NAME: &'static str = "plugins.reload_all";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let reports = service.reload_plugins(self.name.as_deref()).await;
        service.live().announce(&News::Plugins {});
        Ok(reports)
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemovePlugin {
    pub id: String,
}

impl Operation for RemovePlugin {
    type Response = Deleted;
    const NAME: &'static str = "plugins.remove";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.plugin_view(&self.id, None).await?;
        let Some(folder) = view.folder else {
            let error = format!("'{}' is not installed", self.id);
            let hint = "it was given on the command line, or lies in the folder of functions";
            return Err(ServiceError::conflict(error, hint));
        };
        service.library().remove(&folder)?;
        service.reload_plugins(None).await;
        service.live().announce(&News::Plugins {});
        Ok(Deleted { deleted: self.id })
    }
}

impl Service {
    /// By its id, or by the name of its folder: one that came back may have learned its own id meanwhile.
    async fn plugin_view(
        &self,
        id: &str,
        session: Option<&SessionKey>,
    ) -> Result<PluginView, ServiceError> {
        let mut views = self.plugin_views(session).await.into_iter();
        let is_meant = |view: &PluginView| view.id == id || view.folder.as_deref() == Some(id);
        views.find(is_meant).ok_or_else(|| unknown(id))
    }

    async fn loaded_plugin(&self, id: &str) -> Result<Plugin, ServiceError> {
        self.with_plugins().await;
        if let Some(plugin) = self.find_plugin(id) {
            return Ok(plugin);
        }
        let view = self.plugin_view(id, None).await?;
        let state = json!(view.state);
        let why = format!("'{id}' is {}", state.as_str().unwrap_or("not loaded"));
        let hint = "see its error, mend it and load it again";
        Err(ServiceError::conflict(why, hint))
    }
}

fn unknown(id: &str) -> ServiceError {
    ServiceError::not_found(format!("no plugin '{id}'"), Listing::Plugins)
}
