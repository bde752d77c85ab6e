//! Character references: numeric ones, and the names that pages use. A name that is not known
//! stays as it is written.

use std::borrow::Cow;

/// Longest reference between `&` and `;`, in bytes.
const LONGEST: usize = 10;

pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        match reference(piece) {
            Some((character, rest)) => {
                out.push(character);
                out.push_str(rest);
            }
            None => {
                out.push('&');
                out.push_str(piece);
            }
        }
    }
    Cow::Owned(out)
}

/// The character that `text` begins with the reference of, and what follows.
fn reference(text: &str) -> Option<(char, &str)> {
    let head = text.bytes().take(LONGEST + 1);
    let end = head.into_iter().position(|byte| byte == b';')?;
    let (name, rest) = text.split_at_checked(end)?;
    let character = match name.strip_prefix('#') {
        Some(number) => numeric(number)?,
        None => named(name)?,
    };
    Some((character, rest.strip_prefix(';')?))
}

fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    let code = code.ok()?;
    // Browsers read these as Windows-1252, since pages mean it so.
    let character = match u8::try_from(code) {
        Ok(byte @ 0x80..=0x9F) => {
            let byte = [byte];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next()
        }
        Ok(0) => None,
        _ => char::from_u32(code),
    };
    Some(character.unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn named(name: &str) -> Option<char> {
    // U+00A0 to U+00FF have names, in order.
    let latin = LATIN.iter().position(|known| *known == name);
    let latin = latin.and_then(|place| u32::try_from(place + 0xA0).ok());
    latin.and_then(char::from_u32).or_else(|| {
        let known = OTHERS.iter().find(|(known, _)| *known == name);
        known.map(|(_, character)| *character)
    })
}

#[rustfmt::skip]
const LATIN: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect",
    "uml", "copy", "ordf", "laquo", "not", "shy", "reg", "macr",
    "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest",
    "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil",
    "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml",
    "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times",
    "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig",
    "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil",
    "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml",
    "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide",
    "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

#[rustfmt::skip]
const OTHERS: [(&str, char); 46] = [
    ("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''),
    ("ndash", '–'), ("mdash", '—'), ("lsquo", '‘'), ("rsquo", '’'), ("sbquo", '‚'),
    ("ldquo", '“'), ("rdquo", '”'), ("bdquo", '„'), ("lsaquo", '‹'), ("rsaquo", '›'),
    ("hellip", '…'), ("bull", '•'), ("dagger", '†'), ("permil", '‰'), ("prime", '′'),
    ("euro", '€'), ("trade", '™'), ("larr", '←'), ("uarr", '↑'), ("rarr", '→'),
    ("darr", '↓'), ("harr", '↔'), ("rArr", '⇒'), ("minus", '−'), ("infin", '∞'),
    ("ne", '≠'), ("le", '≤'), ("ge", '≥'), ("asymp", '≈'), ("radic", '√'),
    ("sum", '∑'), ("pi", 'π'), ("Omega", 'Ω'), ("ensp", '\u{2002}'), ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'), ("zwnj", '\u{200C}'), ("zwj", '\u{200D}'), ("check", '✓'),
    ("OElig", 'Œ'), ("oelig", 'œ'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_characters() {
        for (text, expect) in [
            ("no reference", "no reference"),
            (
                "a &amp; b &lt;&gt; &quot;c&quot; &#39;d&apos;",
                "a & b <> \"c\" 'd'",
            ),
            ("&nbsp;|&yuml;|&szlig;|&eacute;", "\u{A0}|ÿ|ß|é"),
            ("&#20320;&#x597D;&#X21;", "你好!"),
            ("&#150;&#x80;", "–€"),
            ("&#0;&#xD800;&#x110000;", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("&amp;lt;", "&lt;"),
            ("&mdash;&hellip;&euro;", "—…€"),
            (
                "a&b;c & d; &unknown; &#; &#x; &;",
                "a&b;c & d; &unknown; &#; &#x; &;",
            ),
            ("?a=1&copy=2", "?a=1&copy=2"),
            ("&字字字字字字;", "&字字字字字字;"),
            ("&", "&"),
        ] {
            assert_eq!(decoded(text), expect, "{text}");
        }
    }
}
