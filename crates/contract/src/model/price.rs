//! [`Price`]: what tokens cost. A price that is not known is no [`Price`] at all, never one of zero.

use serde::{Deserialize, Serialize};

use crate::Usage;

/// For a million tokens each, in the currency the operator counts in; the prices that ship with the
/// product are in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    #[serde(default)]
    pub output: f64,
    /// Read from the provider's cache; else as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Written into the provider's cache; else as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<f64>,
    /// For requests beyond a length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// What everything costs once the input is longer than `above` tokens, as a multiple.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongPrice {
    pub above: u64,
    pub input: f64,
    pub output: f64,
}

impl Price {
    pub const FREE: Price = Price {
        input: 0.0,
        output: 0.0,
        cached: None,
        written: None,
        long: None,
    };

    /// How many tokens of an answer `money` (in millionths) still pays for once `input` tokens are
    /// paid at their dearest; `None` where it does not even pay for those.
    pub fn answer_for(&self, money: u64, input: u64) -> Option<u64> {
        let dearest = self.written.is_some_and(|written| written > self.input);
        let read = Usage {
            input,
            written: if dearest { input } else { 0 },
            ..Usage::default()
        };
        let left = money.checked_sub(self.of(&read))?;
        let times = match self.long {
            Some(long) if input > long.above => long.output,
            _ => 1.0,
        };
        let each = self.output * times;
        if each <= 0.0 {
            return Some(u64::MAX);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = (tokens(left) / each).floor() as u64;
        Some(count)
    }

    /// In millionths of the currency, rounded up: what costs anything never counts as nothing.
    pub fn of(&self, usage: &Usage) -> u64 {
        let (times_input, times_output) = match self.long {
            Some(long) if usage.input > long.above => (long.input, long.output),
            _ => (1.0, 1.0),
        };
        let plain = usage
            .input
            .saturating_sub(usage.cached.saturating_add(usage.written));
        let input = tokens(plain) * self.input
            + tokens(usage.cached) * self.cached.unwrap_or(self.input)
            + tokens(usage.written) * self.written.unwrap_or(self.input);
        let cost = input * times_input + tokens(usage.output) * self.output * times_output;
        // Float noise must not make a millionth of nothing.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let millionths = (cost - 1e-9).ceil().max(0.0) as u64;
        millionths
    }
}

#[allow(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
fn tokens(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        Price {
            input: 3.0,
            output: 15.0,
            cached: Some(0.3),
            written: Some(3.75),
            long: None,
        }
    }

    fn usage(input: u64, cached: u64, written: u64, output: u64) -> Usage {
        Usage {
            input,
            cached,
            written,
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        // 700 plain, 200 cached, 100 written, 50 out.
        let cost = 2100 + 60 + 375 + 750;
        assert_eq!(price().of(&usage(1000, 200, 100, 50)), cost);
    }

    #[test]
    fn the_cache_costs_as_much_as_input_where_nothing_else_is_known() {
        let price = Price {
            cached: None,
            written: None,
            ..price()
        };
        assert_eq!(price.of(&usage(1000, 200, 100, 0)), 3000);
    }

    #[test]
    fn little_is_not_nothing_and_nothing_is() {
        let cheap = Price {
            input: 0.02,
            output: 0.0,
            ..price()
        };
        assert_eq!(cheap.of(&usage(1, 0, 0, 0)), 1);
        assert_eq!(cheap.of(&usage(0, 0, 0, 0)), 0);
        let free = Price {
            input: 0.0,
            ..cheap
        };
        assert_eq!(free.of(&usage(1_000_000, 0, 0, 9)), 0);
    }

    #[test]
    fn what_is_left_pays_for_the_prompt_first() {
        let price = price();
        // A thousand tokens written into the cache cost 3,750.
        assert_eq!(price.answer_for(3_749, 1000), None);
        assert_eq!(price.answer_for(3_750, 1000), Some(0));
        assert_eq!(price.answer_for(3_750 + 150 + 14, 1000), Some(10));
        assert_eq!(Price::FREE.answer_for(0, 1000), Some(u64::MAX));
        let spent = price.of(&usage(1000, 0, 1000, 10));
        assert_eq!(price.answer_for(spent, 1000), Some(10));
    }

    #[test]
    fn a_long_request_costs_its_own_price() {
        let long = LongPrice {
            above: 200_000,
            input: 2.0,
            output: 1.5,
        };
        let price = Price {
            long: Some(long),
            ..price()
        };
        assert_eq!(price.of(&usage(200_000, 0, 0, 100)), 601_500);
        assert_eq!(price.of(&usage(200_001, 0, 0, 100)), 1_200_006 + 2250);
    }

    #[test]
    fn a_provider_that_counts_wrong_is_survived() {
        let odd = usage(10, 20, 30, u64::MAX);
        assert!(price().of(&odd) > 0);
    }
}
