//! Reads the text of a spec. JSON is YAML, so one reader serves both.

use protocol::graph::GraphProblem;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

use super::{AgentSpec, MAX_SPEC_BYTES, read};
use crate::problem::ProblemCode;

/// How deep lists and objects may be nested.
const MAX_DEPTH: usize = 64;

/// Reads YAML or JSON. People paste documents from anywhere, so size, depth and aliases are limited.
pub fn parse(text: &str) -> Result<AgentSpec, Vec<GraphProblem>> {
    if text.len() > MAX_SPEC_BYTES {
        let message =
            format!("The spec has {} bytes; at most {MAX_SPEC_BYTES} are allowed.", text.len());
        return Err(vec![ProblemCode::TooLarge.of_graph(message)]);
    }
    let budget = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_documents: 1,
        // A spec has no use for anchors: expanding them is how a small text becomes a large one.
        max_aliases: 0,
        max_anchors: 0,
        max_merge_keys: 0,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = protocol::text::cut_end(&error.to_string(), 300);
        vec![ProblemCode::InvalidSpec.of_graph(format!("The spec is not valid YAML: {message}"))]
    })?;
    read(&value)
}
