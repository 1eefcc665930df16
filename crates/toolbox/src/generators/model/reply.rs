//! Reads what the model wrote. Models put text around what was asked for, and code fences; both are tolerated.

use ports::agent_generator::{AgentGoal, Decomposition};
use serde_json::{Deserializer, Value, json};

use crate::generators::goal_feedback::{self, GoalFeedback};

/// Places where an object may begin, so that a long text of braces costs little.
const MAX_BRACES: usize = 200;
const MAX_STEPS: usize = 50;
/// Members of which a spec has at least one.
const MEMBERS: [&str; 4] = ["name", "inputs", "steps", "outputs"];

/// The plan, or what the model says about the goal.
pub(crate) fn decomposition(text: &str, goal: &AgentGoal) -> Result<Decomposition, String> {
    let answer = typed_object(text).ok_or("it has no JSON object with a type")?;
    if let Some(feedback) = goal_feedback::read(&answer, goal)? {
        return Ok(match feedback {
            GoalFeedback::Questions(questions) => Decomposition::Questions(questions),
            GoalFeedback::Suggestion(suggestion) => Decomposition::Suggestion(suggestion),
        });
    }
    match answer.get("type").and_then(Value::as_str) {
        Some("instructions") => steps(&answer).map(Decomposition::Instructions),
        _ => Err(format!("its type is {}", answer["type"])),
    }
}

/// Questions or another goal, if that is what the text is.
pub(crate) fn feedback(text: &str, goal: &AgentGoal) -> Result<Option<GoalFeedback>, String> {
    match typed_object(text) {
        Some(answer) => goal_feedback::read(&answer, goal),
        None => Ok(None),
    }
}

/// The spec in the text. It may have errors; the stages report these with their places.
pub(crate) fn spec(text: &str) -> Result<String, String> {
    let fenced = fences(text);
    let is_spec =
        |text: &&String| graphs::spec::from_value(&Value::String(text.to_string())).is_ok();
    let found = fenced.iter().find(is_spec).or_else(|| fenced.iter().find(|it| resembles_spec(it)));
    if let Some(spec) = found {
        return Ok(spec.clone());
    }
    let bare = text.trim();
    match fenced.is_empty() && resembles_spec(bare) {
        true => Ok(bare.to_owned()),
        false => Err("it has no spec in a yaml code fence".to_owned()),
    }
}

/// The steps of a plan, each with a description.
fn steps(answer: &Value) -> Result<Value, String> {
    let given = answer.get("steps").and_then(Value::as_array).into_iter().flatten();
    let step = |step: &Value| match step {
        Value::String(text) => Some(json!({ "description": text })),
        step => step.get("description")?.as_str().map(|_| step.clone()),
    };
    let steps: Vec<Value> = given.filter_map(step).take(MAX_STEPS).collect();
    match steps.is_empty() {
        true => Err("its plan has no steps with a description".to_owned()),
        false => Ok(json!({"type": "instructions", "steps": steps})),
    }
}

/// The first JSON object in the text that has a `type`.
fn typed_object(text: &str) -> Option<Value> {
    let starts = text.match_indices('{').map(|(at, _)| at).take(MAX_BRACES);
    let object = |at: usize| {
        let value = Deserializer::from_str(&text[at..]).into_iter::<Value>().next()?.ok()?;
        value.get("type").and_then(Value::as_str).is_some().then_some(value)
    };
    starts.filter_map(object).next()
}

/// The content of each code fence. The last one may be open.
fn fences(text: &str) -> Vec<String> {
    let mut fences = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        let mark = line.trim();
        match &mut open {
            None if mark.starts_with("```") => open = Some(Vec::new()),
            None => {}
            Some(lines) if mark == "```" => {
                fences.push(lines.join("\n"));
                open = None;
            }
            Some(lines) => lines.push(line),
        }
    }
    fences.extend(open.map(|lines| lines.join("\n")));
    fences
}

/// Whether a line begins a member of a spec, in YAML or in JSON.
fn resembles_spec(text: &str) -> bool {
    let begins = |line: &str, member: &str| {
        let line = line.trim_start_matches(['{', ' ', '"']);
        let rest = line.strip_prefix(member).map(|rest| rest.trim_start_matches('"'));
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    text.lines().any(|line| MEMBERS.iter().any(|member| begins(line, member)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "name: Sum\noutputs: {sum: inputs.a}\ninputs: {a: number}";

    #[test]
    fn a_spec_is_found_with_and_without_fences_and_text() {
        let table = [
            SPEC.to_owned(),
            format!("  {SPEC}\n\n"),
            format!("```yaml\n{SPEC}\n```"),
            format!("Here it is:\n\n```yml\n{SPEC}\n```\nIt adds."),
            format!("```\n{SPEC}"),
            format!("First:\n```bash\nls\n```\nThen:\n```yaml\n{SPEC}\n```"),
        ];
        for text in table {
            assert_eq!(spec(&text).as_deref(), Ok(SPEC), "{text}");
        }
        let json = "```json\n{\"name\": \"Sum\", \"outputs\": {}}\n```";
        assert_eq!(spec(json).as_deref(), Ok("{\"name\": \"Sum\", \"outputs\": {}}"));
    }

    #[test]
    fn a_spec_with_errors_is_preferred_to_none() {
        let broken = "name: Sum\nsteps: {a: [";
        assert_eq!(spec(&format!("```yaml\n{broken}\n```")).as_deref(), Ok(broken));
        for text in ["", "I cannot do that.", "```\nls -la\n```", "Name it \"Sum\""] {
            assert!(spec(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_plan_is_found_in_text_and_needs_steps() {
        let goal = AgentGoal::default();
        let plan =
            r#"{"type": "instructions", "steps": ["Add", {"description": "Show"}, {"x": 1}]}"#;
        let expected = json!({"type": "instructions", "steps": [
            {"description": "Add"}, {"description": "Show"}]});
        for text in [
            plan.to_owned(),
            format!("Sure {{you}} can:\n```json\n{plan}\n```\nGood luck {{}}"),
            format!("{{\"note\": 1}} {plan}"),
        ] {
            let read = decomposition(&text, &goal);
            assert_eq!(read, Ok(Decomposition::Instructions(expected.clone())), "{text}");
        }
        for text in [
            "",
            "{",
            "{\"type\": \"instructions\"}",
            "{\"type\": \"instructions\", \"steps\": [1]}",
            "{\"type\": \"song\"}",
            "{\"type\": \"clarifying_questions\", \"questions\": []}",
        ] {
            assert!(decomposition(text, &goal).is_err(), "{text}");
        }
    }
}
