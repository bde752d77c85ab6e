//! Providers that are known by name, and models whose keys the environment holds, for a start
//! without configuration.

use callgate_contract::Accepts;
use secrecy::SecretString;

use crate::{settings::ModelSettings, wire::Wire};

/// A provider, and what is used of it where nothing else is said.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Of the model; in capitals the prefix of `_API_KEY`, `_BASE_URL` and `_MODEL`.
    pub id: &'static str,
    pub base_url: &'static str,
    pub model: &'static str,
    /// Does that model see images?
    image: bool,
    /// Another variable that may hold the key.
    also: Option<&'static str>,
}

pub const PROVIDERS: &[Provider] = &[
    Provider {
        id: "openai",
        base_url: "https://api.openai.com/v1",
        model: "gpt-5-mini",
        image: true,
        also: None,
    },
    Provider {
        id: "anthropic",
        base_url: "https://api.anthropic.com",
        model: "claude-sonnet-5-5",
        image: true,
        also: None,
    },
    Provider {
        id: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        model: "gemini-flash-latest",
        image: true,
        also: Some("GOOGLE_API_KEY"),
    },
    Provider {
        id: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        model: "deepseek-chat",
        image: false,
        also: None,
    },
    Provider {
        id: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        model: "openrouter/auto",
        image: true,
        also: None,
    },
    Provider {
        id: "dashscope",
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        model: "qwen-plus",
        image: false,
        also: None,
    },
    Provider {
        id: "moonshot",
        base_url: "https://api.moonshot.cn/v1",
        model: "kimi-latest",
        image: true,
        also: None,
    },
    Provider {
        id: "mistral",
        base_url: "https://api.mistral.ai/v1",
        model: "mistral-small-latest",
        image: true,
        also: None,
    },
    Provider {
        id: "groq",
        base_url: "https://api.groq.com/openai/v1",
        model: "llama-3.3-70b-versatile",
        image: false,
        also: None,
    },
    Provider {
        id: "xai",
        base_url: "https://api.x.ai/v1",
        model: "grok-4",
        image: true,
        also: None,
    },
];

impl Provider {
    /// The variables that may hold its key, the usual one first.
    pub fn key_variables(&self) -> Vec<String> {
        let usual = format!("{}_API_KEY", self.id.to_uppercase());
        let also = self.also.map(str::to_owned);
        [usual].into_iter().chain(also).collect()
    }
}

/// In the order of the table. A variable that is blank counts as not set.
pub(crate) fn models(read: impl Fn(&str) -> Option<String>) -> Vec<ModelSettings> {
    let set = |name: &str| {
        let value = read(name)?.trim().to_owned();
        Some(value).filter(|value| !value.is_empty())
    };
    let found = PROVIDERS.iter().filter_map(|provider| {
        let key = provider.key_variables().iter().find_map(|name| set(name))?;
        let variable = |name: &str| set(&format!("{}_{name}", provider.id.to_uppercase()));
        let or = |found: Option<String>, usual: &str| found.unwrap_or_else(|| usual.to_owned());
        let base_url = or(variable("BASE_URL"), provider.base_url);
        let mut model = ModelSettings::new(provider.id, base_url);
        model.model = Some(or(variable("MODEL"), provider.model));
        model.keys = vec![SecretString::from(key)];
        if provider.image {
            let audio = model.wire() == Wire::Gemini;
            model.accepts = Some(Accepts { image: true, audio });
        }
        Some(model)
    });
    found.collect()
}
