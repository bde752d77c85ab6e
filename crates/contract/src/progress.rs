//! [`Progress`]: how far a call has come, told by its method to whoever made the call. Nothing hangs on
//! it: it is on no record, and a method that tells nothing is as good as any.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Progress {
    /// In whatever the method counts.
    pub done: f64,
    /// How much there is to do in all, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Whoever looks on while a call is made; by default nobody, which costs nothing. Clones lead to the
/// same place.
#[derive(Clone, Default)]
pub struct Onlooker(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl Onlooker {
    /// `tell` is called from the method itself and must be quick.
    pub fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Onlooker(Some(Arc::new(tell)))
    }

    pub fn is_nobody(&self) -> bool {
        self.0.is_none()
    }

    pub fn tell(&self, progress: Progress) {
        if let Some(tell) = &self.0 {
            tell(progress);
        }
    }
}

impl fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Onlooker").field(&self.0.is_some()).finish()
    }
}
