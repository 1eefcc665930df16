//! Copies of other agents' interfaces in the nodes that run them.

use protocol::block::BlockKind;
use protocol::graph::Graph;

use super::{AppliedFix, FixContext};
use crate::catalog::AgentInterface;
use crate::problem::ProblemCode;
use crate::validate::agents::{agent_of, copies, difference};
use crate::validate::index::GraphIndex;

/// Copies the interface again where the copy is wrong.
pub(crate) fn schemas(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let index = GraphIndex::read(graph, context.blocks);
    let mut renewed: Vec<(usize, AgentInterface, AppliedFix)> = Vec::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        let is_agent =
            context.blocks.spec(&node.block_id).is_some_and(|spec| spec.kind == BlockKind::Agent);
        let agent = agent_of(node).filter(|_| is_agent);
        let Some(agent) = agent.and_then(|(id, version)| context.agents.agent(&id, version)) else {
            continue;
        };
        let is_wrong = copies(node, &agent)
            .into_iter()
            .any(|(_, copy, real)| difference(copy, real).is_some());
        if is_wrong {
            let problem = index.at_node(ProblemCode::AgentChanged, node, "");
            let message = format!("Copied the interface of the agent “{}” again.", agent.name);
            renewed.push((at, agent, AppliedFix::of(problem, message)));
        }
    }
    let mut fixes = Vec::new();
    for (at, agent, fix) in renewed {
        let settings = &mut graph.nodes[at].input_default;
        settings.insert("input_schema".to_owned(), agent.input_schema);
        settings.insert("output_schema".to_owned(), agent.output_schema);
        fixes.push(fix);
    }
    fixes
}
