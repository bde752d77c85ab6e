//! Models whose keys the environment holds, for a start without configuration.

use callgate_contract::Accepts;
use secrecy::SecretString;

use crate::settings::ModelSettings;

struct Provider {
    /// Of the model; in capitals the prefix of `_API_KEY`, `_BASE_URL` and `_MODEL`.
    id: &'static str,
    base_url: &'static str,
    /// Where `_MODEL` says nothing.
    model: &'static str,
    image: bool,
}

const PROVIDERS: &[Provider] = &[
    Provider {
        id: "openai",
        base_url: "https://api.openai.com/v1",
        model: "gpt-5-mini",
        image: true,
    },
    Provider {
        id: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        model: "deepseek-chat",
        image: false,
    },
    Provider {
        id: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        model: "openrouter/auto",
        image: true,
    },
    Provider {
        id: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        model: "gemini-2.5-flash",
        image: true,
    },
    Provider {
        id: "dashscope",
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        model: "qwen-plus",
        image: false,
    },
    Provider {
        id: "moonshot",
        base_url: "https://api.moonshot.cn/v1",
        model: "kimi-latest",
        image: true,
    },
    Provider {
        id: "mistral",
        base_url: "https://api.mistral.ai/v1",
        model: "mistral-small-latest",
        image: true,
    },
    Provider {
        id: "groq",
        base_url: "https://api.groq.com/openai/v1",
        model: "llama-3.3-70b-versatile",
        image: false,
    },
    Provider {
        id: "xai",
        base_url: "https://api.x.ai/v1",
        model: "grok-4",
        image: true,
    },
];

/// In the order of the table. A variable that is blank counts as not set.
pub(crate) fn models(read: impl Fn(&str) -> Option<String>) -> Vec<ModelSettings> {
    let found = PROVIDERS.iter().filter_map(|provider| {
        let variable = |name: &str| {
            let name = format!("{}_{name}", provider.id.to_uppercase());
            let value = read(&name)?.trim().to_owned();
            Some(value).filter(|value| !value.is_empty())
        };
        let key = variable("API_KEY")?;
        let or = |found: Option<String>, usual: &str| found.unwrap_or_else(|| usual.to_owned());
        let mut model =
            ModelSettings::new(provider.id, or(variable("BASE_URL"), provider.base_url));
        model.model = Some(or(variable("MODEL"), provider.model));
        model.keys = vec![SecretString::from(key)];
        model.accepts = Accepts {
            image: provider.image,
            audio: false,
        };
        Some(model)
    });
    found.collect()
}
