//! `CodeExtractionBlock`: extracts fenced code blocks from a text, one output per language.

use crate::blocks::prelude::*;

/// Each output pin with the language names accepted after the opening backticks.
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
/// Bytes searched for the end of the language line, trailing spaces included.
const MAX_LANGUAGE_LINE: usize = 64;

#[derive(Deserialize, JsonSchema)]
struct CodeExtractionInput {
    /// The text to search, with code in fenced blocks (between lines of three backticks).
    text: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let code = LANGUAGES.map(|(pin, names)| {
        pin::text(pin, &format!("All {} code, joined by blank lines.", names[0]))
    });
    let remaining = pin::text("remaining_text", "The text with the extracted code removed.");
    let spec = BlockSpec::new(
        "d3a7d896-3b78-4f44-8b4b-48fbf4f0bcd8",
        "CodeExtractionBlock",
        "Extracts the fenced code blocks of a text and groups them by language.",
    )
    .categories(&[BlockCategory::Text])
    .outputs(code.into_iter().chain([BlockSpec::error_pin(), remaining]));
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CodeExtractionInput) -> Result<PinValues, BlockError> {
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
    let all = code.chain([("remaining_text", without_empty_lines(&remaining))]);
    Ok(all.filter(|(_, text)| !text.is_empty()).map(|(pin, text)| (pin, text.into())).collect())
}

/// Parses a fenced block after its opening backticks into language index, code and rest of the text. `None` if the
/// language is unknown or the block is not closed.
fn section(inside: &str) -> Option<(usize, &str, &str)> {
    // Only the first bytes are searched; otherwise a text of many fences without newlines would take quadratic time.
    let line = inside.bytes().take(MAX_LANGUAGE_LINE).position(|byte| byte == b'\n')?;
    let (name, body) = (inside[..line].trim_end(), &inside[line + 1..]);
    let known = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let language = LANGUAGES.iter().position(|(_, names)| known(names))?;
    let (code, after) = body.split_once(FENCE)?;
    Some((language, code, after))
}

/// Removes the empty lines that extracted code leaves behind.
fn without_empty_lines(text: &str) -> String {
    let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_many_fences_is_parsed_quickly() {
        for fences in ["```", "```js\n", "```x"] {
            let began = std::time::Instant::now();
            let outputs = run(CodeExtractionInput { text: fences.repeat(200_000) + "js\nx" })
                .expect("outputs");
            assert!(outputs.iter().any(|(pin, _)| *pin == "remaining_text"), "{fences}");
            assert!(began.elapsed() < std::time::Duration::from_secs(5), "{fences}");
        }
    }
}
