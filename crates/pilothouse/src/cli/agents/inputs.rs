//! Inputs of an execution, typed as `name=value`.

use serde_json::{Map, Value};

/// One input. The value is JSON if it parses, otherwise text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedInput {
    name: String,
    value: Value,
}

/// For clap: the error is shown as it is.
pub(crate) fn parse(text: &str) -> Result<NamedInput, String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("write an input as name=value".to_owned());
    };
    let name = name.trim();
    if name.is_empty() {
        return Err("an input needs a name before the =".to_owned());
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok(NamedInput { name: name.to_owned(), value })
}

/// The last value wins when a name is repeated.
pub(crate) fn object(inputs: Vec<NamedInput>) -> Map<String, Value> {
    inputs.into_iter().map(|input| (input.name, input.value)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_json_if_it_parses_and_text_otherwise() {
        let table = [
            ("n=5", "n", json!(5)),
            ("flag=true", "flag", json!(true)),
            ("text=hello world", "text", json!("hello world")),
            ("text=\"5\"", "text", json!("5")),
            ("list=[1, \"a\"]", "list", json!([1, "a"])),
            ("url=https://a.example/?x=1", "url", json!("https://a.example/?x=1")),
            ("empty=", "empty", json!("")),
        ];
        for (typed, name, value) in table {
            let input = parse(typed).expect("an input");
            assert_eq!((input.name.as_str(), input.value), (name, value), "{typed}");
        }
        assert!(parse("nothing").is_err() && parse("=5").is_err());
    }
}
