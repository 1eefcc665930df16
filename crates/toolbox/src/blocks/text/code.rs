//! The code in a text, by its language.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::outputs;

/// The pins, and what people write behind the backticks.
const LANGUAGES: [(&str, &[&str]); 16] = [
    ("html", &["html", "htm"]),
    ("css", &["css"]),
    ("javascript", &["javascript", "js"]),
    ("python", &["python", "py"]),
    ("sql", &["sql"]),
    ("java", &["java"]),
    ("cpp", &["cpp", "c++"]),
    ("csharp", &["csharp", "c#", "cs"]),
    ("json_code", &["json"]),
    ("bash", &["bash", "shell", "sh"]),
    ("php", &["php"]),
    ("ruby", &["ruby", "rb"]),
    ("yaml", &["yaml", "yml"]),
    ("markdown", &["markdown", "md"]),
    ("typescript", &["typescript", "ts"]),
    ("xml", &["xml"]),
];
const FENCE: &str = "```";
/// With the space behind it.
const LONGEST_NAME: usize = 64;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// A text with code in it, as models write it: between lines of three backticks.
    text: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "d3a7d896-3b78-4f44-8b4b-48fbf4f0bcd8",
        name: "CodeExtractionBlock",
        description: "Takes the code out of a text, sorted by language.",
        categories: &[BlockCategory::Text],
    };
    let examples = vec![
        BlockExample::exactly(
            json!({ "text": "One:\n```py\ny(1)\n```\ntwo:\n```HTML \n<b>\n```\n```python\nx\n```" }),
            vec![
                ("html", json!("<b>")),
                ("python", json!("y(1)\n\nx")),
                ("remaining_text", json!("One:\ntwo:")),
            ],
        ),
        BlockExample::exactly(
            json!({ "text": "Kept: ```brainfuck\n+\n``` and ```js\nopen" }),
            vec![("remaining_text", json!("Kept: ```brainfuck\n+\n``` and ```js\nopen"))],
        ),
    ];
    let pins = LANGUAGES.map(|(pin, _)| {
        (pin, json!({ "type": "string", "description": format!("All code in {pin}.") }))
    });
    let mut schema = outputs(pins);
    schema["properties"]["remaining_text"] =
        json!({ "type": "string", "description": "The text without the code." });
    pure(about.spec::<Input>(schema), run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let mut found: [Vec<&str>; LANGUAGES.len()] = Default::default();
    let mut remaining = String::new();
    let mut rest = input.text.as_str();
    while let Some(start) = rest.find(FENCE) {
        let (before, fenced) = rest.split_at(start);
        remaining.push_str(before);
        rest = match section(&fenced[FENCE.len()..]) {
            Some((language, code, after)) => {
                found[language].push(code.trim());
                after
            }
            None => {
                remaining.push_str(FENCE);
                &fenced[FENCE.len()..]
            }
        };
    }
    remaining.push_str(rest);
    let code = LANGUAGES.iter().zip(found).map(|((pin, _), parts)| {
        (*pin, parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
    });
    let all = code.chain([("remaining_text", without_gaps(&remaining))]);
    Ok(all.filter(|(_, text)| !text.is_empty()).map(|(pin, text)| (pin, text.into())).collect())
}

/// The language, the code and what follows, if this is the inside of a closed section in a known language.
fn section(inside: &str) -> Option<(usize, &str, &str)> {
    // Only the first letters are looked at: a text of fences without line ends would be read again for each of them.
    let line = inside.bytes().take(LONGEST_NAME).position(|byte| byte == b'\n')?;
    let (name, body) = (inside[..line].trim_end(), &inside[line + 1..]);
    let known = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let language = LANGUAGES.iter().position(|(_, names)| known(names))?;
    let (code, after) = body.split_once(FENCE)?;
    Some((language, code, after))
}

/// Where code was taken out, no empty lines stay behind.
fn without_gaps(text: &str) -> String {
    let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_fences_takes_no_long_time() {
        for fences in ["```", "```js\n", "```x"] {
            let began = std::time::Instant::now();
            let outputs = run(Input { text: fences.repeat(200_000) + "js\nx" }).expect("outputs");
            assert!(outputs.iter().any(|(pin, _)| *pin == "remaining_text"), "{fences}");
            assert!(began.elapsed() < std::time::Duration::from_secs(5), "{fences}");
        }
    }
}
