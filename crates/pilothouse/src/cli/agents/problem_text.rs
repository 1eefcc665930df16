//! Problems of an agent as lines of text.

use std::fmt::Write;
use std::process::ExitCode;

use protocol::graph::GraphProblem;
use serde::Deserialize;

use super::print_error;
use crate::cli::client::{ApiClient, ClientError};
use crate::cli::terminal::note;

/// `steps.page.url: The URL is missing. (missing_input)`, and below it what is expected there.
pub(crate) fn line(problem: &GraphProblem) -> String {
    let node = problem.node_id.as_ref().map(|id| id.as_str());
    let place = problem.path.as_deref().or(node).or(problem.link_id.as_deref());
    let mut text =
        format!("{}: {} ({})\n", place.unwrap_or("agent"), problem.message, problem.code);
    for (what, value) in [("expected", &problem.expected), ("got", &problem.got)] {
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {what}: {value}");
        }
    }
    text
}

pub(crate) fn lines(problems: &[GraphProblem]) -> String {
    problems.iter().map(line).collect()
}

/// `1 error`, `2 errors`
pub(crate) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Prints why a request failed, to standard error: all problems if an agent was refused.
pub(crate) fn print_refusal(client: &ApiClient, failure: &ClientError) -> ExitCode {
    if let ClientError::Refused { body, .. } = failure
        && body["code"] == "INVALID_GRAPH"
        && let Ok(problems) = Vec::<GraphProblem>::deserialize(&body["errors"])
        && !problems.is_empty()
    {
        note(lines(&problems).trim_end());
        note(&count(problems.len(), "error"));
        return ExitCode::FAILURE;
    }
    print_error(client, failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_where_it_is_and_what_would_be_right() {
        let mut problem = GraphProblem {
            code: "unknown_block".to_owned(),
            path: Some("steps.page.block".to_owned()),
            message: "There is no block “Web”.".to_owned(),
            expected: Some("Send Web Request".to_owned()),
            got: Some("Web".to_owned()),
            ..GraphProblem::default()
        };
        let expected = "\
steps.page.block: There is no block “Web”. (unknown_block)
  expected: Send Web Request
  got: Web
";
        assert_eq!(line(&problem), expected);
        problem.path = None;
        assert!(line(&problem).starts_with("agent: There"));
        problem.node_id = Some("n1".into());
        assert!(line(&problem).starts_with("n1: There"));
    }
}
