//! Blocks that call the configured model. Shared parts: `ai_block` has what all of them have in common, `model` makes the
//! call, `prompt` builds the messages, and `json_answer` asks for JSON.

mod ai_block;
mod json_answer;
mod model;
mod prompt;
mod shared_inputs;

blocks! {
    condition,
    conversation,
    list,
    orchestrator,
    structured,
    summary,
    text,
}
