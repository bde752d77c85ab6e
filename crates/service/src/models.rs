//! Adding and trying models, the same from the command line and over HTTP.

mod new;
mod trial;

pub use new::{KeyFrom, ModelDraft, tried};
pub use trial::{Verdict, ask};
