//! A step of the model: it ends either in an answer or in calls, which are journaled before any of them runs.

use ports::model::{StopReason, ToolUse};
use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::Chunk;
use protocol::message::{MessageRole, NewMessage, ToolCall};
use protocol::text::{cut_end, scrub, without_nul};
use protocol::turn::FailureCode;
use protocol::usage::Usage;
use serde_json::Value;

use super::compaction::ContextWindow;
use super::model_call::{ModelCall, ModelFinish};
use super::recorder::ChunkWriter;
use super::response_state::{PartialResponse, ResponseState};
use super::tool_caller::ToolCaller;
use super::tool_list::arguments;
use crate::job::halt::TurnHalt;

pub(crate) enum StepEnd {
    /// Text and no calls: the turn is done.
    Answer(ModelAnswer),
    /// Calls, journaled and ready to run.
    Calls,
}

pub(crate) struct ModelAnswer {
    pub(crate) message: NewMessage,
    pub(crate) usage: Usage,
    pub(crate) reason: StopReason,
}

pub(crate) async fn model_step(
    calls: &ToolCaller,
    window: &mut ContextWindow,
    response: &mut ResponseState,
    progress: &TurnProgress,
    tool_use: ToolUse,
) -> Result<StepEnd, TurnHalt> {
    let writer = &calls.writer;
    writer.chunks.emit(Chunk::StartStep).await?;
    let all_calls = progress.messages.iter().flat_map(|row| &row.tool_calls);
    let mut model_call = ModelCall {
        calls,
        used_calls: all_calls.map(|call| call.id.clone()).collect(),
        partial: &mut response.partial,
    };
    let request = window.request(progress, tool_use);
    let ModelFinish { reason, usage, provider_state } = model_call.ask(&request).await?;
    window.observe_count(&request, usage.prompt_tokens);
    writer.chunks.end_text().await?;

    let PartialResponse { text, reasoning, calls: asked } = std::mem::take(&mut response.partial);
    let asked: Vec<ToolCall> = asked.into_iter().flatten().collect();
    let mut message = NewMessage::new(MessageRole::Assistant, without_nul(&text));
    message.reasoning = Some(reasoning).filter(|text| !text.is_empty());
    message.model = Some(writer.leased.model_name());
    message.provider_state = provider_state;
    if asked.is_empty() {
        if message.content.trim().is_empty() {
            // There is nothing to show, but the tokens were used.
            writer.record(vec![JournalEntry::StepEnded { usage }]).await?;
            return Err(TurnHalt::fail(
                FailureCode::EmptyCompletion,
                "The model ended without an answer. Sending the message again usually helps.",
            ));
        }
        return Ok(StepEnd::Answer(ModelAnswer { message, usage, reason }));
    }
    emit_inputs(&writer.chunks, &asked).await?;
    // Stored before any of the calls has an effect, and after all chunks of the step are stored.
    writer.chunks.flushed().await?;
    response.journaled_now.extend(asked.iter().map(|call| call.id.clone()));
    let intents: Vec<JournalEntry> = asked.iter().map(|call| calls.intent(call)).collect();
    message.tool_calls = asked;
    let mut entries = vec![JournalEntry::Message(message), JournalEntry::StepEnded { usage }];
    entries.extend(intents);
    writer.record(entries).await?;
    Ok(StepEnd::Calls)
}

/// Emits the complete input of each call for the client.
async fn emit_inputs(chunks: &ChunkWriter, calls: &[ToolCall]) -> Result<(), TurnHalt> {
    for call in calls {
        let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
        let input = match arguments(call) {
            Ok(input) => scrub(input),
            // Shown as written; the result of the call will say what is wrong.
            Err(_) => Value::String(cut_end(&without_nul(&call.arguments), 2000)),
        };
        chunks.emit(Chunk::ToolInputAvailable { tool_call_id, tool_name, input }).await?;
    }
    Ok(())
}
