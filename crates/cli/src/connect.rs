//! The way of a command to the service: in this process if nobody else owns the data directory, else over
//! the control socket.

use callgate_server::control::Client;
pub use callgate_server::control::Purpose;
use callgate_service::Settings;

use crate::{failure::Failure, plugins, show};

/// Plugins that the command was given are made ready first.
pub async fn open(settings: &Settings, purpose: Purpose) -> Result<Client, Failure> {
    let mut settings = settings.clone();
    settings.given = plugins::given_by(&settings).await?;
    Ok(Client::open(settings, purpose, show::note).await?)
}
