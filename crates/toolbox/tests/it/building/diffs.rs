//! Differences of every agent and its randomly edited versions.

use graphs::compile::{CompileContext, compile};
use graphs::decompile::decompile;
use graphs::diff::{diff, reversed, to_text};
use graphs::edit::apply;
use graphs::meaning::meaning;
use proptest::prelude::*;
use protocol::GraphId;

use super::edits::{config, scripts, world};

#[test]
fn agents_with_the_same_meaning_have_no_difference() {
    let world = world();
    for (name, graph, known) in &world.agents {
        let id = GraphId::from("other");
        let context =
            CompileContext { blocks: &world.blocks, agents: known, id: &id, previous: None };
        let same = compile(&decompile(graph, &world.blocks), context).graph;
        let found = diff(graph, &same, &world.blocks);
        assert!(found.is_empty(), "{name}\n{}", to_text(&found));
    }
}

#[test]
fn a_difference_is_the_reverse_of_the_one_in_the_other_direction() {
    let world = world();
    let indexes = 0..world.agents.len();
    proptest!(config(), |(at in indexes, choices in scripts())| {
        let (name, graph, known) = &world.agents[at];
        let (script, _) = world.script(at, &choices);
        let Ok(edited) = apply(graph, &script, &world.blocks, known) else { return Ok(()) };
        let there = diff(graph, &edited.graph, &world.blocks);
        let back = diff(&edited.graph, graph, &world.blocks);
        prop_assert_eq!(reversed(there.clone()), back, "{}\n{:#?}", name, script);
        let is_same = meaning(graph, &world.blocks) == meaning(&edited.graph, &world.blocks);
        prop_assert!(!is_same || there.is_empty(), "{}\n{:#?}\n{}", name, script, to_text(&there));
    });
}
