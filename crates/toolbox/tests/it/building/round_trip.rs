//! A graph written as a spec and compiled again has the same meaning.

use graphs::compile::{CompileContext, compile};
use graphs::decompile::decompile;
use graphs::meaning::meaning;
use graphs::spec;
use protocol::GraphId;

use super::{agents, all_blocks, inner_agents};

#[test]
fn every_agent_keeps_its_meaning_as_a_spec() {
    let blocks = all_blocks();
    for (name, graph) in agents() {
        let known = inner_agents(&graph, &blocks);
        let text = spec::to_yaml(&decompile(&graph, &blocks));
        let read = spec::parse(&text).unwrap_or_else(|why| panic!("{name}: {why:?}\n{text}"));
        let id = GraphId::from("new");
        let context = CompileContext { blocks: &blocks, agents: &known, id: &id, previous: None };
        let compiled = compile(&read, context);
        assert_eq!(compiled.problems, [], "{name}\n{text}");
        assert_eq!(meaning(&compiled.graph, &blocks), meaning(&graph, &blocks), "{name}\n{text}");
    }
}

#[test]
fn the_same_spec_compiles_to_the_same_bytes() {
    let blocks = all_blocks();
    for (name, graph) in agents() {
        let known = inner_agents(&graph, &blocks);
        let read = decompile(&graph, &blocks);
        let bytes = || {
            let context =
                CompileContext { blocks: &blocks, agents: &known, id: &graph.id, previous: None };
            serde_json::to_string(&compile(&read, context).graph).expect("JSON")
        };
        assert_eq!(bytes(), bytes(), "{name}");
    }
}

#[test]
fn an_agent_compiled_on_its_earlier_version_keeps_its_ids_and_positions() {
    let blocks = all_blocks();
    for (name, graph) in agents() {
        let known = inner_agents(&graph, &blocks);
        let context = CompileContext {
            blocks: &blocks,
            agents: &known,
            id: &graph.id,
            previous: Some(&graph),
        };
        let compiled = compile(&decompile(&graph, &blocks), context).graph;
        for node in &graph.nodes {
            let kept = compiled.nodes.iter().find(|kept| kept.id == node.id).expect(&name);
            assert_eq!(kept.metadata.get("position"), node.metadata.get("position"), "{name}");
        }
    }
}
