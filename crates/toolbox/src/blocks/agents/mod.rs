//! Blocks that involve other agents, the copilot and human reviewers.

mod add_to_library;
mod autopilot;
mod executor;
mod human;
mod library_agents;
mod store_details;
mod store_search;

use std::sync::Arc;

use ports::Block;

use super::BlockDependencies;

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(add_to_library::AddToLibraryFromStore::new(dependencies)),
        Arc::new(autopilot::AutoPilot::new()),
        Arc::new(executor::AgentExecutor::new()),
        Arc::new(human::HumanInTheLoop::new()),
        Arc::new(library_agents::ListLibraryAgents::new(dependencies)),
        Arc::new(store_details::GetStoreAgentDetails::new(dependencies)),
        Arc::new(store_search::SearchStoreAgents::new(dependencies)),
    ]
}
