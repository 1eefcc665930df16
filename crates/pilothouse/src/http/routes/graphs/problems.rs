//! The error response for an invalid graph: as a list, and by node for forms.

use protocol::graph::GraphProblem;
use protocol::problem::ProblemCode;
use serde_json::{Map, Value, json};

use crate::http::problem::ApiProblem;

/// The body of `INVALID_GRAPH`.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the body that `invalid_graph` writes")]
pub(crate) struct InvalidGraphBody {
    /// A sentence for a person.
    detail: String,
    /// `INVALID_GRAPH`
    code: String,
    /// By node id: problem codes with their messages.
    #[schema(value_type = Object)]
    node_errors: Value,
    errors: Vec<GraphProblem>,
}

pub(crate) fn invalid_graph(problems: &[GraphProblem]) -> ApiProblem {
    let detail = match problems {
        [only] => format!("This agent can't run: {}", only.message),
        [first, ..] => {
            format!("This agent has {} problems. The first one: {}", problems.len(), first.message)
        }
        [] => "This agent can't run.".to_owned(),
    };
    ApiProblem::new(ProblemCode::InvalidGraph, detail)
        .with("node_errors", by_node(problems))
        .with("errors", json!(problems))
}

/// Several problems with the same node and code become one entry, a line each.
fn by_node(problems: &[GraphProblem]) -> Map<String, Value> {
    let mut nodes = Map::new();
    for problem in problems {
        let Some(node) = &problem.node_id else { continue };
        let of_node = nodes.entry(node.as_str()).or_insert_with(|| json!({}));
        let entry = &mut of_node[problem.code.as_str()];
        *entry = match entry.as_str() {
            Some(before) => Value::from(format!("{before}\n{}", problem.message)),
            None => Value::from(problem.message.as_str()),
        };
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(node: Option<&str>, code: &str, message: &str) -> GraphProblem {
        GraphProblem {
            node_id: node.map(Into::into),
            code: code.to_owned(),
            message: message.to_owned(),
            ..GraphProblem::default()
        }
    }

    #[test]
    fn all_problems_of_a_node_are_reported() {
        let problems = [
            problem(Some("a"), "missing_input", "one"),
            problem(Some("a"), "missing_input", "two"),
            problem(Some("a"), "unknown_block", "three"),
            problem(None, "empty_graph", "four"),
        ];
        let nodes = Value::Object(by_node(&problems));
        let expected = json!({"a": {"missing_input": "one\ntwo", "unknown_block": "three"}});
        assert_eq!(nodes, expected);
    }
}
