//! What an agent is given and what it gives: input and output blocks, and the trigger of a webhook. Other than standard
//! blocks they have no `error` output, because their pins are the interface of the agent.

mod file;
mod input;
mod kinds;
mod output;
mod webhook;

use std::sync::Arc;

use ports::Block;

use super::Parts;

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    let mut blocks: Vec<Arc<dyn Block>> = vec![
        Arc::new(file::AgentFileInput::new(parts)),
        Arc::new(output::AgentOutput::new()),
        Arc::new(webhook::GenericWebhookTrigger::new()),
    ];
    blocks.extend(kinds::all().into_iter().map(|kind| Arc::new(input::AgentInput::new(kind)) as _));
    blocks
}
