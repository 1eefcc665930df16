//! Running the calls of a step: all at once, each under its budget and the turn's stop, each result
//! stored and then shown as it arrives.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use ports::files::Place;
use ports::store::{Entry, Progress};
use ports::tool::{ToolContext, ToolError};
use protocol::chunk::Chunk;
use protocol::limits::TOOL_OUTPUT_CHARS;
use protocol::message::{NewMessage, Outcome, Role, ToolCall};
use protocol::redact;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::session::Owner;
use protocol::text::{cut_middle, scrub};
use protocol::turn::FailureCode;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Attempt;
use super::decide::{How, Pending};
use super::halt::Halt;

/// How long a tool that was told to stop may take to do so by itself.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) const INTERRUPTED: &str = "The server stopped while this call was running. It may or may not have happened; it was not repeated.";
pub(crate) const CANCELLED: &str = "The turn was stopped before this call had a result.";

impl Attempt {
    pub(crate) async fn tool_step(
        &mut self,
        progress: &Progress,
        pending: Vec<Pending>,
    ) -> Result<(), Halt> {
        self.journal_repeats(&pending).await?;
        let pen = Mutex::new(());
        let mut running = FuturesUnordered::new();
        for pending in pending {
            running.push(self.carry_out(progress, pending, &pen));
        }
        while let Some(done) = running.next().await {
            if let Err(halt) = done {
                // A result that is on its way to the store gets there first: the end gives one to every call without.
                tokio::select! {
                    biased;
                    _free = pen.lock() => {}
                    () = running.map(drop).collect() => {}
                }
                return Err(halt);
            }
        }
        drop(running);
        if let Some(reason) = self.stop.now() {
            return Err(Halt::Stop(reason));
        }
        self.recorder.emit(Chunk::FinishStep).await
    }

    /// A call that is run again was started again: stored before it is.
    async fn journal_repeats(&self, pending: &[Pending]) -> Result<(), Halt> {
        let again: Vec<Entry> = pending
            .iter()
            .filter(|pending| pending.how == How::RunAgain)
            .map(|Pending { call, .. }| Entry::Intent {
                call_id: call.id.clone(),
                effect: self.inner.tools.effect(&call.name),
            })
            .collect();
        if again.is_empty() {
            return Ok(());
        }
        self.record(again).await
    }

    /// Results are journaled one after the other, but every call is attended to meanwhile: a stop has to reach those
    /// that still run also while the store is slow to take a result.
    async fn carry_out(
        &self,
        progress: &Progress,
        pending: Pending,
        pen: &Mutex<()>,
    ) -> Result<(), Halt> {
        let Pending { call, how } = pending;
        let (response, outcome) = match how {
            How::Interrupted => {
                (ToolResponse::error("interrupted", INTERRUPTED), Outcome::Interrupted)
            }
            How::Run | How::RunAgain => self.call(progress, &call).await?,
        };
        let _mine = pen.lock().await;
        self.deliver(progress, &call, response, outcome).await
    }

    async fn call(
        &self,
        progress: &Progress,
        call: &ToolCall,
    ) -> Result<(ToolResponse, Outcome), Halt> {
        let (tool, arguments) = match self.inner.tools.check(call) {
            Ok(checked) => checked,
            Err(refusal) => return Ok((refusal, Outcome::Error)),
        };
        let spec = tool.spec();
        if spec.requires_auth && progress.owner == Owner::Anonymous {
            let words = format!("Sign in to use {}.", spec.name);
            return Ok((ToolResponse::new(words, ResponseBody::NeedLogin), Outcome::Denied));
        }
        tracing::debug!(tool.name = spec.name, call.id = %call.id, arguments = redact::for_log(&arguments), "tool call");
        let budget = spec.budget.min(self.inner.options.tool_budget);
        let context = ToolContext {
            owner: progress.owner.clone(),
            session_id: progress.session.id.clone(),
            turn_id: self.turn.id.clone(),
            call_id: call.id.clone(),
            idempotency_key: format!("{}/{}/{}", self.turn.id, progress.steps_done, call.id),
            dry_run: progress.session.dry_run,
            budget,
            cancel: self.stop.token().child_token(),
        };
        // A process that was asleep for longer than its lease must not act for the turn any more.
        if let Some(reason) = self.stop.now() {
            return Err(Halt::Stop(reason));
        }
        let started = Instant::now();
        let work = AssertUnwindSafe(tool.call(arguments, context.clone())).catch_unwind();
        let answered = tokio::select! {
            biased;
            answered = work => answered,
            () = tokio::time::sleep(budget) => {
                context.cancel.cancel();
                let words = format!("{} did not answer within {} seconds and was stopped.", spec.name, budget.as_secs());
                Ok(Err(ToolError::tell("timed_out", words)))
            }
            reason = self.stop_and_grace() => return Err(Halt::Stop(reason)),
        };
        metrics::histogram!("pilothouse_tool_seconds", "tool" => spec.name)
            .record(started.elapsed());
        match answered {
            Ok(Ok(response)) => {
                let outcome = if response.is_error() { Outcome::Error } else { Outcome::Ok };
                Ok((response, outcome))
            }
            Ok(Err(ToolError::TellModel { code, message })) => {
                Ok((ToolResponse::error(code, message), Outcome::Error))
            }
            Ok(Err(ToolError::Fatal(message))) => {
                tracing::error!(tool.name = spec.name, call.id = %call.id, error = message, "a tool failed for good");
                Err(Halt::fail(
                    FailureCode::Internal,
                    format!("The tool {} cannot work here.", spec.name),
                ))
            }
            Err(_panic) => {
                tracing::error!(tool.name = spec.name, call.id = %call.id, "a tool panicked");
                Ok((
                    ToolResponse::error("tool_crashed", format!("{} crashed.", spec.name)),
                    Outcome::Error,
                ))
            }
        }
    }

