//! Finds an agent by the name or id that the user typed.

use protocol::GraphId;
use protocol::library::LibraryAgent;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cli::client::{ApiClient, ClientError};

/// The maximum page size of the server.
const PAGE_SIZE: &str = "100";
/// Maximum number of suggested names.
const SUGGESTIONS: usize = 5;

#[derive(Deserialize)]
struct AgentPage<T> {
    agents: Vec<T>,
}

/// All agents of the library, or those that match the words.
pub(crate) async fn library(
    client: &ApiClient,
    words: Option<&str>,
) -> Result<Vec<LibraryAgent>, ClientError> {
    every_page(client, &["library", "agents"], words.map(|words| ("search_term", words))).await
}

/// All pages of a list of agents.
pub(crate) async fn every_page<T: DeserializeOwned>(
    client: &ApiClient,
    path: &[&str],
    search: Option<(&str, &str)>,
) -> Result<Vec<T>, ClientError> {
    let mut all = Vec::new();
    for page in 1.. {
        let page: String = u32::to_string(&page);
        let mut query = vec![("page", page.as_str()), ("page_size", PAGE_SIZE)];
        query.extend(search);
        let AgentPage { agents } = client.fetch(client.get_with(path, &query)).await?;
        if agents.is_empty() {
            break;
        }
        all.extend(agents);
    }
    Ok(all)
}

/// The agent with this id or name.
pub(crate) async fn graph_id(client: &ApiClient, name: &str) -> Result<GraphId, ClientError> {
    match choose(&library(client, None).await?, name) {
        AgentMatch::One(id) => return Ok(id),
        AgentMatch::Several(ids) => {
            return Err(refused(format!(
                "Several agents are named “{name}”. Use one of these ids: {}.",
                ids.join(", ")
            )));
        }
        AgentMatch::None => {}
    }
    // An agent outside the library can still be visible.
    if uuid::Uuid::try_parse(name).is_ok() {
        return Ok(name.into());
    }
    let similar = library(client, Some(name)).await?;
    let names: Vec<&str> = similar.iter().map(|agent| agent.name.as_str()).collect();
    Err(refused(match names.as_slice() {
        [] => format!("No agent named “{name}” in your library."),
        names => format!(
            "No agent named “{name}” in your library. Did you mean: {}?",
            names[..names.len().min(SUGGESTIONS)].join(", ")
        ),
    }))
}

#[derive(Debug, PartialEq, Eq)]
enum AgentMatch {
    One(GraphId),
    Several(Vec<String>),
    None,
}

fn choose(agents: &[LibraryAgent], name: &str) -> AgentMatch {
    let by_id =
        |agent: &&LibraryAgent| agent.id.as_str() == name || agent.graph_id.as_str() == name;
    if let Some(agent) = agents.iter().find(by_id) {
        return AgentMatch::One(agent.graph_id.clone());
    }
    let wanted = name.to_lowercase();
    let by_name = |agent: &&LibraryAgent| agent.name.to_lowercase() == wanted;
    let found: Vec<&LibraryAgent> = agents.iter().filter(by_name).collect();
    match found.as_slice() {
        [] => AgentMatch::None,
        [only] => AgentMatch::One(only.graph_id.clone()),
        several => {
            AgentMatch::Several(several.iter().map(|agent| agent.graph_id.0.clone()).collect())
        }
    }
}

fn refused(detail: String) -> ClientError {
    ClientError::Refused { status: 404, detail, body: serde_json::Value::Null }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(id: &str, name: &str) -> LibraryAgent {
        let agent = json!({
            "id": format!("entry-{id}"), "graph_id": id, "graph_version": 1, "name": name,
            "description": "", "is_favorite": false, "is_created_by_user": true,
            "is_hidden": false, "use_graph_is_active_version": true, "settings": {},
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(agent).expect("an agent")
    }

    #[test]
    fn an_agent_is_found_by_its_ids_or_by_a_unique_name() {
        let agents = [agent("g1", "Mail"), agent("g2", "mail"), agent("g3", "Feed")];
        for name in ["g3", "entry-g3", "feed", "Feed"] {
            assert_eq!(choose(&agents, name), AgentMatch::One("g3".into()), "{name}");
        }
        let both = AgentMatch::Several(vec!["g1".to_owned(), "g2".to_owned()]);
        assert_eq!(choose(&agents, "MAIL"), both);
        assert_eq!(choose(&agents, "Fee"), AgentMatch::None);
    }
}
