//! [`Language`]: in which of two languages a person is told something of ours. Decided by the message that
//! is answered and by nothing else; `callgate_worker/language.py` decides the same for plugins.

use callgate_contract::Part;

use crate::history::text_of;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    pub(crate) fn of(message: &str) -> Self {
        let is_ideograph = |it| matches!(it, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        // Japanese is written with ideographs too.
        let is_kana = |it| matches!(it, '\u{3041}'..='\u{30ff}');
        if message.contains(is_ideograph) && !message.contains(is_kana) {
            Language::Chinese
        } else {
            Language::English
        }
    }

    pub(crate) fn of_parts(parts: &[Part]) -> Self {
        Language::of(&text_of(parts))
    }
}