    /// After a stop a tool may still say what it did; what takes longer is dropped.
    async fn stop_and_grace(&self) -> super::registry::StopReason {
        let reason = self.stop.stopped().await;
        tokio::time::sleep(GRACE).await;
        reason
    }

    async fn deliver(
        &self,
        progress: &Progress,
        call: &ToolCall,
        mut response: ToolResponse,
        outcome: Outcome,
    ) -> Result<(), Halt> {
        response.session_id = Some(progress.session.id.clone());
        let output = self.bounded(progress, call, &response).await;
        let row = result_row(call, &output, outcome);
        self.record(vec![Entry::Result(row)]).await?;
        self.recorder.emit(shown(call, output, outcome)).await
    }

    /// Output over the limit is cut; the whole is kept as a file that the model can read in pieces.
    async fn bounded(
        &self,
        progress: &Progress,
        call: &ToolCall,
        response: &ToolResponse,
    ) -> Value {
        let output = scrub(serde_json::to_value(response).unwrap_or_default());
        let text = output.to_string();
        if text.chars().count() <= TOOL_OUTPUT_CHARS {
            return output;
        }
        let place = Place { owner: progress.owner.clone(), session: progress.session.id.clone() };
        let path = format!("tool-outputs/{}.json", safe_name(call.id.as_str()));
        let kept = self.inner.ports.files.write(&place, &path, text.into(), true).await;
        let note = match kept {
            Ok(Ok(_)) => format!("Cut to fit. The whole output is in the workspace file {path}."),
            Ok(Err(_)) | Err(_) => "Cut to fit. The whole output could not be kept.".to_owned(),
        };
        cut_output(output, &note)
    }
}

/// Cuts the longest text of the output until the whole fits, and says so in its message.
fn cut_output(mut output: Value, note: &str) -> Value {
    if let Some(message) = output.get_mut("message") {
        *message =
            Value::String(format!("{} {note}", cut_middle(message.as_str().unwrap_or(""), 2000)));
    }
    for _ in 0..32 {
        let length = output.to_string().chars().count();
        if length <= TOOL_OUTPUT_CHARS {
            return output;
        }
        let over = length - TOOL_OUTPUT_CHARS;
        let Some(longest) = longest_text(&mut output) else { break };
        let chars = longest.chars().count();
        // Escapes make the JSON longer than the text, so a step cuts at least half.
        *longest = cut_middle(longest, chars.saturating_sub(over + 100).min(chars / 2 + 50));
        if chars <= 200 {
            break;
        }
    }
    if output.to_string().chars().count() <= TOOL_OUTPUT_CHARS {
        return output;
    }
    let kind = output.get("type").cloned().unwrap_or_default();
    serde_json::json!({ "type": kind, "message": note, "truncated": true })
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.iter_mut().filter_map(longest_text).max_by_key(|t| t.len()),
        Value::Object(map) => map.values_mut().filter_map(longest_text).max_by_key(|t| t.len()),
        _ => None,
    }
}

fn safe_name(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(80).collect()
}

/// The one result row of a call.
pub(crate) fn result_row(call: &ToolCall, output: &Value, outcome: Outcome) -> NewMessage {
    let mut row = NewMessage::new(Role::Tool, output.to_string());
    row.tool_call_id = Some(call.id.clone());
    row.name = Some(call.name.clone());
    row.outcome = Some(outcome);
    row
}

/// A result as the client sees it. Calls that did not get to an answer of their own are errors of the part.
pub(crate) fn shown(call: &ToolCall, output: Value, outcome: Outcome) -> Chunk {
    let tool_call_id = call.id.clone();
    match outcome {
        Outcome::Ok | Outcome::Error | Outcome::Denied => {
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary: false }
        }
        Outcome::Cancelled => {
            Chunk::ToolOutputError { tool_call_id, error_text: CANCELLED.to_owned() }
        }
        Outcome::Interrupted => {
            Chunk::ToolOutputError { tool_call_id, error_text: INTERRUPTED.to_owned() }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn output_over_the_limit_is_cut_where_it_is_longest_and_says_so() {
        let long = "\"\n".repeat(90_000);
        let cut = cut_output(
            json!({"type":"bash_exec","message":"Done.","stdout":long,"stderr":"kept"}),
            "See file.",
        );
        assert!(cut.to_string().chars().count() <= TOOL_OUTPUT_CHARS);
        assert_eq!(cut["stderr"], "kept");
        assert!(cut["message"].as_str().expect("text").ends_with("See file."));
        assert!(cut["stdout"].as_str().expect("text").contains("characters cut"));
    }

    #[test]
    fn output_of_many_small_values_is_replaced_by_the_note() {
        let many: Vec<u32> = (0..60_000).collect();
        let cut = cut_output(json!({"type":"x","message":"m","items":many}), "note");
        assert_eq!(cut, json!({"type":"x","message":"note","truncated":true}));
    }
}
