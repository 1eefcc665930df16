//! An agent on the command line: a file, or the name or id of a stored agent with an optional version.

use std::path::Path;

use serde_json::{Value, json};

use super::agent_file::{AgentFile, STANDARD_INPUT};
use super::graph_id;
use crate::cli::client::{ApiClient, ClientError};

/// Endings of names that are files, even if there is no such file.
const FILE_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The agent, as the routes for documents take it.
pub(crate) async fn body(
    client: &ApiClient,
    argument: &str,
) -> anyhow::Result<Result<Value, ClientError>> {
    if is_file(argument) {
        return Ok(Ok(AgentFile::read(argument)?.body()));
    }
    Ok(stored(client, argument).await)
}

fn is_file(argument: &str) -> bool {
    let path = Path::new(argument);
    let ending = path.extension().and_then(|ending| ending.to_str());
    argument == STANDARD_INPUT
        || ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending))
        || path.is_file()
}

async fn stored(client: &ApiClient, argument: &str) -> Result<Value, ClientError> {
    let Some((name, version)) = with_version(argument) else {
        return Ok(json!({"graph_id": graph_id(client, argument).await?}));
    };
    match graph_id(client, name).await {
        Ok(id) => Ok(json!({"graph_id": id, "graph_version": version})),
        // The name itself may end like a version.
        Err(missing) => match graph_id(client, argument).await {
            Ok(id) => Ok(json!({"graph_id": id})),
            Err(_) => Err(missing),
        },
    }
}

/// `name@version`
fn with_version(argument: &str) -> Option<(&str, u32)> {
    let (name, version) = argument.rsplit_once('@')?;
    Some((name, version.parse().ok()?)).filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_follows_the_last_at_sign() {
        assert_eq!(with_version("Morning tides@3"), Some(("Morning tides", 3)));
        assert_eq!(with_version("a@b@2"), Some(("a@b", 2)));
        for name in ["Morning tides", "me@example.com", "@3", "tides@"] {
            assert_eq!(with_version(name), None, "{name}");
        }
    }

    #[test]
    fn files_are_known_by_their_ending() {
        assert!(is_file("no-such-file.yaml") && is_file("a/b.json") && is_file("-"));
        assert!(!is_file("Morning tides") && !is_file("6b9bb2f6-535a-4e07-b6df-fce8112d9d11"));
    }
}
