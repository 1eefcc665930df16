//! The codes of problems, and how a problem is put together.

use protocol::graph::{GraphProblem, Link, Node};
use protocol::graph_edit::GraphEdit;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Kinds of problems, with names that are stable for clients.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ProblemCode {
            $($(#[$doc])* $name,)*
        }

        impl ProblemCode {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

codes! {
    // Of graphs and specs.
    Empty = "empty_graph",
    TooLarge = "too_large",
    DuplicateNode = "duplicate_node",
    DuplicateLink = "duplicate_link",
    DuplicateInput = "duplicate_input",
    DuplicateOutput = "duplicate_output",
    UnknownBlock = "unknown_block",
    MissingInput = "missing_input",
    MissingAgent = "missing_agent",
    UnknownAgent = "unknown_agent",
    AgentChanged = "agent_changed",
    WrongInput = "wrong_input",
    MissingNode = "missing_node",
    UnknownOutput = "unknown_output",
    UnknownInput = "unknown_input",
    WrongType = "type_mismatch",
    DeadCycle = "dead_cycle",
    EndlessCycle = "endless_cycle",
    Unreachable = "unreachable_step",
    UnfilledOutput = "unfilled_output",
    UnfilledPlaceholder = "unfilled_placeholder",
    UnusedStep = "unused_step",
    UnusedInput = "unused_input",
    SecretInDefault = "secret_in_default",
    TooManySubGraphs = "too_many_sub_graphs",
    IdTaken = "id_taken",
    // Of the text of a spec.
    InvalidSpec = "invalid_spec",
    InvalidName = "invalid_name",
    DuplicateName = "duplicate_name",
    UnknownReference = "unknown_reference",
    UnknownStep = "unknown_step",
    UnknownType = "unknown_type",
    // Of edits.
    InvalidEdit = "invalid_edit",
}

impl ProblemCode {
    pub fn of_graph(self, message: impl Into<String>) -> GraphProblem {
        GraphProblem {
            code: self.as_str().to_owned(),
            message: message.into(),
            ..GraphProblem::default()
        }
    }

    pub fn of_node(self, node: &Node, message: impl Into<String>) -> GraphProblem {
        GraphProblem { node_id: Some(node.id.clone()), ..self.of_graph(message) }
    }

    /// Reported at the node the link leads to, where it would be fixed.
    pub fn of_link(self, link: &Link, message: impl Into<String>) -> GraphProblem {
        GraphProblem {
            node_id: Some(link.sink_id.clone()),
            link_id: Some(link.id.clone()),
            ..self.of_graph(message)
        }
    }

    /// A problem at a place of a spec.
    pub fn at(self, path: impl Into<String>, message: impl Into<String>) -> GraphProblem {
        GraphProblem { path: Some(path.into()), ..self.of_graph(message) }
    }
}

/// Adds what a reader needs to repair a problem.
pub trait ProblemDetails {
    fn expected(self, expected: impl Into<String>) -> Self;
    fn got(self, got: impl Into<String>) -> Self;
    fn repaired_by(self, edit: GraphEdit) -> Self;
}

impl ProblemDetails for GraphProblem {
    fn expected(self, expected: impl Into<String>) -> Self {
        Self { expected: Some(expected.into()), ..self }
    }

    fn got(self, got: impl Into<String>) -> Self {
        Self { got: Some(got.into()), ..self }
    }

    fn repaired_by(self, edit: GraphEdit) -> Self {
        Self { edit: Some(edit), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::ProblemCode;

    #[test]
    fn codes_are_unique() {
        let codes: HashSet<&str> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), ProblemCode::ALL.len());
    }
}
