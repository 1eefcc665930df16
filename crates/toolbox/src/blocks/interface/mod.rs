//! Blocks that form an agent's interface: input and output blocks, and the webhook trigger. Unlike standard blocks,
//! input and output blocks have no `error` pin, because their pins are the agent's interface.

mod file;
mod input;
mod kinds;
mod output;
mod webhook;

use std::sync::Arc;

use ports::Block;

use super::BlockDependencies;

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    let mut blocks: Vec<Arc<dyn Block>> = vec![
        Arc::new(file::AgentFileInputBlock::new(dependencies)),
        Arc::new(output::AgentOutputBlock::new()),
        Arc::new(webhook::GenericWebhookTrigger::new()),
    ];
    blocks.extend(
        kinds::all().into_iter().map(|kind| Arc::new(input::AgentInputBlock::new(kind)) as _),
    );
    blocks
}
