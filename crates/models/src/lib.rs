//! Models behind [`callgate_contract::Model`]: the wire to OpenAI-compatible servers, the scripted
//! model, the offline demo, and how the models at hand are found. Nothing here knows a turn.

mod catalogue;
mod demo;
mod environment;
mod error;
mod exchange;
mod keys;
mod local;
pub mod openai;
mod script;
mod settings;
mod transport;

pub use catalogue::{find, named};
pub use demo::Demo;
pub use error::InvalidModel;
pub use local::{LocalServer, USUAL_SERVERS};
pub use openai::OpenAi;
pub use script::Script;
pub use settings::{ModelSettings, Settings, Wire};
