//! What can be said of a model without asking it, and what it makes of texts besides answers.

use serde::{Deserialize, Serialize};

use super::{Price, Usage};

/// What is not known, or is no matter of this model, is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelInfo {
    /// The provider's protocol, as configuration calls it.
    pub wire: Option<String>,
    /// The model's name on the wire.
    pub name: Option<String>,
    pub price: Option<Price>,
    /// The ids of the models asked when this one fails, in order.
    pub fallback: Vec<String>,
}

/// One vector for each text, in the order of the texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    pub vectors: Vec<Vec<f32>>,
    /// None where the provider did not say.
    pub usage: Option<Usage>,
}
