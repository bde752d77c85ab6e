//! [`ClientNotifications`]: what a server tells us by itself. It may not ask us for anything: nobody is there to
//! answer in the operator's place.

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation},
    service::NotificationContext,
};
use tokio::sync::mpsc;

pub(super) struct ClientNotifications {
    pub(super) server: String,
    pub(super) notices: mpsc::Sender<Notice>,
}

pub(super) enum Notice {
    /// Its tools are others now.
    Changed,
    Lost(String),
}

impl ClientHandler for ClientNotifications {
    fn get_info(&self) -> ClientConfig {
        let ourselves = Implementation::new("callgate", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), ourselves)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // If it is full, a look at the tools is due anyway.
        let _ = self.notices.try_send(Notice::Changed);
    }

    #[allow(
        deprecated,
        reason = "servers of the versions that have logging use it"
    )]
    async fn on_logging_message(
        &self,
        message: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        tracing::info!(target: "mcp", server = self.server, level = ?message.level, "{}", message.data);
    }
}
