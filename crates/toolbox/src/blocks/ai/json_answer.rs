//! JSON in what a model has written, and what it is told when there is none.

use serde_json::{Map, Value};

/// The form that an answer must have.
pub(super) struct Form<'a> {
    /// The keys that must be there, each with a description of its value.
    pub(super) keys: &'a Map<String, Value>,
    /// Whether it is a list of such objects.
    pub(super) is_list: bool,
}

impl Form<'_> {
    pub(super) fn instructions(&self) -> String {
        let mut form = serde_json::to_string_pretty(self.keys).unwrap_or_default();
        let kind = match self.is_list {
            true => {
                form = format!("[\n{form}\n]");
                "array of objects"
            }
            false => "object",
        };
        format!(
            "Answer with one JSON {kind} and nothing else, in exactly this form; each value below says what belongs \
            there:\n\n{form}\n\nEvery key must be there. Use an empty string for what you do not know."
        )
    }

    /// The value, or what is wrong with the answer, in words for the model.
    pub(super) fn read(&self, answer: &str) -> Result<Value, String> {
        let found = find(answer).ok_or("It does not contain JSON that can be read.")?;
        if !self.is_list {
            self.check(&found)?;
            return Ok(found);
        }
        let items = match found {
            Value::Array(items) => items,
            // Models like to put a list under a name.
            Value::Object(mut map) => match map.remove("results") {
                Some(Value::Array(items)) => items,
                _ => return Err("It is an object, but an array is asked for.".to_owned()),
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

pub(super) fn complaint(what: &str) -> String {
    format!(
        "Your answer cannot be used. {what} Write it again, as JSON in the form asked for and nothing else."
    )
}

/// The whole answer, or what stands between the outermost brackets: models wrap JSON in words and code fences.
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
    // What begins first is the outer one.
    found.min_by_key(|(from, _)| *from).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(answer: &str, is_list: bool) -> Result<Value, String> {
        let keys = Map::from_iter([("name".to_owned(), json!("the name"))]);
        Form { keys: &keys, is_list }.read(answer)
    }

    #[test]
    fn json_is_found_among_words_and_fences() {
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
    fn what_does_not_fit_is_named() {
        for (answer, is_list, part) in [
            ("no idea", false, "JSON"),
            (r#"{"nam": 1}"#, false, "name"),
            ("[1]", false, "not an object"),
            (r#"{"name": 1}"#, true, "array"),
            (r#"[{"name": 1}, {}]"#, true, "name"),
        ] {
            let wrong = read(answer, is_list).expect_err(answer);
            assert!(wrong.contains(part), "{wrong}");
        }
    }
}
