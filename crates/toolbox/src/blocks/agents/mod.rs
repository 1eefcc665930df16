//! Blocks that involve other agents, the copilot and human reviewers.

blocks! {
    add_to_library,
    autopilot,
    executor,
    human,
    library_agents,
    store_details,
    store_search,
}
