//! Blocks that work with other agents, with the copilot and with people.

mod add_to_library;
mod autopilot;
mod executor;
mod human;
mod library_agents;
mod store_details;
mod store_search;

use std::sync::Arc;

use ports::Block;

use super::Parts;

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(add_to_library::AddToLibraryFromStore::new(parts)),
        Arc::new(autopilot::AutoPilot::new()),
        Arc::new(executor::AgentExecutor::new()),
        Arc::new(human::HumanInTheLoop::new()),
        Arc::new(library_agents::ListLibraryAgents::new(parts)),
        Arc::new(store_details::GetStoreAgentDetails::new(parts)),
        Arc::new(store_search::SearchStoreAgents::new(parts)),
    ]
}
