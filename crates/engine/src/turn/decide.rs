//! Decides what a turn does next, from stored state. Pure: no waiting, no clock, no store.

use std::collections::HashSet;
use std::time::Duration;

use ports::model::ToolUse;
use ports::store::TurnProgress;
use protocol::message::{Message, MessageRole, ToolCall, ToolOutcome};
use protocol::tool::ToolEffect;
use protocol::turn::{FailureCode, TurnError};
use protocol::{CallId, TurnId, limits};

use crate::options::EngineOptions;

/// How many failing calls in a row without arguments, of any tools, end the turn.
const MAX_EMPTY_CALLS: usize = 5;

#[derive(Debug, PartialEq)]
pub(crate) enum TurnAction {
    /// Ask the model; on the last step tools are forbidden, so that it ends in text.
    Model(ToolUse),
    /// Run these calls, which have no result yet.
    Tools(Vec<PendingCall>),
    Fail(TurnError),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PendingCall {
    pub(crate) call: ToolCall,
    pub(crate) handling: CallHandling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallHandling {
    /// Journaled by this attempt and not started yet.
    Run,
    /// A worker died during the call, and it may be repeated.
    RunAgain,
    /// A worker died during the call, and it must not be repeated.
    Interrupted,
}

/// `journaled_now` are the calls journaled by this attempt: no other worker can have started them.
pub(crate) fn next_action(
    progress: &TurnProgress,
    turn: &TurnId,
    journaled_now: &HashSet<CallId>,
    elapsed: Duration,
    options: &EngineOptions,
) -> TurnAction {
    let rows: Vec<&Message> = progress.messages.iter().filter(|m| m.turn_id == *turn).collect();
    let open = unanswered(&rows);
    if !open.is_empty() {
        let pending = open.into_iter().map(|call| PendingCall {
            handling: call_handling(progress, &call, journaled_now),
            call,
        });
        return TurnAction::Tools(pending.collect());
    }
    if let Some(error) = over_a_limit(progress, &rows, elapsed, options) {
        return TurnAction::Fail(error);
    }
    let last = progress.steps_done + 1 >= options.max_steps;
    TurnAction::Model(if last { ToolUse::Forbidden } else { ToolUse::Allowed })
}

/// The calls of these messages that have no result, in order.
pub(crate) fn unanswered(rows: &[&Message]) -> Vec<ToolCall> {
    let answered: HashSet<&CallId> = rows.iter().filter_map(|m| m.tool_call_id.as_ref()).collect();
    rows.iter()
        .filter(|message| message.role == MessageRole::Assistant)
        .flat_map(|message| &message.tool_calls)
        .filter(|call| !answered.contains(&call.id))
        .cloned()
        .collect()
}

pub(crate) fn call_handling(
    progress: &TurnProgress,
    call: &ToolCall,
    journaled_now: &HashSet<CallId>,
) -> CallHandling {
    if journaled_now.contains(&call.id) {
        return CallHandling::Run;
    }
    match progress.calls.iter().find(|journaled| journaled.call_id == call.id) {
        // The message was stored but not the intent: the call cannot have started.
        None => CallHandling::RunAgain,
        Some(journaled) => match journaled.effect {
            // Any number of times: a turn that keeps crashing its workers fails as a whole.
            ToolEffect::None | ToolEffect::Idempotent => CallHandling::RunAgain,
            ToolEffect::Once => CallHandling::Interrupted,
        },
    }
}

fn over_a_limit(
    progress: &TurnProgress,
    rows: &[&Message],
    elapsed: Duration,
    options: &EngineOptions,
) -> Option<TurnError> {
    let calls = rows.iter().filter(|message| message.role == MessageRole::Tool).count();
    let cost = progress.usage.cost_microdollars.unwrap_or(0);
    let limits = [
        (
            progress.steps_done >= options.max_steps,
            FailureCode::MaxSteps,
            format!("The answer took more than {} steps.", options.max_steps),
        ),
        (
            calls > options.max_tool_calls as usize,
            FailureCode::MaxToolCalls,
            format!("The answer took more than {} tool calls.", options.max_tool_calls),
        ),
        (
            progress.usage.total_tokens() > options.max_tokens,
            FailureCode::MaxTokens,
            format!("The answer took more than {} tokens.", options.max_tokens),
        ),
        (
            cost > options.max_cost_microdollars,
            FailureCode::MaxCost,
            "The answer cost more than one answer may.".to_owned(),
        ),
    ];
    let over = limits.into_iter().find(|(over, ..)| *over);
    over.map(|(_, code, message)| TurnError::new(code, message))
        .or_else(|| (elapsed > options.max_time).then(|| out_of_time(options)))
        .or_else(|| repetition_error(rows))
}

pub(crate) fn out_of_time(options: &EngineOptions) -> TurnError {
    let limit = match options.max_time.as_secs() {
        seconds @ ..120 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds / 60),
    };
    TurnError::new(FailureCode::MaxTime, format!("The answer took longer than {limit}."))
}

/// Ends a turn whose model keeps repeating a failing call.
fn repetition_error(rows: &[&Message]) -> Option<TurnError> {
    let calls: Vec<&ToolCall> = rows.iter().flat_map(|message| &message.tool_calls).collect();
    let failed: Vec<&ToolCall> = rows
        .iter()
        .rev()
        .filter(|message| message.role == MessageRole::Tool)
        .take_while(|message| message.outcome == Some(ToolOutcome::Error))
        .filter_map(|row| calls.iter().find(|call| Some(&call.id) == row.tool_call_id.as_ref()))
        .copied()
        .collect();
    let newest = failed.first()?;
    let equal = failed
        .iter()
        .take_while(|call| call.name == newest.name && call.arguments == newest.arguments)
        .count();
    if equal >= limits::EQUAL_FAILURES as usize {
        return Some(TurnError::new(
            FailureCode::RepeatedFailures,
            format!("The same call of {} failed {equal} times in a row.", newest.name),
        ));
    }
    let empty = failed.iter().take_while(|call| has_no_arguments(call)).count();
    (empty >= MAX_EMPTY_CALLS).then(|| {
        TurnError::new(
            FailureCode::EmptyToolCalls,
            format!("{empty} tool calls in a row had no arguments and failed."),
        )
    })
}

fn has_no_arguments(call: &ToolCall) -> bool {
    matches!(call.arguments.trim(), "" | "{}" | "null")
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
