//! Finding an agent by what a person calls it.

use protocol::GraphId;
use protocol::library::LibraryAgent;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::client::{Client, Failure};

/// The most that the server gives at once.
const PAGE_SIZE: &str = "100";
/// Names that are suggested.
const SUGGESTIONS: usize = 5;

#[derive(Deserialize)]
struct Page<T> {
    agents: Vec<T>,
}

/// All agents of the library, or those that have to do with the words.
pub(super) async fn library(
    client: &Client,
    words: Option<&str>,
) -> Result<Vec<LibraryAgent>, Failure> {
    every_page(client, &["library", "agents"], words.map(|words| ("search_term", words))).await
}

/// All that a list of agents has, page by page.
pub(super) async fn every_page<T: DeserializeOwned>(
    client: &Client,
    path: &[&str],
    search: Option<(&str, &str)>,
) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    for page in 1.. {
        let page: String = u32::to_string(&page);
        let mut query = vec![("page", page.as_str()), ("page_size", PAGE_SIZE)];
        query.extend(search);
        let Page { agents } = client.answer(client.get_with(path, &query)).await?;
        if agents.is_empty() {
            break;
        }
        all.extend(agents);
    }
    Ok(all)
}

/// The agent that a person means by an id or a name.
pub(in super::super) async fn graph_id(client: &Client, called: &str) -> Result<GraphId, Failure> {
    match choose(&library(client, None).await?, called) {
        Choice::This(id) => return Ok(id),
        Choice::Several(ids) => {
            return Err(refused(format!(
                "Several agents are called “{called}”. Say which one by its id: {}.",
                ids.join(", ")
            )));
        }
        Choice::None => {}
    }
    // It need not be in the library to be seen.
    if uuid::Uuid::try_parse(called).is_ok() {
        return Ok(called.into());
    }
    let similar = library(client, Some(called)).await?;
    let names: Vec<&str> = similar.iter().map(|agent| agent.name.as_str()).collect();
    Err(refused(match names.as_slice() {
        [] => format!("No agent of your library is called “{called}”."),
        names => format!(
            "No agent of your library is called “{called}”. Do you mean: {}?",
            names[..names.len().min(SUGGESTIONS)].join(", ")
        ),
    }))
}

#[derive(Debug, PartialEq, Eq)]
enum Choice {
    This(GraphId),
    Several(Vec<String>),
    None,
}

fn choose(agents: &[LibraryAgent], called: &str) -> Choice {
    let by_id =
        |agent: &&LibraryAgent| agent.id.as_str() == called || agent.graph_id.as_str() == called;
    if let Some(agent) = agents.iter().find(by_id) {
        return Choice::This(agent.graph_id.clone());
    }
    let wanted = called.to_lowercase();
    let by_name = |agent: &&LibraryAgent| agent.name.to_lowercase() == wanted;
    let found: Vec<&LibraryAgent> = agents.iter().filter(by_name).collect();
    match found.as_slice() {
        [] => Choice::None,
        [only] => Choice::This(only.graph_id.clone()),
        several => Choice::Several(several.iter().map(|agent| agent.graph_id.0.clone()).collect()),
    }
}

fn refused(detail: String) -> Failure {
    Failure::Refused { status: 404, detail, body: serde_json::Value::Null }
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
    fn an_agent_is_meant_by_its_ids_or_by_a_name_of_its_own() {
        let agents = [agent("g1", "Mail"), agent("g2", "mail"), agent("g3", "Feed")];
        for called in ["g3", "entry-g3", "feed", "Feed"] {
            assert_eq!(choose(&agents, called), Choice::This("g3".into()), "{called}");
        }
        let both = Choice::Several(vec!["g1".to_owned(), "g2".to_owned()]);
        assert_eq!(choose(&agents, "MAIL"), both);
        assert_eq!(choose(&agents, "Fee"), Choice::None);
    }
}
