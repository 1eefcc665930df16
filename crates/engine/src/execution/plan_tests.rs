//! Random graphs of deterministic blocks, executed in random interleavings: every node fires as often as its inputs
//! allow, always with the same inputs in the same order.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use proptest::prelude::*;
use protocol::NodeId;
use protocol::block::BlockSpec;
use protocol::execution::{ExecutionStatus, NodeEvent};
use protocol::graph::{Graph, Link, Node};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use super::plan::ExecutionPlan;
use crate::graph::BlockCatalog;

/// A block that is never run: the tests produce its outputs themselves.
struct TestBlock(BlockSpec);

const NORMAL: &str = "normal";
const STATIC: &str = "static";

fn catalog() -> BlockCatalog {
    let fake = |id: &'static str, static_output: bool| -> Arc<dyn Block> {
        Arc::new(TestBlock(BlockSpec {
            inputs: json!({ "type": "object", "additionalProperties": true }),
            static_output,
            ..BlockSpec::new(id, id, "A block of a test.")
        }))
    };
    BlockCatalog::new(vec![fake(NORMAL, false), fake(STATIC, true)])
}

#[async_trait]
impl Block for TestBlock {
    fn spec(&self) -> &BlockSpec {
        &self.0
    }

    async fn run(
        &self,
        _: Map<String, Value>,
        _: BlockContext,
        _: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        Vec::new()
    }
}

/// A graph, and how many values each run of each node emits.
#[derive(Clone, Debug)]
struct Scene {
    graph: Graph,
    emits: HashMap<NodeId, usize>,
}

/// Up to twelve nodes. Links lead forward, and no two lead to the same pin.
fn scene() -> impl Strategy<Value = Scene> {
    let node =
        (0..4_usize, any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 0..4));
    prop::collection::vec(node, 1..12).prop_map(|drawn| {
        let mut scene = Scene { graph: Graph::default(), emits: HashMap::new() };
        for (at, (emits, is_static_node, sources)) in drawn.into_iter().enumerate() {
            let id = NodeId(format!("n{at}"));
            // A static value is emitted once, by a node without inputs; otherwise its value would depend on timing.
            let sources = if is_static_node || at == 0 { Vec::new() } else { sources };
            let block_id = if is_static_node { STATIC } else { NORMAL }.into();
            let emits = if is_static_node { 1 } else { emits };
            for (pin, source) in sources.iter().enumerate() {
                scene.graph.links.push(Link {
                    id: format!("l{at}-{pin}"),
                    source_id: NodeId(format!("n{}", source.index(at))),
                    sink_id: id.clone(),
                    source_name: "out".to_owned(),
                    sink_name: format!("in{pin}"),
                    is_static: false,
                });
            }
            let (input_default, metadata) = Default::default();
            scene.graph.nodes.push(Node { id: id.clone(), block_id, input_default, metadata });
            scene.emits.insert(id, emits);
        }
        scene
    })
}

/// What an execution did: the inputs of every run of every node, in order, and the journal.
#[derive(Debug, Default, PartialEq)]
struct Trace {
    fired: BTreeMap<NodeId, Vec<Value>>,
    journal: Vec<NodeEvent>,
}

/// Executes the scene. The seed decides what starts and whose outputs are passed on next; the runs of one node keep
/// their order, as in the scheduler.
fn run(scene: &Scene, seed: u64) -> Trace {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut plan = ExecutionPlan::new(&scene.graph, &catalog()).expect("a valid graph");
    plan.seed(&Map::new());
    let mut trace = Trace::default();
    let mut open_runs: BTreeMap<usize, VecDeque<(u64, VecDeque<Value>)>> = BTreeMap::new();
    loop {
        let ready = plan.ready_nodes();
        if ready.is_empty() && open_runs.is_empty() {
            return trace;
        }
        if !ready.is_empty() && (open_runs.is_empty() || rng.random_bool(0.5)) {
            let at = ready[rng.random_range(0..ready.len())];
            let run = plan.start(at).expect("it is ready");
            let node = plan.node(at).id.clone();
            let inputs = Value::Object(plan.inputs(run));
            let outputs = (0..scene.emits[&node]).map(|turn| json!([node, turn, inputs])).collect();
            trace.fired.entry(node).or_default().push(inputs);
            open_runs.entry(at).or_default().push_back((run, outputs));
            continue;
        }
        let at = *open_runs.keys().nth(rng.random_range(0..open_runs.len())).expect("one of them");
        let runs = open_runs.get_mut(&at).expect("it is there");
        let (run, outputs) = runs.front_mut().expect("no runs is empty");
        let mut event = event(*run, &plan.node(at).id);
        match outputs.pop_front() {
            Some(value) => event.outputs.push(("out".to_owned(), Arc::new(value))),
            None => {
                event.status = Some(ExecutionStatus::Completed);
                runs.pop_front();
                if runs.is_empty() {
                    open_runs.remove(&at);
                }
            }
        }
        plan.apply(&event).expect("it fits");
        trace.journal.push(event);
    }
}

