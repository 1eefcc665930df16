//! Blocks that ask the configured model. They share how it is asked (`model`), what is asked (`prompt`), and how an
//! answer of a certain form is got (`structured`).

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

use super::Parts;

/// What a thousand tokens cost, read or written.
const COSTS: &[BlockCost] = &[BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 }];

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    let model = model::Model::new(parts.model.clone());
    vec![
        Arc::new(condition::AiCondition::new(model.clone())),
        Arc::new(conversation::AiConversation::new(model.clone())),
        Arc::new(list::AiListGenerator::new(model.clone())),
        Arc::new(orchestrator::Orchestrator::new(model.clone())),
        Arc::new(structured::AiStructuredResponseGenerator::new(model.clone())),
        Arc::new(summary::AiTextSummarizer::new(model.clone())),
        Arc::new(text::AiTextGenerator::new(model)),
    ]
}
