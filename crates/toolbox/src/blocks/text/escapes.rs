//! Line ends, tabs and foreign letters as escape sequences, and back.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{About, Outputs, pure, text_fits};
use crate::blocks::typed::{outputs, text};

/// Letters that a sequence can be longer than the letter it stands for.
const LONGEST_SEQUENCE: usize = 10;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to translate.
    text: String,
}

pub(super) fn encoder() -> Arc<dyn Block> {
    let about = About {
        id: "5185f32e-4b65-4ecf-8fbb-873f003f09d6",
        name: "TextEncoderBlock",
        description: "Writes line ends, tabs and letters outside of ASCII as escape sequences.",
        categories: &[BlockCategory::Text],
    };
    let example = BlockExample::exactly(
        json!({ "text": "a\n\"b\"\té€😀\\" }),
        vec![("encoded_text", json!("a\\n\"b\"\\t\\xe9\\u20ac\\U0001f600\\\\"))],
    );
    let spec = about.spec::<Input>(outputs([text("encoded_text", "The text with sequences.")]));
    pure(spec, encode, vec![example])
}

fn encode(input: Input) -> Result<Outputs, BlockError> {
    text_fits(input.text.len().saturating_mul(LONGEST_SEQUENCE))?;
    let mut encoded = String::with_capacity(input.text.len());
    for letter in input.text.chars() {
        let code = u32::from(letter);
        let written = match letter {
            '\n' => encoded.write_str("\\n"),
            '\r' => encoded.write_str("\\r"),
            '\t' => encoded.write_str("\\t"),
            '\\' => encoded.write_str("\\\\"),
            ' '..='~' => encoded.write_char(letter),
            _ if code <= 0xff => write!(encoded, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(encoded, "\\u{code:04x}"),
            _ => write!(encoded, "\\U{code:08x}"),
        };
        written.map_err(|_| BlockError::failed("The text could not be written."))?;
    }
    Ok(vec![("encoded_text", encoded.into())])
}

pub(super) fn decoder() -> Arc<dyn Block> {
    let about = About {
        id: "2570e8fe-8447-43ed-84c7-70d657923231",
        name: "TextDecoderBlock",
        description: "Reads escape sequences in a text as the letters that they stand for.",
        categories: &[BlockCategory::Text],
    };
    let example = BlockExample::exactly(
        json!({ "text": "a\\n\\\"b\\\"\\té\\xe9\\u20ac\\ud83d\\ude00\\101\\q" }),
        vec![("decoded_text", json!("a\n\"b\"\téé€😀A\\q"))],
    );
    let spec = about.spec::<Input>(outputs([text("decoded_text", "The text without sequences.")]));
    pure(spec, decode, vec![example])
}

fn decode(input: Input) -> Result<Outputs, BlockError> {
    let mut decoded = String::with_capacity(input.text.len());
    let mut letters = input.text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            sequence(&mut letters, &mut decoded)?;
        } else {
            decoded.push(letter);
        }
    }
    Ok(vec![("decoded_text", decoded.into())])
}

/// What comes after a backslash. An unknown sequence stays as it is.
fn sequence(letters: &mut Peekable<Chars<'_>>, decoded: &mut String) -> Result<(), BlockError> {
    let Some(kind) = letters.next() else {
        return Err(BlockError::failed("The text ends with a backslash."));
    };
    let letter = match kind {
        '\n' => return Ok(()),
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' => kind,
        'x' => character(digits(letters, 2)?)?,
        'u' => match digits(letters, 4)? {
            high @ 0xd800..=0xdbff => pair(high, letters)?,
            code => character(code)?,
        },
        'U' => character(digits(letters, 8)?)?,
        '0'..='7' => {
            let mut code = kind.to_digit(8).unwrap_or(0);
            for _ in 0..2 {
                let Some(digit) = letters.peek().and_then(|next| next.to_digit(8)) else { break };
                letters.next();
                code = code * 8 + digit;
            }
            character(code)?
        }
        other => {
            decoded.push('\\');
            other
        }
    };
    decoded.push(letter);
    Ok(())
}

/// Letters beyond the first 65 536 are sometimes written as two sequences.
fn pair(high: u32, letters: &mut Peekable<Chars<'_>>) -> Result<char, BlockError> {
    let low = match (letters.next(), letters.next()) {
        (Some('\\'), Some('u')) => digits(letters, 4)?,
        _ => 0,
    };
    match low {
        0xdc00..=0xdfff => character(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
        _ => Err(broken()),
    }
}

fn digits(letters: &mut Peekable<Chars<'_>>, count: usize) -> Result<u32, BlockError> {
    (0..count).try_fold(0_u32, |code, _| {
        let digit = letters.next().and_then(|letter| letter.to_digit(16)).ok_or_else(broken)?;
        Ok((code << 4) | digit)
    })
}

fn character(code: u32) -> Result<char, BlockError> {
    char::from_u32(code).ok_or_else(broken)
}

fn broken() -> BlockError {
    BlockError::failed("The text has an escape sequence that stands for no letter.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_again() {
        let text = "line\r\n\u{1}\u{7f} \\n \\x41 'ü' 漢 😀".to_owned();
        let encoded = encode(Input { text: text.clone() }).expect("a text").remove(0).1;
        let encoded = encoded.as_str().expect("a text");
        assert!(encoded.is_ascii() && !encoded.contains('\n'));
        assert_eq!(
            decode(Input { text: encoded.to_owned() }),
            Ok(vec![("decoded_text", text.into())])
        );
    }

    #[test]
    fn a_broken_sequence_is_refused() {
        for text in ["a\\", "\\x4", "\\u12g4", "\\ud800", "\\ud800\\u0041", "\\Uffffffff"] {
            assert!(decode(Input { text: text.to_owned() }).is_err(), "{text}");
        }
    }
}
