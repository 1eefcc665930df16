//! The mutation score of the validation: every known good agent is broken in every way that an operator knows, and each
//! fault must be reported with the right code at the right place. `docs/building-quality.md` shows the score.

mod mutant;
mod operators;

use std::fmt::Write;
use std::path::Path;

use graphs::catalog::AgentInterface;
use graphs::validate::check;
use protocol::graph::Graph;

use self::mutant::{Agent, Mutant, Verdict};
use super::{AllBlocks, agents, all_blocks, inner_agents};

/// What measures the other half of building: whether the generator writes the right agent.
const FROM_WORDS: &str = "\
## Agents from words

`pilothouse eval DIR` measures the generator that makes agents from words. DIR has tasks, a YAML file each: a goal, the \
answer if the generator asks, and what is expected: the state, the blocks that the agent must use, outputs for given \
inputs, or that the goal is refused. Each agent goes through the real stages, with repairs, on a server that the command \
starts for itself. The score is pass@1 and, with `--attempts K`, pass@K, with tokens and time. A failure is one of \
*builder* (the generator made the wrong thing, and it shows), *service* (the generator or its model did not work) and \
*verification gap* (the stages call the agent ready, but its outputs are wrong). Without `--live` the offline generator \
does the tasks, and `examples/eval` passes at 100 %; a test runs it. With `--live` the configured model or service does \
them; names of inputs and outputs belong into the goal then, because a model chooses them freely. Exits with 0 if every \
task passes.";
/// If set to any value, the test rewrites the page instead of comparing.
const WRITE: &str = "WRITE_TABLE";

struct GoodAgent {
    name: String,
    graph: Graph,
    known: Vec<AgentInterface>,
}

/// The agents without errors, and how many of them raise a warning.
fn good_agents(blocks: &AllBlocks) -> (Vec<GoodAgent>, usize) {
    let mut good = Vec::new();
    let mut alarms = 0;
    for (name, graph) in agents() {
        let known = inner_agents(&graph, blocks);
        let report = check(&graph, blocks, Some(&known));
        if report.is_valid() {
            alarms += report.warnings.len();
            good.push(GoodAgent { name, graph, known });
        }
    }
    (good, alarms)
}

/// All mutants, with the agents that are known to each.
pub(crate) fn mutants(blocks: &AllBlocks) -> Vec<(Vec<AgentInterface>, Mutant)> {
    let mut all = Vec::new();
    for GoodAgent { graph, known, .. } in good_agents(blocks).0 {
        let agent = Agent { graph, blocks };
        for (_, mutate) in operators::ALL {
            all.extend(mutate(&agent).into_iter().map(|mutant| (known.clone(), mutant)));
        }
    }
    all
}

#[derive(Default)]
struct OperatorScore {
    mutants: usize,
    stay_valid: usize,
    faults: usize,
    caught: usize,
}

#[test]
fn every_fault_that_an_operator_plants_is_reported_at_its_place() {
    let blocks = all_blocks();
    let (good, alarms) = good_agents(&blocks);
    assert!(good.len() >= 10, "{}", good.len());
    let mut missed = Vec::new();
    let mut rows = Vec::new();
    for (operator, mutate) in operators::ALL {
        let mut score = OperatorScore::default();
        for GoodAgent { name, graph, known } in &good {
            let agent = Agent { graph: graph.clone(), blocks: &blocks };
            for mutant in mutate(&agent) {
                let report = check(&mutant.graph, &blocks, Some(known));
                score.mutants += 1;
                let place = format!("{operator}, {name}, {}", mutant.change);
                match &mutant.verdict {
                    Verdict::StaysValid => {
                        score.stay_valid += 1;
                        assert_eq!(report.errors, [], "{place} is a false alarm");
                    }
                    Verdict::Fault(expected) => {
                        score.faults += 1;
                        score.caught += usize::from(mutant.is_caught(&report));
                        if !mutant.is_caught(&report) {
                            let wanted = expected.iter().map(|one| (one.code, &one.path));
                            let found = report.problems().map(|one| (&one.code, &one.path));
                            missed.push(format!(
                                "{place}: {:?}, not {:?}",
                                wanted.collect::<Vec<_>>(),
                                found.collect::<Vec<_>>()
                            ));
                        }
                    }
                }
            }
        }
        assert!(score.faults > 0, "{operator} plants no fault");
        rows.push((operator, score));
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
    assert_eq!(alarms, 0, "false alarms on good agents");
    assert_page(&page(good.len(), alarms, &rows));
}

fn page(agents: usize, alarms: usize, rows: &[(&str, OperatorScore)]) -> String {
    let mut page = format!(
        "# Quality of the validation\n\n\
         How reliably mistakes in agents are found before they run. The test suite takes every known good agent \
         ({agents}: the examples, and files that other installations exported), plants one fault at a time, and expects \
         it to be reported with the right code at the right place of the agent spec. A change after which nothing is wrong, \
         such as dropping one of two links to a pin, counts as *stays valid*: the agent may do something else, but it \
         must not be reported as an error.\n\n\
         | operator | changes | stays valid | faults | caught |\n|---|---:|---:|---:|---:|\n"
    );
    let mut total = OperatorScore::default();
    for (operator, score) in rows {
        let OperatorScore { mutants, stay_valid, faults, caught } = score;
        let _ = writeln!(page, "| {operator} | {mutants} | {stay_valid} | {faults} | {caught} |");
        total.mutants += mutants;
        total.stay_valid += stay_valid;
        total.faults += faults;
        total.caught += caught;
    }
    let OperatorScore { mutants, stay_valid, faults, caught } = total;
    let percent = caught * 100 / faults.max(1);
    let _ = writeln!(
        page,
        "| **all** | **{mutants}** | **{stay_valid}** | **{faults}** | **{caught} ({percent} %)** |\n\n\
         False alarms on the good agents themselves, errors and warnings: {alarms}.\n\n\
         Written by `{WRITE}=1 cargo nextest run -p pilothouse-toolbox mutations`; the test fails while this page is \
         out of date.\n\n\
         {FROM_WORDS}"
    );
    page
}

#[expect(clippy::disallowed_methods, reason = "a test is told by its environment what to do")]
fn assert_page(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/building-quality.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, page).expect("the file can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/building-quality.md is out of date: write it with {WRITE}=1.\n{page}"
    );
}
