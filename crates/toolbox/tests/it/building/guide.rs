//! Every spec in the guide compiles, has no problems, and is written back with the same meaning.

use std::path::Path;

use graphs::catalog::AgentInterface;
use graphs::compile::{CompileContext, compile};
use graphs::decompile::decompile;
use graphs::meaning::meaning;
use graphs::schema::{input_schema, output_schema};
use graphs::spec;
use graphs::validate::check;
use protocol::GraphId;

use super::{agents, all_blocks};

const PAGE: &str = "../../docs/guide/building-agents.md";
const FENCE: &str = "```";

/// The YAML code blocks of the page.
fn specs() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(path).expect("the page");
    let blocks = page.split("```yaml\n").skip(1);
    blocks.map(|block| block.split(FENCE).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_spec_of_the_guide_compiles_without_problems() {
    let blocks = all_blocks();
    // The agents that a spec of the guide may run.
    let known: Vec<AgentInterface> = agents()
        .into_iter()
        .map(|(_, graph)| AgentInterface {
            id: graph.id.clone(),
            // An agent that is imported starts with version 1.
            version: 1,
            name: graph.name.clone(),
            input_schema: input_schema(&graph, &blocks),
            output_schema: output_schema(&graph, &blocks),
        })
        .collect();
    let specs = specs();
    assert!(specs.len() >= 8, "{} specs", specs.len());
    for text in specs {
        let read = spec::parse(&text).unwrap_or_else(|why| panic!("{why:#?}\n{text}"));
        let id = GraphId::from("guide");
        let context = CompileContext { blocks: &blocks, agents: &known, id: &id, previous: None };
        let compiled = compile(&read, context);
        assert_eq!(compiled.problems, [], "{text}");
        let report = check(&compiled.graph, &blocks, Some(&known));
        let problems: Vec<_> = report.problems().collect();
        assert!(problems.is_empty(), "{problems:#?}\n{text}");
        let written = compile(&decompile(&compiled.graph, &blocks), context);
        assert_eq!(meaning(&written.graph, &blocks), meaning(&compiled.graph, &blocks), "{text}");
    }
}
