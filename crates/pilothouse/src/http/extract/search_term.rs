//! Search terms in queries.

use protocol::limits::SEARCH_CHARS;

use crate::http::problem::{ApiProblem, ApiResult};

/// The term without surrounding space; `None` when there is none. `field` is its name in the query.
pub(crate) fn search_term(field: &str, given: Option<String>) -> ApiResult<Option<String>> {
    let term = given.map(|given| given.trim().to_owned()).filter(|term| !term.is_empty());
    match term.as_ref().map_or(0, |term| term.chars().count()) {
        chars if chars > SEARCH_CHARS => Err(ApiProblem::invalid(format!(
            "{field} has {chars} characters; at most {SEARCH_CHARS} are allowed. Search with a few keywords."
        ))),
        _ => Ok(term),
    }
}
