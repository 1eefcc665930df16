//! Blocks that call the configured model. Shared parts: `model` makes the call, `prompt` builds the messages, and
//! `structured` asks for JSON answers.

mod condition;
mod conversation;
mod json_answer;
mod list;
mod model;
mod orchestrator;
mod prompt;
mod structured;
mod summary;
mod text;

use std::sync::Arc;

use ports::Block;
use protocol::block::{BlockCost, CostKind};

use super::BlockDependencies;

/// Cost per thousand tokens, prompt and completion.
const COSTS: &[BlockCost] = &[BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 }];

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    let model = model::ModelClient::new(dependencies.model.clone());
    vec![
        Arc::new(condition::AiCondition::new(model.clone())),
        Arc::new(conversation::AiConversation::new(model.clone())),
        Arc::new(list::AiListGenerator::new(model.clone())),
        Arc::new(orchestrator::OrchestratorBlock::new(model.clone())),
        Arc::new(structured::AiStructuredResponseGenerator::new(model.clone())),
        Arc::new(summary::AiTextSummarizer::new(model.clone())),
        Arc::new(text::AiTextGenerator::new(model)),
    ]
}
