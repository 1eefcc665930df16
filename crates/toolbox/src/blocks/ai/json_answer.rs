//! Asks the model for JSON of an expected format, extracts it from the answer, and asks again if it is missing.

use ports::block::BlockError;
use serde_json::{Map, Value};

use super::model::{ModelCallOptions, ModelClient};
use super::prompt::ModelPrompt;

/// The expected format of an answer.
pub(crate) struct AnswerFormat<'a> {
    /// The required keys, each with a description of its value.
    pub(crate) keys: &'a Map<String, Value>,
    /// Whether the answer is a list of such objects.
    pub(crate) is_list: bool,
}

impl AnswerFormat<'_> {
    /// Asks until the answer has the format. Failed attempts are appended to the prompt.
    pub(crate) async fn ask(
        &self,
        model: &ModelClient,
        prompt: &mut ModelPrompt,
        options: &ModelCallOptions,
        attempts: u32,
    ) -> Result<Value, BlockError> {
        model.require_model()?;
        prompt.instruct(&self.instructions());
        let mut problem = String::new();
        for _ in 0..attempts {
            let answer = model.ask(prompt, options).await?;
            match self.read(&answer) {
                Ok(value) => return Ok(value),
                Err(reason) => {
                    prompt.assistant(answer);
                    prompt.user(retry_message(&reason));
                    problem = reason;
                }
            }
        }
        Err(BlockError::failed(format!(
            "The model did not answer in the expected format. {problem}"
        )))
    }

    fn instructions(&self) -> String {
        let mut format = serde_json::to_string_pretty(self.keys).unwrap_or_default();
        let kind = match self.is_list {
            true => {
                format = format!("[\n{format}\n]");
                "array of objects"
            }
            false => "object",
        };
        format!(
            "Answer with one JSON {kind} and nothing else, in exactly this format; each value below describes its \
            content:\n\n{format}\n\nInclude every key. Use an empty string for anything you do not know."
        )
    }

    /// The value, or what is wrong with the answer, worded for the model.
    fn read(&self, answer: &str) -> Result<Value, String> {
        let found = find(answer).ok_or("It does not contain valid JSON.")?;
        if !self.is_list {
            self.check(&found)?;
            return Ok(found);
        }
        let items = match found {
            Value::Array(items) => items,
            // Models often wrap the list in an object.
            Value::Object(mut map) => match map.remove("results") {
                Some(Value::Array(items)) => items,
                _ => return Err("It is an object, but an array is expected.".to_owned()),
            },
            _ => return Err("It is not an array.".to_owned()),
        };
        items.iter().try_for_each(|item| self.check(item))?;
        Ok(Value::Array(items))
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let map = value.as_object().ok_or("It is not an object.")?;
        let missing: Vec<&str> =
            self.keys.keys().filter(|key| !map.contains_key(*key)).map(String::as_str).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(format!("These keys are missing: {}.", missing.join(", "))),
        }
    }
}

fn retry_message(problem: &str) -> String {
    format!(
        "Your answer is invalid. {problem} Answer again, with JSON in the requested format and nothing else."
    )
}

/// Parses the whole answer, or the part between the outermost brackets: models wrap JSON in text and code fences.
fn find(answer: &str) -> Option<Value> {
    let answer = answer.trim();
    if let Ok(value) = serde_json::from_str(answer) {
        return Some(value);
    }
    let between = |open: char, close: char| {
        let (from, to) = (answer.find(open)?, answer.rfind(close)?);
        let inside = answer.get(from..=to)?;
        Some((from, serde_json::from_str::<Value>(inside).ok()?))
    };
    let found = [between('{', '}'), between('[', ']')].into_iter().flatten();
    // The one that starts first is the outer one.
    found.min_by_key(|(from, _)| *from).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(answer: &str, is_list: bool) -> Result<Value, String> {
        let keys = Map::from_iter([("name".to_owned(), json!("the name"))]);
        AnswerFormat { keys: &keys, is_list }.read(answer)
    }

    #[test]
    fn json_is_found_within_text_and_code_fences() {
        let meant = json!({ "name": "Ada [1]" });
        for answer in [
            r#"{"name": "Ada [1]"}"#,
            "```json\n{\"name\": \"Ada [1]\"}\n```",
            "Here it is: {\"name\": \"Ada [1]\"} I hope it helps.",
        ] {
            assert_eq!(read(answer, false), Ok(meant.clone()), "{answer}");
        }
        for answer in
            [r#"[{"name": "a"}]"#, r#"So: [{"name": "a"}]"#, r#"{"results": [{"name": "a"}]}"#]
        {
            assert_eq!(read(answer, true), Ok(json!([{ "name": "a" }])), "{answer}");
        }
    }

    #[test]
    fn an_invalid_answer_is_rejected_with_its_problem() {
        for (answer, is_list, part) in [
            ("no idea", false, "JSON"),
            (r#"{"nam": 1}"#, false, "name"),
            ("[1]", false, "not an object"),
            (r#"{"name": 1}"#, true, "array"),
            (r#"[{"name": 1}, {}]"#, true, "name"),
        ] {
            let problem = read(answer, is_list).expect_err(answer);
            assert!(problem.contains(part), "{problem}");
        }
    }
}
