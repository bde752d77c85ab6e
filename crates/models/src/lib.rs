//! Models behind [`callgate_contract::Model`]: the wires to providers' servers, the scripted model,
//! the offline demo, and how the models at hand are found. Nothing here knows a turn.

pub mod anthropic;
mod calls;
mod catalogue;
mod decoder;
mod demo;
mod draft;
pub mod embedding;
mod environment;
mod error;
mod exchange;
mod failure;
mod fallback;
pub mod format;
mod gemini;
mod key_check;
mod keys;
mod limit;
mod lines;
mod local;
pub mod ollama;
mod opaque_blocks;
pub mod openai;
mod parts;
mod price;
mod remote;
pub mod responses;
mod script;
mod settings;
mod surrogates;
mod transport;
mod wire;

pub use catalogue::{find, named};
pub use decoder::Decoder;
pub use demo::Demo;
pub use environment::{PROVIDERS, Provider};
pub use error::InvalidModel;
pub use failure::refused;
pub use fallback::Fallback;
pub use key_check::{CheckedKey, check_keys};
pub use local::{LocalServer, USUAL_SERVERS, models as local_models};
pub use remote::Remote;
pub use script::Script;
pub use settings::{ModelSettings, Settings};
pub use transport::post_json;
pub use wire::{Dialect, Wire};
