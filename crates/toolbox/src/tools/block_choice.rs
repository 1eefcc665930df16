//! Decides which blocks a session can run on their own, and checks their inputs.

use std::sync::Arc;

use ports::Block;
use ports::tool::{ToolContext, ToolError};
use protocol::block::BlockSpec;
use protocol::response::{BlockDetails, ResponseBody, ToolResponse};
use protocol::text::cut_end;
use serde_json::{Map, Value};

use crate::search;
use crate::tools::ToolServices;

/// Ids of the orchestrator and autopilot blocks: of the standard kind, but useless alone, because they direct other blocks
/// or the copilot.
const COORDINATING: [&str; 2] =
    ["3b191d9f-356f-482d-8238-ba04b6d18381", "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6"];
/// Blocks that a query names exactly come first; at most this many, so that other matches are shown too.
const NAMED: usize = 3;
/// Schema violations that a response names.
const FAULTS: usize = 5;
const FAULT_CHARS: usize = 300;

/// Every block of the server.
#[derive(Clone)]
pub(crate) struct BlockCatalog(Arc<[Arc<dyn Block>]>);

impl BlockCatalog {
    pub(crate) fn new(services: &ToolServices) -> Self {
        Self::of(services.blocks.clone())
    }

    pub(crate) fn of(blocks: Arc<[Arc<dyn Block>]>) -> Self {
        Self(blocks)
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = &BlockSpec> {
        self.0.iter().map(|block| block.spec())
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<&BlockSpec> {
        self.specs().find(|spec| spec.id.eq_ignore_ascii_case(id))
    }

    /// The block, if this call may run it on its own; otherwise an error for the model.
    pub(crate) fn runnable(
        &self,
        id: &str,
        context: &ToolContext,
    ) -> Result<&BlockSpec, ToolError> {
        let Some(spec) = self.by_id(id) else {
            let sentence = format!("Block not found: {id}. Use find_block to search for blocks.");
            return Err(ToolError::tell("block_not_found", sentence));
        };
        if !runs_alone(spec) {
            let sentence = format!(
                "{} only works as part of an agent. Run an agent that contains it with run_agent, or delegate the task \
                 with run_sub_session.",
                spec.name
            );
            return Err(ToolError::tell("block_not_runnable", sentence));
        }
        if !context.permissions.allow_block(spec.id, spec.name) {
            let sentence = format!("This session is not allowed to use {}.", spec.name);
            return Err(ToolError::tell("permission_denied", sentence));
        }
        Ok(spec)
    }
}

/// The blocks that match the words, best match first. Those that the words name exactly come before the others.
pub(crate) fn best_matches<'a>(
    query: &str,
    among: Vec<&'a BlockSpec>,
    at_most: usize,
) -> Vec<&'a BlockSpec> {
    let words: Vec<&str> = query.split(|c: char| !c.is_alphanumeric()).collect();
    let named = |spec: &&BlockSpec| words.iter().any(|word| spec.name.eq_ignore_ascii_case(word));
    let mut found: Vec<&BlockSpec> = among.iter().copied().filter(named).take(NAMED).collect();
    for (_, spec) in search::rank(query, among, |spec| vec![spec.name, spec.description]) {
        if found.len() >= at_most {
            break;
        }
        if !found.iter().any(|other| other.id == spec.id) {
            found.push(spec);
        }
    }
    found
}

pub(crate) fn runs_alone(spec: &BlockSpec) -> bool {
    !spec.kind.is_graph_only() && !COORDINATING.contains(&spec.id)
}

/// The response for inputs that do not match the schema; `None` when they do.
pub(crate) fn input_problems(spec: &BlockSpec, input: &Map<String, Value>) -> Option<ToolResponse> {
    let unknown = |name: &&String| !spec.takes_any_input() && spec.input(name).is_none();
    let unknown: Vec<String> = input.keys().filter(unknown).cloned().collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        let message = format!("Unknown inputs for {}: {names}. Nothing was run.", spec.name);
        return Some(invalid(spec, message, unknown));
    }
    let missing: Vec<&str> = spec.required().filter(|name| !input.contains_key(*name)).collect();
    if !missing.is_empty() {
        let names = missing.join(", ");
        let message = format!("{} needs these inputs: {names}. Call again with them.", spec.name);
        return Some(details(spec, message));
    }
    let faults = faults(spec, input);
    (!faults.is_empty()).then(|| {
        let faults = faults.join("; ");
        invalid(spec, format!("Invalid inputs: {faults}. Nothing was run."), Vec::new())
    })
}

fn faults(spec: &BlockSpec, input: &Map<String, Value>) -> Vec<String> {
    let schema = match jsonschema::validator_for(&spec.inputs) {
        Ok(schema) => schema,
        // The tests of the blocks compile every schema, so this does not happen; an invalid schema checks nothing.
        Err(_) => return Vec::new(),
    };
    let input = Value::Object(input.clone());
    let fault = |fault: jsonschema::ValidationError<'_>| {
        let path = fault.instance_path().to_string();
        cut_end(&format!("{}: {fault}", path.trim_start_matches('/')), FAULT_CHARS)
    };
    schema.iter_errors(&input).take(FAULTS).map(fault).collect()
}

pub(crate) fn details(spec: &BlockSpec, message: String) -> ToolResponse {
    let block = BlockDetails {
        id: spec.id.into(),
        name: spec.name.into(),
        description: spec.description.into(),
        inputs: spec.inputs.clone(),
        outputs: spec.outputs.clone(),
    };
    ToolResponse::new(message, ResponseBody::BlockDetails { block, user_authenticated: true })
}

fn invalid(spec: &BlockSpec, message: String, unrecognized_fields: Vec<String>) -> ToolResponse {
    ToolResponse::new(
        message,
        ResponseBody::InputValidationError {
            unrecognized_fields,
            inputs: spec.inputs.clone(),
            graph_id: None,
            graph_version: None,
        },
    )
}
