//! What is wrong with a graph, as an answer: as a list, and by node as forms show it.

use protocol::graph::GraphProblem;
use protocol::problem::ProblemCode;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;

/// The body of `INVALID_GRAPH`.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "it only describes what `invalid_graph` writes")]
pub(crate) struct InvalidGraphBody {
    /// A sentence for a person.
    detail: String,
    /// `INVALID_GRAPH`
    code: String,
    /// By node id: a code and what is wrong.
    #[schema(value_type = Object)]
    node_errors: Value,
    errors: Vec<GraphProblem>,
}

pub(crate) fn invalid_graph(problems: &[GraphProblem]) -> Problem {
    let detail = match problems {
        [only] => format!("The agent cannot run: {}", only.message),
        [first, ..] => format!(
            "The agent cannot run for {} reasons. The first one: {}",
            problems.len(),
            first.message
        ),
        [] => "The agent cannot run.".to_owned(),
    };
    Problem::new(ProblemCode::InvalidGraph, detail)
        .with("node_errors", by_node(problems))
        .with("errors", json!(problems))
}

/// Several problems of one node and kind share their place, a line each.
fn by_node(problems: &[GraphProblem]) -> Map<String, Value> {
    let mut nodes = Map::new();
    for problem in problems {
        let Some(node) = &problem.node_id else { continue };
        let of_node = nodes.entry(node.as_str()).or_insert_with(|| json!({}));
        let said = &mut of_node[problem.code.as_str()];
        *said = match said.as_str() {
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
            link_id: None,
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn nothing_that_is_wrong_with_a_node_is_lost() {
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
