//! The values of pins: literals become settings, references become links, texts with references become a step that fills
//! them.

use protocol::graph::{GraphProblem, INDEX_MARK, KEY_MARK, TOOL_FIELD_MARK, TOOL_MARK};
use protocol::{BlockId, NodeId};
use serde_json::{Map, Value, json};

use super::Compiler;
use crate::AGENT_EXECUTOR;
use crate::catalog::closest;
use crate::names::{GENERATED_FOR, NodeName};
use crate::pins;
use crate::placeholders::{
    self, FILL_TEXT, FILL_TEXT_FORMAT, FILL_TEXT_VALUES, KnownNames, references, whole_reference,
};
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::{INPUTS, Reference, Source};
use crate::spec::{ANY_OF, LITERAL, StepSpec, tagged};

impl Compiler<'_> {
    /// Sets the pin of a node to a value of the spec.
    pub(crate) fn add_value(&mut self, node: &NodeName, pin: &str, value: &Value, path: &str) {
        if pins::is_nested(pin) && pins::steps(pin).is_err() {
            let message = format!("`{pin}` is not the name of a pin.");
            self.problems.push(ProblemCode::UnknownInput.at(path, message));
            return;
        }
        let Some(literal) = self.literal_part(node, pin, value, path) else { return };
        // The values for another agent are members of one setting.
        let runs_agent = self.nodes.get(node).is_some_and(|at| {
            self.graph.nodes[*at].block_id.as_str() == AGENT_EXECUTOR
                && matches!(node, NodeName::Step(_))
        });
        let Some(settings) = self.settings(node) else { return };
        match settings.get_mut("inputs").and_then(Value::as_object_mut) {
            Some(inputs) if runs_agent => inputs.insert(pin.to_owned(), literal),
            _ => settings.insert(pin.to_owned(), literal),
        };
    }

    /// Adds links for everything in the value that comes from elsewhere, and returns the rest.
    fn literal_part(
        &mut self,
        node: &NodeName,
        sink: &str,
        value: &Value,
        path: &str,
    ) -> Option<Value> {
        if let Some(literal) = tagged(value, LITERAL) {
            return Some(literal.clone());
        }
        if let Some(all) = tagged(value, ANY_OF) {
            self.link_any(node, sink, all, path);
            return None;
        }
        match value {
            Value::String(text) => self.text(node, sink, text, path),
            Value::Array(items) => {
                let mut rest = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let sink = format!("{sink}{INDEX_MARK}{index}");
                    let item = self.literal_part(node, &sink, item, &format!("{path}[{index}]"));
                    rest.push(item.unwrap_or(Value::Null));
                }
                Some(Value::Array(rest))
            }
            Value::Object(members) => {
                let mut rest = Map::new();
                for (key, member) in members {
                    let sink = format!("{sink}{KEY_MARK}{key}");
                    let member = self.literal_part(node, &sink, member, &format!("{path}.{key}"));
                    if let Some(member) = member {
                        rest.insert(key.clone(), member);
                    }
                }
                Some(Value::Object(rest))
            }
            other => Some(other.clone()),
        }
    }

    fn text(&mut self, node: &NodeName, sink: &str, text: &str, path: &str) -> Option<Value> {
        if let Some(reference) = whole_reference(text, self) {
            self.link(node, sink, &reference, path);
            return None;
        }
        let is_template_of_block = self
            .block(node)
            .is_some_and(|block| placeholders::values_pin(block.id, sink).is_some());
        let found = references(text, self);
        if found.is_empty() || is_template_of_block {
            self.check_misspelled(node, text, path);
            return Some(Value::from(text));
        }
        // A text that is only one placeholder passes the value on as it is.
        let alone = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        if let Some(alone) = alone.map(str::trim) {
            let named = Reference::parse(alone)
                .filter(|reference| reference.root() == INPUTS || self.is_step(reference.root()));
            let input = self.is_input(alone).then(|| Reference::input(alone));
            if let Some(reference) = named.or(input) {
                self.link(node, sink, &reference, path);
                return None;
            }
        }
        let fill = self.free_text_name(path);
        let settings = Map::from_iter([
            (FILL_TEXT_VALUES.to_owned(), json!({})),
            (FILL_TEXT_FORMAT.to_owned(), json!(text)),
        ]);
        let metadata = Map::from_iter([(GENERATED_FOR.to_owned(), json!(fill.as_str()))]);
        self.add_node(fill.clone(), BlockId::from(FILL_TEXT), settings, metadata);
        for (name, reference) in found {
            self.link(&fill, &format!("{FILL_TEXT_VALUES}{KEY_MARK}{name}"), &reference, path);
        }
        let source = (self.id_of(&fill), "output".to_owned());
        let sink = (self.id_of(node), sink.to_owned());
        self.add_link(source, sink);
        None
    }

    /// The key `b` of the pin `a` and the pin `a.b` have the same path.
    fn free_text_name(&self, path: &str) -> NodeName {
        let mut name = NodeName::Text(path.to_owned());
        for number in 2_u32.. {
            if !self.nodes.contains_key(&name) {
                break;
            }
            name = NodeName::Text(format!("{path}#{number}"));
        }
        name
    }

    /// Links the values that the templates of a block refer to, unless the spec gives them itself.
    pub(crate) fn add_implied_values(&mut self, name: &str, step: &StepSpec) {
        let node = NodeName::Step(name.to_owned());
        let Some(block) = self.block(&node) else { return };
        for (pin, value) in &step.pins {
            let (Some(values), Value::String(text)) =
                (placeholders::values_pin(block.id, pin), value)
            else {
                continue;
            };
            let given = step.pins.get(values);
            // Values that come as a whole are not known by name.
            if given.is_some_and(|given| !given.is_object() || tagged(given, ANY_OF).is_some()) {
                continue;
            }
            let is_given = |key: &str| given.is_some_and(|given| given.get(key).is_some());
            for (target, reference) in references(text, self) {
                if !is_given(pins::base(&target)) {
                    let path = format!("steps.{name}.{pin}");
                    self.link(&node, &format!("{values}{KEY_MARK}{target}"), &reference, &path);
                }
            }
        }
        // A template without values needs an empty set of them.
        if block.id == FILL_TEXT
            && !step.pins.contains_key(FILL_TEXT_VALUES)
            && let Some(settings) = self.settings(&node)
        {
            settings.insert(FILL_TEXT_VALUES.to_owned(), json!({}));
        }
    }

    fn link_any(&mut self, node: &NodeName, sink: &str, all: &Value, path: &str) {
        for one in all.as_array().into_iter().flatten() {
            let reference = one.as_str().and_then(|text| whole_reference(text, self));
            match reference {
                Some(reference) => self.link(node, sink, &reference, path),
                None => {
                    let message = format!("`{ANY_OF}` is a list of references; {one} is none.");
                    self.problems.push(ProblemCode::UnknownReference.at(path, message));
                }
            }
        }
        if !all.is_array() {
            let message = format!("`{ANY_OF}` is a list of references.");
            self.problems.push(ProblemCode::UnknownReference.at(path, message));
        }
    }

    fn link(&mut self, node: &NodeName, sink: &str, reference: &Reference, path: &str) {
        let sink = (self.id_of(node), sink.to_owned());
        if let Some(source) = self.source(reference, &sink, path) {
            self.add_link(source, sink);
        }
    }

    fn source(
        &mut self,
        reference: &Reference,
        sink: &(NodeId, String),
        path: &str,
    ) -> Option<(NodeId, String)> {
        match &reference.source {
            Source::Input(name) => {
                if !self.is_input(name) {
                    let names = self.spec.inputs.iter().map(|(name, _)| name.as_str());
                    let meant = closest(name, names).map(|meant| format!("inputs.{meant}"));
                    self.unknown_reference(reference, path, meant);
                    return None;
                }
                let id = self.id_of(&NodeName::Input(name.clone()));
                Some((id, format!("result{}", reference.path)))
            }
            Source::Pin { step, pin } => {
                let node = NodeName::Step(step.clone());
                let id = self.id_of(&node);
                let is_tool_call =
                    pin == pins::TOOLS && reference.path.is_empty() && self.runs_tools(step);
                let name = match is_tool_call {
                    true => {
                        format!("{}{TOOL_MARK}{}{TOOL_FIELD_MARK}{}", pins::TOOLS, sink.0, sink.1)
                    }
                    false => format!("{pin}{}", reference.path),
                };
                Some((id, name))
            }
        }
    }

    fn runs_tools(&self, step: &str) -> bool {
        use crate::catalog::find_block;
        use crate::spec::StepTarget;
        let Some(StepTarget::Block(block)) = self.spec.step(step).map(|step| &step.runs) else {
            return false;
        };
        let spec = find_block(self.context.blocks, block);
        spec.is_some_and(|spec| spec.output(pins::TOOLS).is_some())
    }

    fn unknown_reference(&mut self, reference: &Reference, path: &str, meant: Option<String>) {
        let message = match &meant {
            Some(meant) => format!("There is no `{reference}`. Did you mean `{meant}`?"),
            None => format!("There is no `{reference}`."),
        };
        let mut problem =
            ProblemCode::UnknownReference.at(path, message).got(reference.to_string());
        if let Some(meant) = meant {
            problem = problem.expected(meant);
        }
        self.problems.push(problem);
    }

    /// Reports a text that is almost a reference: the name of a step is misspelled, and the step has the pin.
    fn check_misspelled(&mut self, node: &NodeName, text: &str, path: &str) {
        let Some(reference) = Reference::parse(text) else { return };
        let Source::Pin { step, pin } = &reference.source else { return };
        let names = self.spec.steps.iter().map(|(name, _)| name.as_str());
        let Some(meant) = closest(step, names) else { return };
        use crate::catalog::find_block;
        use crate::spec::StepTarget;
        let has_pin = match self.spec.step(meant).map(|step| &step.runs) {
            Some(StepTarget::Block(block)) => find_block(self.context.blocks, block)
                .is_some_and(|block| block.output(pin).is_some()),
            _ => false,
        };
        if has_pin {
            let meant = format!("{meant}.{pin}");
            let message = format!(
                "There is no step `{step}`. Did you mean `{meant}`? If it is a text, write {{{LITERAL}: …}}."
            );
            let problem = ProblemCode::UnknownReference.at(path, message);
            let problem = problem.expected(meant).got(text);
            self.problems.push(GraphProblem { node_id: Some(self.id_of(node)), ..problem });
        }
    }
}
