//! The pins of a node. Nested agents and server tools define their own pins in the node's settings; all other nodes
//! have the pins of their block.

use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::Node;
use serde_json::Value;

use crate::pins::{self, PathStep};
use crate::types::{TypeSet, member_schema};

/// What is known about the values of a pin.
#[derive(Clone, Copy, Debug)]
pub enum PinSchema<'a> {
    Missing,
    Anything,
    Typed(&'a Value),
}

impl<'a> PinSchema<'a> {
    fn of(schema: Option<&'a Value>) -> Self {
        schema.map_or(Self::Anything, Self::Typed)
    }

    pub fn types(self) -> TypeSet {
        match self {
            Self::Missing | Self::Anything => TypeSet::ANY,
            Self::Typed(schema) => TypeSet::of(schema),
        }
    }

    /// The schema of the part that a nested name refers to; `Err` says why it cannot exist.
    pub fn at_path(self, name: &str) -> Result<Self, String> {
        let mut reached = self;
        for step in pins::steps(name)? {
            let Self::Typed(schema) = reached else { return Ok(reached) };
            let container = match step {
                PathStep::Key(_) => TypeSet::OBJECT,
                PathStep::Index(_) => TypeSet::LIST,
            };
            let types = TypeSet::of(schema);
            if !types.intersects(container) {
                return Err(format!("`{name}` reaches into {types}, which is not {container}"));
            }
            reached = Self::of(match step {
                PathStep::Key(key) => member_schema(schema, key),
                PathStep::Index(_) => schema.get("items"),
            });
        }
        Ok(reached)
    }
}

pub fn input<'a>(node: &'a Node, spec: &'a BlockSpec, pin: &str) -> PinSchema<'a> {
    let own = own_inputs(node, spec.kind);
    if let Some(schema) = own.and_then(|own| property(own, pin)).or_else(|| spec.input(pin)) {
        return PinSchema::Typed(schema);
    }
    let is_undescribed = own.is_none() && defines_pins(spec.kind);
    if is_undescribed || spec.takes_any_input() { PinSchema::Anything } else { PinSchema::Missing }
}

pub fn output<'a>(node: &'a Node, spec: &'a BlockSpec, pin: &str) -> PinSchema<'a> {
    let own = match spec.kind {
        BlockKind::Agent => described(node, "output_schema"),
        _ => None,
    };
    if let Some(schema) = own.and_then(|own| property(own, pin)).or_else(|| spec.output(pin)) {
        return PinSchema::Typed(schema);
    }
    let gives_any = spec.outputs.get("additionalProperties").is_some_and(|more| *more != false);
    let is_undescribed = own.is_none() && spec.kind == BlockKind::Agent;
    // Every block reports its failure on `error`.
    if is_undescribed || gives_any || pin == "error" {
        PinSchema::Anything
    } else {
        PinSchema::Missing
    }
}

/// How many names of pins are listed. A node that defines its own pins may define very many.
const MAX_NAMES: usize = 100;

/// The inputs that a node is known to have, its own first.
pub fn input_names<'a>(node: &'a Node, spec: &'a BlockSpec) -> Vec<&'a str> {
    names(own_inputs(node, spec.kind)).chain(names(Some(&spec.inputs))).take(MAX_NAMES).collect()
}

/// The outputs that a node is known to have, its own first.
pub fn output_names<'a>(node: &'a Node, spec: &'a BlockSpec) -> Vec<&'a str> {
    let own = described(node, "output_schema").filter(|_| spec.kind == BlockKind::Agent);
    names(own).chain(names(Some(&spec.outputs))).take(MAX_NAMES).collect()
}

fn names(schema: Option<&Value>) -> impl Iterator<Item = &str> {
    let pins = schema.and_then(|schema| schema.get("properties")?.as_object());
    pins.into_iter().flatten().map(|(name, _)| name.as_str())
}

/// The schema of the pins that the node defines in addition to those of its block.
pub fn own_inputs(node: &Node, kind: BlockKind) -> Option<&Value> {
    match kind {
        BlockKind::Agent => described(node, "input_schema"),
        BlockKind::McpTool => described(node, "tool_input_schema"),
        _ => None,
    }
}

/// The schema of the values that a link to this input brings, nested or not.
pub fn schema<'a>(node: &'a Node, spec: &'a BlockSpec, name: &str) -> Option<&'a Value> {
    match input(node, spec, pins::base(name)).at_path(name) {
        Ok(PinSchema::Typed(schema)) => Some(schema),
        _ => None,
    }
}

/// Whether this input is required.
pub fn is_required(node: &Node, spec: &BlockSpec, name: &str) -> bool {
    let own = own_inputs(node, spec.kind).and_then(|own| own.get("required")?.as_array());
    spec.required().any(|pin| pin == name)
        || own.into_iter().flatten().any(|pin| pin.as_str() == Some(name))
}

fn defines_pins(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Agent | BlockKind::McpTool)
}

/// A schema in the settings, if it names any pins.
fn described<'a>(node: &'a Node, setting: &str) -> Option<&'a Value> {
    let schema = node.input_default.get(setting)?;
    let pins = schema.get("properties")?.as_object()?;
    (!pins.is_empty()).then_some(schema)
}

fn property<'a>(schema: &'a Value, pin: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(pin)
}