fn event(run: u64, node: &NodeId) -> NodeEvent {
    let (outputs, node) = (Vec::new(), node.clone());
    NodeEvent { run, node, outputs, status: None, error: None, decision: None, cost: 0, at: 0 }
}

/// How often every node can fire: as often as its rarest non-static input arrives.
fn allowed(scene: &Scene) -> BTreeMap<NodeId, usize> {
    let is_static_node = |id: &NodeId| {
        scene.graph.nodes.iter().any(|node| node.id == *id && node.block_id.as_str() == STATIC)
    };
    let mut allowed: BTreeMap<NodeId, usize> = BTreeMap::new();
    for node in &scene.graph.nodes {
        let links: Vec<&Link> =
            scene.graph.links.iter().filter(|link| link.sink_id == node.id).collect();
        let comes = |link: &&Link| allowed[&link.source_id] * scene.emits[&link.source_id];
        let non_static =
            links.iter().filter(|link| !is_static_node(&link.source_id)).map(comes).min();
        let times = match (links.is_empty(), non_static) {
            (true, _) => 1,
            (false, Some(times)) => times,
            // Only static values, each emitted once: whatever their order, the last one completes the set.
            (false, None) => 1,
        };
        allowed.insert(node.id.clone(), times);
    }
    allowed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_node_fires_as_often_as_its_inputs_allow(scene in scene(), seed in any::<u64>()) {
        let allowed = allowed(&scene);
        prop_assume!(allowed.values().sum::<usize>() < 5_000);
        let trace = run(&scene, seed);
        for (node, times) in allowed {
            let fired = trace.fired.get(&node).map_or(0, Vec::len);
            prop_assert_eq!(fired, times, "{}", node);
        }
    }

    #[test]
    fn in_any_interleaving_every_node_gets_the_same_inputs_in_the_same_order(
        scene in scene(),
        seeds in any::<[u64; 2]>(),
    ) {
        prop_assume!(allowed(&scene).values().sum::<usize>() < 2_000);
        let [one, other] = seeds.map(|seed| run(&scene, seed).fired);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_journal_replayed_up_to_any_event_leads_to_the_same_end(
        scene in scene(),
        seed in any::<u64>(),
        cut in any::<prop::sample::Index>(),
    ) {
        prop_assume!(allowed(&scene).values().sum::<usize>() < 2_000);
        let whole = run(&scene, seed);
        let cut = cut.index(whole.journal.len() + 1);
        let mut live = ExecutionPlan::new(&scene.graph, &catalog()).expect("a valid graph");
        let mut taken_over = ExecutionPlan::new(&scene.graph, &catalog()).expect("a valid graph");
        for plan in [&mut live, &mut taken_over] {
            plan.seed(&Map::new());
            whole.journal[..cut].iter().for_each(|event| plan.apply(event).expect("it fits"));
        }
        // The rest of the journal applies to a plan that has seen only its beginning.
        for event in &whole.journal[cut..] {
            taken_over.apply(event).expect("it fits");
            live.apply(event).expect("it fits");
        }
        prop_assert_eq!(taken_over.ready(), 0);
        prop_assert_eq!(taken_over.open().count(), 0);
        prop_assert_eq!(taken_over.waiting(), live.waiting());
    }
}

#[test]
fn a_static_value_is_used_by_every_later_run_of_its_sink() {
    let node = |id: &str, block: &str| Node {
        id: id.into(),
        block_id: block.into(),
        input_default: Map::new(),
        metadata: Map::new(),
    };
    let link = |from: &str, to: &str, pin: &str| Link {
        id: format!("{from}-{to}"),
        source_id: from.into(),
        sink_id: to.into(),
        source_name: "out".to_owned(),
        sink_name: pin.to_owned(),
        is_static: false,
    };
    let graph = Graph {
        nodes: vec![node("many", NORMAL), node("kept", STATIC), node("sink", NORMAL)],
        links: vec![link("many", "sink", "item"), link("kept", "sink", "factor")],
        ..Graph::default()
    };
    let emits = HashMap::from([("many".into(), 3), ("kept".into(), 1), ("sink".into(), 0)]);
    for seed in 0..20 {
        let trace = run(&Scene { graph: graph.clone(), emits: emits.clone() }, seed);
        let sink = &trace.fired[&NodeId::from("sink")];
        assert_eq!(sink.len(), 3, "seed {seed}");
        let numbers: Vec<_> = sink.iter().map(|inputs| inputs["item"][1].clone()).collect();
        assert_eq!(numbers, [0, 1, 2], "seed {seed}");
        assert!(sink.iter().all(|inputs| inputs["factor"][0] == "kept"), "seed {seed}");
    }
}

#[test]
fn a_loop_runs_until_nothing_is_fed_back() {
    let node = |id: &str| Node {
        id: id.into(),
        block_id: NORMAL.into(),
        input_default: Map::new(),
        metadata: Map::new(),
    };
    let link = |from: &str, to: &str| Link {
        id: format!("{from}-{to}"),
        source_id: from.into(),
        sink_id: to.into(),
        source_name: "out".to_owned(),
        sink_name: "in".to_owned(),
        is_static: false,
    };
    let graph = Graph {
        nodes: vec![node("begin"), node("again")],
        links: vec![link("begin", "again"), link("again", "again")],
        ..Graph::default()
    };
    let mut plan = ExecutionPlan::new(&graph, &catalog()).expect("a valid graph");
    plan.seed(&Map::new());
    let (mut run, mut rounds) = (0, 0);
    while let Some(at) = plan.next_ready(|_| true) {
        plan.start(at).expect("it is ready");
        let node = plan.node(at).id.clone();
        let mut event = event(run, &node);
        event.status = Some(ExecutionStatus::Completed);
        if node.as_str() == "begin" || rounds < 10 {
            event.outputs.push(("out".to_owned(), Arc::new(json!(run))));
        }
        rounds += usize::from(node.as_str() == "again");
        plan.apply(&event).expect("it fits");
        run += 1;
    }
    assert_eq!((run, rounds), (12, 11));
}

#[test]
fn an_orchestrator_starts_before_its_tools_answer_and_then_waits_for_them() {
    let node = |id: &str| Node {
        id: id.into(),
        block_id: NORMAL.into(),
        input_default: Map::new(),
        metadata: Map::new(),
    };
    let link = |from: (&str, &str), to: (&str, &str), is_static: bool| Link {
        id: format!("{}-{}", from.1, to.1),
        source_id: from.0.into(),
        sink_id: to.0.into(),
        source_name: from.1.to_owned(),
        sink_name: to.1.to_owned(),
        is_static,
    };
    const CALL: &str = "tools_^_tool_~_values_#_x";
    let back = vec![
        link(("boss", CALL), ("tool", "values_#_x"), false),
        link(("boss", "said"), ("boss", "history"), false),
        link(("tool", "out"), ("boss", "answer"), false),
    ];
    let begun = link(("ask", "out"), ("boss", "prompt"), true);
    for links in [back.clone(), [vec![begun], back].concat()] {
        let nodes = vec![node("ask"), node("boss"), node("tool")];
        let graph = Graph { nodes, links, ..Graph::default() };
        let mut plan = ExecutionPlan::new(&graph, &catalog()).expect("a valid graph");
        plan.seed(&Map::new());
        let mut decisions = Vec::new();
        while let Some(at) = plan.next_ready(|_| true) {
            let run = plan.start(at).expect("it is ready");
            let node = plan.node(at).id.clone();
            let mut event = event(run, &node);
            event.status = Some(ExecutionStatus::Completed);
            let mut out = |pin: &str, value| event.outputs.push((pin.to_owned(), Arc::new(value)));
            match node.as_str() {
                "boss" => {
                    let mut inputs = plan.inputs(run);
                    inputs.remove("prompt");
                    decisions.push(Value::Object(inputs));
                    if decisions.len() < 3 {
                        out(CALL, json!(decisions.len()));
                        out("said", json!("words"));
                    }
                }
                "tool" => out("out", plan.inputs(run)["values_#_x"].clone()),
                _ => out("out", json!("reach it")),
            }
            plan.apply(&event).expect("it fits");
        }
        let later = |answer: u32| json!({"history": "words", "answer": answer});
        assert_eq!(decisions, [json!({}), later(1), later(2)]);
    }
}
