//! Public prices, by the provider's host and the model's name. What is not in the table has no price
//! known: a gateway or a server of one's own may ask anything.

use std::{collections::HashMap, sync::LazyLock};

use callgate_contract::Price;
use serde::Deserialize;

/// As the file says about itself.
#[derive(Default, Deserialize)]
struct Table {
    prices: HashMap<String, HashMap<String, Price>>,
}

/// US dollars for a million tokens.
static PRICES: LazyLock<Table> = LazyLock::new(|| {
    let read = serde_json::from_str(include_str!("../data/prices.json"));
    read.unwrap_or_default()
});

/// The list price of `model` at `host`, also where the name is followed by a date of release.
pub(crate) fn of(host: &str, model: &str) -> Option<Price> {
    let models = PRICES.prices.get(host)?;
    let undated = |name: &str| name.len() < model.len() && is_release(model.strip_prefix(name));
    models.get(model).copied().or_else(|| {
        let named = models.iter().find(|(name, _)| undated(name));
        named.map(|(_, price)| *price)
    })
}

/// `-20251001`, `-2025-10-01` or `-latest`.
fn is_release(suffix: Option<&str>) -> bool {
    let Some(release) = suffix.and_then(|suffix| suffix.strip_prefix('-')) else {
        return false;
    };
    let dashes = release.bytes().filter(|byte| *byte == b'-').count();
    let digits = release.bytes().filter(u8::is_ascii_digit).count();
    let dated = digits == 8 && (dashes == 0 || dashes == 2) && digits + dashes == release.len();
    dated || release == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_makes_sense() {
        let table: Table = serde_json::from_str(include_str!("../data/prices.json")).unwrap();
        assert!(table.prices.len() > 5);
        for (host, models) in table.prices {
            for (name, price) in models {
                let cached = price.cached.unwrap_or(price.input);
                let sane = price.input > 0.0 && cached <= price.input && price.output >= 0.0;
                assert!(sane, "{host} {name}: {price:?}");
            }
        }
    }

    #[test]
    fn a_release_costs_what_its_model_costs_and_nothing_else_does() {
        let input = |host, model| of(host, model).map(|price| price.input);
        let mini = input("api.openai.com", "gpt-5-mini");
        assert!(mini.is_some());
        assert_eq!(input("api.openai.com", "gpt-5-mini-2025-08-07"), mini);
        assert_ne!(input("api.openai.com", "gpt-5"), mini);
        for (host, model) in [
            ("api.openai.com", "gpt-5-mini-large"),
            ("api.openai.com", "gpt-99"),
            ("127.0.0.1", "gpt-5-mini"),
            ("openrouter.ai", "openai/gpt-5-mini"),
        ] {
            assert_eq!(of(host, model), None, "{host} {model}");
        }
        let haiku = input("api.anthropic.com", "claude-haiku-4-5-20251001");
        assert_eq!(haiku, input("api.anthropic.com", "claude-haiku-4-5"));
        assert!(haiku.is_some());
    }
}
