//! `ListLibraryAgentsBlock`: lists the agents of the user's library, in pages.

use ports::Library;
use protocol::library::LibraryAgent;

use crate::blocks::prelude::*;
use crate::search;

#[derive(Deserialize, JsonSchema)]
struct ListLibraryAgentsInput {
    /// Words to search for. Leave empty to list all agents.
    #[serde(default)]
    search_query: Option<String>,
    /// The number of agents per page.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// The page number, starting at 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    page: usize,
}

fn fifty() -> usize {
    50
}

fn one() -> usize {
    1
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "082602d3-a74d-4600-9e9c-15b3af7eae98",
        "ListLibraryAgentsBlock",
        "Lists the agents in your library, optionally filtered by a search.",
    )
    .categories(&[BlockCategory::Basic, BlockCategory::Data])
    .outputs([
        pin::list("agents", "The agents on this page."),
        pin::object("agent", "Each agent, emitted one at a time: its IDs, name and description."),
        pin::integer("total_count", "The total number of agents found."),
        pin::integer("page", "The page number."),
        pin::integer("total_pages", "The total number of pages."),
    ]);
    let examples = vec![BlockExample::exactly(
        json!({ "search_query": "zzyzx qwxyzzk" }),
        vec![
            ("agents", json!([])),
            ("total_count", json!(0)),
            ("page", json!(1)),
            ("total_pages", json!(0)),
        ],
    )];
    vec![block(spec, examples, ListLibraryAgents { library: dependencies.library.clone() })]
}

struct ListLibraryAgents {
    library: Arc<dyn Library>,
}

#[async_trait]
impl TypedBlock for ListLibraryAgents {
    type Input = ListLibraryAgentsInput;

    async fn run(
        &self,
        input: ListLibraryAgentsInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let all = self.library.list(&context.user).await?;
        let visible = all.into_iter().filter(|agent| !agent.is_hidden);
        let query = input.search_query.as_deref().unwrap_or_default();
        let found = search::rank(query, visible, |agent| vec![&agent.name, &agent.description]);
        let (size, page) = (input.limit.clamp(1, 100), input.page.max(1));
        let first = (page - 1).saturating_mul(size);
        let agents: Vec<Value> =
            found.iter().skip(first).take(size).map(|(_, agent)| agent_json(agent)).collect();
        out.emit("agents", Value::Array(agents.clone())).await?;
        out.emit("total_count", json!(found.len())).await?;
        out.emit("page", json!(page)).await?;
        out.emit("total_pages", json!(found.len().div_ceil(size))).await?;
        for agent in agents {
            out.emit("agent", agent).await?;
        }
        Ok(())
    }
}

fn agent_json(agent: &LibraryAgent) -> Value {
    json!({
        "library_agent_id": agent.id,
        "agent_id": agent.graph_id,
        "agent_version": agent.graph_version,
        "agent_name": agent.name,
        "description": agent.description,
        "creator": agent.creator.as_deref().unwrap_or_default(),
        "is_archived": false,
        "categories": [],
    })
}
