//! Reads a spec from a JSON value. All problems are reported at once, each with its path.

use protocol::GraphId;
use protocol::graph::GraphProblem;
use serde_json::{Map, Value};

use super::input_types::{self, RENAMED_SETTINGS};
use super::{AgentSpec, INPUT_TYPES, InputSpec, OutputSpec, StepSpec, StepTarget};
use crate::catalog::closest;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::{INPUTS, is_plain_name};

/// How long a name may be, in characters.
const MAX_NAME_CHARS: usize = 100;
/// The members of a spec.
const MEMBERS: [&str; 7] =
    ["name", "description", "instructions", "recommended_schedule", "inputs", "steps", "outputs"];

pub fn read(value: &Value) -> Result<AgentSpec, Vec<GraphProblem>> {
    let Value::Object(members) = value else {
        let message = "A spec is an object with `name`, `inputs`, `steps` and `outputs`.";
        return Err(vec![ProblemCode::InvalidSpec.of_graph(message)]);
    };
    let mut reader = SpecReader::default();
    let spec = reader.spec(members);
    if reader.problems.is_empty() { Ok(spec) } else { Err(reader.problems) }
}

#[derive(Default)]
struct SpecReader {
    problems: Vec<GraphProblem>,
}

impl SpecReader {
    fn spec(&mut self, members: &Map<String, Value>) -> AgentSpec {
        for key in members.keys().filter(|key| !MEMBERS.contains(&key.as_str())) {
            let message = match closest(key, MEMBERS) {
                Some(meant) => format!("A spec has no `{key}`. Did you mean `{meant}`?"),
                None => format!("A spec has no `{key}`. It has {}.", MEMBERS.join(", ")),
            };
            self.problems.push(ProblemCode::InvalidSpec.at(key, message));
        }
        let spec = AgentSpec {
            name: self.text(members, "name").unwrap_or_default(),
            description: self.text(members, "description").unwrap_or_default(),
            instructions: self.text(members, "instructions"),
            recommended_schedule: self.text(members, "recommended_schedule"),
            inputs: self.entries(members, INPUTS, Self::input),
            steps: self.entries(members, "steps", Self::step),
            outputs: self.entries(members, "outputs", Self::output),
        };
        self.names(&spec);
        spec
    }

