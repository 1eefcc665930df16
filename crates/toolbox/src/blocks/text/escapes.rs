//! `TextEncoderBlock` and `TextDecoderBlock`: convert newlines, tabs and non-ASCII characters to escape sequences and back.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use crate::blocks::prelude::*;
use crate::blocks::result_limits::text_fits;

/// The most bytes an escape sequence needs per input byte, rounded up.
const LONGEST_SEQUENCE: usize = 10;

#[derive(Deserialize, JsonSchema)]
struct EscapeTextInput {
    /// The text to convert.
    text: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    vec![decoder(), encoder()]
}

fn encoder() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "5185f32e-4b65-4ecf-8fbb-873f003f09d6",
        "TextEncoderBlock",
        "Replaces newlines, tabs and non-ASCII characters with escape sequences.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("encoded_text", "The escaped text.")]);
    let example = BlockExample::exactly(
        json!({ "text": "a\n\"b\"\té€😀\\" }),
        vec![("encoded_text", json!("a\\n\"b\"\\t\\xe9\\u20ac\\U0001f600\\\\"))],
    );
    block(spec, vec![example], Pure(encode))
}

fn encode(input: EscapeTextInput) -> Result<PinValues, BlockError> {
    text_fits(input.text.len().saturating_mul(LONGEST_SEQUENCE))?;
    let mut encoded = String::with_capacity(input.text.len());
    for ch in input.text.chars() {
        let code = u32::from(ch);
        let written = match ch {
            '\n' => encoded.write_str("\\n"),
            '\r' => encoded.write_str("\\r"),
            '\t' => encoded.write_str("\\t"),
            '\\' => encoded.write_str("\\\\"),
            ' '..='~' => encoded.write_char(ch),
            _ if code <= 0xff => write!(encoded, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(encoded, "\\u{code:04x}"),
            _ => write!(encoded, "\\U{code:08x}"),
        };
        written.map_err(|_| BlockError::failed("The text could not be encoded."))?;
    }
    Ok(vec![("encoded_text", encoded.into())])
}

fn decoder() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "2570e8fe-8447-43ed-84c7-70d657923231",
        "TextDecoderBlock",
        "Replaces escape sequences with the characters they represent.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("decoded_text", "The unescaped text.")]);
    let example = BlockExample::exactly(
        json!({ "text": "a\\n\\\"b\\\"\\té\\xe9\\u20ac\\ud83d\\ude00\\101\\q" }),
        vec![("decoded_text", json!("a\n\"b\"\téé€😀A\\q"))],
    );
    block(spec, vec![example], Pure(decode))
}

fn decode(input: EscapeTextInput) -> Result<PinValues, BlockError> {
    let mut decoded = String::with_capacity(input.text.len());
    let mut chars = input.text.chars().peekable();
    while let Some(ch) = chars.next() {
        if ch == '\\' {
            decode_sequence(&mut chars, &mut decoded)?;
        } else {
            decoded.push(ch);
        }
    }
    Ok(vec![("decoded_text", decoded.into())])
}

/// Decodes the sequence after a backslash. An unknown sequence is kept unchanged.
fn decode_sequence(
    chars: &mut Peekable<Chars<'_>>,
    decoded: &mut String,
) -> Result<(), BlockError> {
    let Some(kind) = chars.next() else {
        return Err(BlockError::failed(
            "The text ends with an incomplete escape sequence (a single backslash).",
        ));
    };
    let ch = match kind {
        '\n' => return Ok(()),
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' => kind,
        'x' => character(digits(chars, 2)?)?,
        'u' => match digits(chars, 4)? {
            high @ 0xd800..=0xdbff => pair(high, chars)?,
            code => character(code)?,
        },
        'U' => character(digits(chars, 8)?)?,
        '0'..='7' => {
            let mut code = kind.to_digit(8).unwrap_or(0);
            for _ in 0..2 {
                let Some(digit) = chars.peek().and_then(|next| next.to_digit(8)) else { break };
                chars.next();
                code = code * 8 + digit;
            }
            character(code)?
        }
        other => {
            decoded.push('\\');
            other
        }
    };
    decoded.push(ch);
    Ok(())
}

/// Characters above U+FFFF may be written as a surrogate pair of two sequences.
fn pair(high: u32, chars: &mut Peekable<Chars<'_>>) -> Result<char, BlockError> {
    let low = match (chars.next(), chars.next()) {
        (Some('\\'), Some('u')) => digits(chars, 4)?,
        _ => 0,
    };
    match low {
        0xdc00..=0xdfff => character(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
        _ => Err(invalid_sequence()),
    }
}

fn digits(chars: &mut Peekable<Chars<'_>>, count: usize) -> Result<u32, BlockError> {
    (0..count).try_fold(0_u32, |code, _| {
        let digit = chars.next().and_then(|ch| ch.to_digit(16)).ok_or_else(invalid_sequence)?;
        Ok((code << 4) | digit)
    })
}

fn character(code: u32) -> Result<char, BlockError> {
    char::from_u32(code).ok_or_else(invalid_sequence)
}

fn invalid_sequence() -> BlockError {
    BlockError::failed("The text contains an invalid escape sequence.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_restores_the_encoded_text() {
        let text = "line\r\n\u{1}\u{7f} \\n \\x41 'ü' 漢 😀".to_owned();
        let encoded = encode(EscapeTextInput { text: text.clone() }).expect("a text").remove(0).1;
        let encoded = encoded.as_str().expect("a text");
        assert!(encoded.is_ascii() && !encoded.contains('\n'));
        assert_eq!(
            decode(EscapeTextInput { text: encoded.to_owned() }),
            Ok(vec![("decoded_text", text.into())])
        );
    }

    #[test]
    fn an_invalid_sequence_is_rejected() {
        for text in ["a\\", "\\x4", "\\u12g4", "\\ud800", "\\ud800\\u0041", "\\Uffffffff"] {
            assert!(decode(EscapeTextInput { text: text.to_owned() }).is_err(), "{text}");
        }
    }
}
