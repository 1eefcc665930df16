//! A file with ten planted faults, and what the repair makes of broken agents.

use std::path::Path;

use graphs::fix::fix;
use graphs::meaning::meaning;
use graphs::validate::{check, validate};
use protocol::graph::Graph;

use super::mutations::mutants;
use super::{agents, all_blocks, inner_agents};

/// The planted faults: code and place.
const TEN_FAULTS: [(&str, &str); 10] = [
    ("duplicate_input", "inputs.harbor"),
    ("missing_input", "steps.sum.b"),
    ("wrong_input", "steps.scale.operation"),
    ("unknown_block", "steps.mystery.block"),
    ("unknown_output", "steps.rounds.a"),
    ("unknown_input", "steps.level.weather"),
    ("type_mismatch", "steps.height.a"),
    ("missing_node", "steps.note.values.x"),
    ("endless_cycle", "steps.again"),
    ("unknown_agent", "steps.helper.agent"),
];

fn ten_faults() -> Graph {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents-faulty/ten-faults.json");
    let text = std::fs::read_to_string(path).expect("the file");
    serde_json::from_str(&text).expect("a graph")
}

#[test]
fn an_agent_file_with_ten_planted_faults_is_refused_with_ten_precise_codes() {
    let (blocks, graph) = (all_blocks(), ten_faults());
    let known = Vec::new();
    let report = check(&graph, &blocks, Some(&known));
    let found: Vec<(&str, &str)> = report
        .problems()
        .map(|problem| (problem.code.as_str(), problem.path.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(found, TEN_FAULTS);
    assert!(report.warnings.is_empty() && !report.is_valid());
    assert!(report.errors.iter().all(|problem| problem.node_id.is_some()));
    assert_eq!(validate(&graph, &blocks).len(), 8, "two of them do not keep it from starting");
}

#[test]
fn what_has_one_repair_is_repaired_and_the_rest_is_left() {
    let (blocks, graph) = (all_blocks(), ten_faults());
    let known = Vec::new();
    let fixed = fix(&graph, &blocks, Some(&known));
    let mut repaired: Vec<&str> = fixed.fixes.iter().map(|fix| fix.code.as_str()).collect();
    repaired.sort_unstable();
    assert_eq!(repaired, ["missing_node", "type_mismatch", "unknown_output"]);
    assert_eq!(fixed.remaining.errors.len(), 7, "{:#?}", fixed.remaining);
}

#[test]
fn an_agent_that_works_is_not_repaired() {
    let blocks = all_blocks();
    for (name, graph) in agents() {
        let known = inner_agents(&graph, &blocks);
        let fixed = fix(&graph, &blocks, Some(&known));
        assert_eq!(fixed.fixes, [], "{name}");
        let bytes = |graph: &Graph| serde_json::to_string(graph).expect("JSON");
        assert_eq!(bytes(&fixed.graph), bytes(&graph), "{name}");
    }
}

#[test]
fn a_broken_agent_is_repaired_once_and_for_all() {
    let blocks = all_blocks();
    let mut count = 0;
    for (known, mutant) in mutants(&blocks) {
        let once = fix(&mutant.graph, &blocks, Some(&known));
        let twice = fix(&once.graph, &blocks, Some(&known));
        assert_eq!(twice.fixes, [], "{}", mutant.change);
        assert_eq!(twice.graph, once.graph, "{}", mutant.change);
        let still = |fix: &graphs::fix::AppliedFix| {
            let is_it = |problem: &&protocol::graph::GraphProblem| {
                problem.code == fix.code && problem.path == fix.path
            };
            fix.path.is_some() && once.remaining.problems().any(|problem| is_it(&problem))
        };
        assert!(!once.fixes.iter().any(still), "{}: {:#?}", mutant.change, once.remaining);
        let before = check(&mutant.graph, &blocks, Some(&known));
        let changes_nothing = |fix: &graphs::fix::AppliedFix| {
            ["agent_changed", "duplicate_link", "is_static", "position"]
                .contains(&fix.code.as_str())
        };
        // Secrets that no block reads are settings all the same.
        if before.is_valid() && once.fixes.iter().all(changes_nothing) {
            let meant = meaning(&mutant.graph, &blocks);
            assert_eq!(meaning(&once.graph, &blocks), meant, "{}", mutant.change);
        } else if before.is_valid() {
            assert!(once.fixes.iter().all(|fix| fix.code == "secret_in_default"));
        }
        count += usize::from(!once.fixes.is_empty());
    }
    assert!(count > 300, "{count} mutants were repaired");
}