    fn text(&mut self, members: &Map<String, Value>, key: &str) -> Option<String> {
        match members.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                let problem = ProblemCode::InvalidSpec.at(key, format!("`{key}` is a text."));
                self.problems.push(problem.expected("a text").got(kind(other)));
                None
            }
        }
    }

    fn entries<T>(
        &mut self,
        members: &Map<String, Value>,
        section: &str,
        read: fn(&mut Self, &str, &Value) -> Option<T>,
    ) -> Vec<(String, T)> {
        let entries = match members.get(section) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(entries)) => entries,
            Some(other) => {
                let message = format!("`{section}` is an object with an entry per name.");
                let problem = ProblemCode::InvalidSpec.at(section, message);
                self.problems.push(problem.expected("an object").got(kind(other)));
                return Vec::new();
            }
        };
        let mut found = Vec::with_capacity(entries.len());
        for (name, entry) in entries {
            if let Some(entry) = read(self, &format!("{section}.{name}"), entry) {
                found.push((name.clone(), entry));
            }
        }
        found
    }

    fn input(&mut self, path: &str, value: &Value) -> Option<InputSpec> {
        let mut settings = match value {
            Value::Null => Map::new(),
            Value::String(name) => {
                Map::from_iter([("type".to_owned(), Value::from(name.as_str()))])
            }
            Value::Object(settings) => settings.clone(),
            other => {
                let message = "An input is a type, or an object with a `type`.";
                let problem = ProblemCode::InvalidSpec.at(path, message);
                self.problems.push(problem.expected("an object").got(kind(other)));
                return None;
            }
        };
        let block = match (settings.shift_remove("block"), settings.shift_remove("type")) {
            (Some(Value::String(block)), _) => block,
            (_, Some(Value::String(name))) => self.block_of_type(path, &name, &settings)?,
            (None, None) => self.block_of_type(path, "any", &settings)?,
            _ => {
                let message = "`type` is the name of a type.";
                self.problems.push(ProblemCode::UnknownType.at(format!("{path}.type"), message));
                return None;
            }
        };
        let settings = settings.into_iter().map(|(name, value)| {
            let renamed = RENAMED_SETTINGS.iter().find(|(in_spec, _)| *in_spec == name);
            (renamed.map_or(name, |(_, in_block)| (*in_block).to_owned()), value)
        });
        Some(InputSpec { block, settings: settings.collect() })
    }

    fn block_of_type(
        &mut self,
        path: &str,
        name: &str,
        settings: &Map<String, Value>,
    ) -> Option<String> {
        // A text with options is a choice, as in JSON schemas.
        let name =
            if settings.contains_key("options") && name == "string" { "choice" } else { name };
        let found = input_types::input_type(name);
        if found.is_none() {
            let known: Vec<&str> = INPUT_TYPES.iter().map(|known| known.name).collect();
            let message = format!("There is no type `{name}`.");
            let problem = ProblemCode::UnknownType.at(format!("{path}.type"), message);
            self.problems.push(problem.expected(known.join(", ")).got(name));
        }
        found.map(|found| found.block.to_owned())
    }

    fn step(&mut self, path: &str, value: &Value) -> Option<StepSpec> {
        let Value::Object(members) = value else {
            let message = "A step is an object with a `block` or an `agent`.";
            let problem = ProblemCode::InvalidSpec.at(path, message);
            self.problems.push(problem.expected("an object").got(kind(value)));
            return None;
        };
        let mut pins = members.clone();
        let runs = match (pins.shift_remove("block"), pins.shift_remove("agent")) {
            (Some(Value::String(block)), None) => StepTarget::Block(block),
            (None, Some(Value::String(agent))) => self.agent(path, &agent)?,
            _ => {
                let message = "A step needs either a `block` or an `agent`.";
                self.problems.push(ProblemCode::InvalidSpec.at(path, message));
                return None;
            }
        };
        let label = match pins.shift_remove("label") {
            Some(Value::String(label)) => Some(label),
            None | Some(Value::Null) => None,
            Some(other) => {
                let problem =
                    ProblemCode::InvalidSpec.at(format!("{path}.label"), "`label` is a text.");
                self.problems.push(problem.expected("a text").got(kind(&other)));
                None
            }
        };
        // Pins whose names a step uses itself.
        match pins.shift_remove("with") {
            Some(Value::Object(more)) => pins.extend(more),
            None => {}
            Some(other) => {
                let message = "`with` is an object with a value per pin.";
                let problem = ProblemCode::InvalidSpec.at(format!("{path}.with"), message);
                self.problems.push(problem.expected("an object").got(kind(&other)));
            }
        }
        Some(StepSpec { runs, label, pins })
    }

    /// `id` or `id@version`.
    fn agent(&mut self, path: &str, text: &str) -> Option<StepTarget> {
        let (id, version) = match text.rsplit_once('@') {
            None => (text, Ok(None)),
            Some((id, version)) => (id, version.parse().map(Some)),
        };
        match version {
            Ok(version) if !id.is_empty() => {
                Some(StepTarget::Agent { id: GraphId::from(id), version })
            }
            _ => {
                let message = "An agent is named by its id, or by its id and a version: `id@2`.";
                let problem = ProblemCode::MissingAgent.at(format!("{path}.agent"), message);
                self.problems.push(problem.got(text));
                None
            }
        }
    }

    fn output(&mut self, _: &str, value: &Value) -> Option<OutputSpec> {
        let Some(members) = value.as_object().filter(|members| members.contains_key("from")) else {
            let is_settings_only = value.as_object().is_some_and(|members| {
                members.keys().all(|key| SETTINGS_OF_OUTPUTS.contains(&key.as_str()))
            });
            return Some(match value {
                Value::Null => OutputSpec { from: None, settings: Map::new() },
                Value::Object(members) if is_settings_only => {
                    OutputSpec { from: None, settings: members.clone() }
                }
                other => OutputSpec { from: Some(other.clone()), settings: Map::new() },
            });
        };
        let mut settings = members.clone();
        let from = settings.shift_remove("from").filter(|from| !from.is_null());
        Some(OutputSpec { from, settings })
    }

    fn names(&mut self, spec: &AgentSpec) {
        for (name, _) in &spec.steps {
            let path = format!("steps.{name}");
            let taken = name == INPUTS || name == "outputs";
            if !is_plain_name(name) || taken || name.chars().count() > MAX_NAME_CHARS {
                let message = format!(
                    "`{name}` cannot name a step. Names consist of ASCII letters, digits and `_`, do not begin \
                     with a digit, and have at most {MAX_NAME_CHARS} characters."
                );
                self.problems.push(ProblemCode::InvalidName.at(&path, message));
            }
            if spec.input(name).is_some() {
                let message =
                    format!("An input is named `{name}`, too. Rename the step or the input.");
                self.problems.push(ProblemCode::DuplicateName.at(path, message));
            }
        }
        let named = spec.inputs.iter().map(|(name, _)| ("inputs", name));
        for (section, name) in named.chain(spec.outputs.iter().map(|(name, _)| ("outputs", name))) {
            if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS {
                let message = format!("A name has 1 to {MAX_NAME_CHARS} characters.");
                self.problems
                    .push(ProblemCode::InvalidName.at(format!("{section}.{name}"), message));
            }
        }
    }
}

/// The settings of an output, besides its value.
pub(crate) const SETTINGS_OF_OUTPUTS: [&str; 6] =
    ["title", "description", "format", "escape_html", "advanced", "secret"];

fn kind(value: &Value) -> String {
    crate::types::TypeSet::of_value(value).to_string()
}
