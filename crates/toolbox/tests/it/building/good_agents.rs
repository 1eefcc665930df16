//! Agents that work raise no alarms.

use graphs::validate::check;

use super::{agents, all_blocks, inner_agents};

#[test]
fn an_agent_that_works_has_no_errors_and_no_warnings() {
    let blocks = all_blocks();
    for (name, graph) in agents() {
        let known = inner_agents(&graph, &blocks);
        let report = check(&graph, &blocks, Some(&known));
        let mut unexpected: Vec<_> = report.problems().collect();
        // The one file that needs blocks of another installation.
        if name == "berth-price-watch.json" {
            unexpected.retain(|problem| problem.code != "unknown_block");
            assert_eq!(report.needs.blocks.len(), 2, "{:?}", report.needs);
        }
        assert!(unexpected.is_empty(), "{name}: {unexpected:#?}");
    }
}
