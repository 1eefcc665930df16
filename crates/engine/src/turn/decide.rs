//! What a turn does next, told from what is stored. Pure: no waiting, no clock, no store.

use std::collections::HashSet;
use std::time::Duration;

use ports::model::ToolUse;
use ports::store::TurnProgress;
use protocol::message::{Message, MessageRole, ToolCall, ToolOutcome};
use protocol::tool::ToolEffect;
use protocol::turn::{FailureCode, TurnError};
use protocol::{CallId, TurnId, limits};

use crate::options::Options;

/// Failing calls without arguments, of whatever tool, that trip the breaker.
const EMPTY_CALLS: usize = 5;
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Ask the model; on the last step tools are forbidden, so that it ends in words.
    Model(ToolUse),
    /// These calls have no result yet.
    Tools(Vec<Pending>),
    Fail(TurnError),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pending {
    pub(crate) call: ToolCall,
    pub(crate) how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Journaled by this attempt and not started yet.
    Run,
    /// A worker died over it, and repeating it does no harm.
    RunAgain,
    /// A worker died over it, and it must not be repeated.
    Interrupted,
}

/// `journaled_now` are the calls this very attempt wrote down: nobody else can have started them.
pub(crate) fn next(
    progress: &TurnProgress,
    turn: &TurnId,
    journaled_now: &HashSet<CallId>,
    elapsed: Duration,
    options: &Options,
) -> Next {
    let said: Vec<&Message> = progress.messages.iter().filter(|m| m.turn_id == *turn).collect();
    let open = unanswered(&said);
    if !open.is_empty() {
        let pending =
            open.into_iter().map(|call| Pending { how: how(progress, &call, journaled_now), call });
        return Next::Tools(pending.collect());
    }
    if let Some(error) = over_a_limit(progress, &said, elapsed, options) {
        return Next::Fail(error);
    }
    let last = progress.steps_done + 1 >= options.max_steps;
    Next::Model(if last { ToolUse::Forbidden } else { ToolUse::Allowed })
}

/// The calls of these messages that have no result, in the order they were asked for.
pub(crate) fn unanswered(said: &[&Message]) -> Vec<ToolCall> {
    let answered: HashSet<&CallId> = said.iter().filter_map(|m| m.tool_call_id.as_ref()).collect();
    said.iter()
        .filter(|message| message.role == MessageRole::Assistant)
        .flat_map(|message| &message.tool_calls)
        .filter(|call| !answered.contains(&call.id))
        .cloned()
        .collect()
}

pub(super) fn how(
    progress: &TurnProgress,
    call: &ToolCall,
    journaled_now: &HashSet<CallId>,
) -> How {
    if journaled_now.contains(&call.id) {
        return How::Run;
    }
    match progress.calls.iter().find(|journaled| journaled.call_id == call.id) {
        // The message was stored but not the intent: nothing can have happened.
        None => How::RunAgain,
        Some(journaled) => match journaled.effect {
            // However often: a turn that kills its workers fails as a whole.
            ToolEffect::None | ToolEffect::Idempotent => How::RunAgain,
            ToolEffect::Once => How::Interrupted,
        },
    }
}

fn over_a_limit(
    progress: &TurnProgress,
    said: &[&Message],
    elapsed: Duration,
    options: &Options,
) -> Option<TurnError> {
    let calls = said.iter().filter(|message| message.role == MessageRole::Tool).count();
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
        .or_else(|| breaker(said))
}

pub(crate) fn out_of_time(options: &Options) -> TurnError {
    let limit = match options.max_time.as_secs() {
        seconds @ ..120 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds / 60),
    };
    TurnError::new(FailureCode::MaxTime, format!("The answer took longer than {limit}."))
}

/// A model that repeats itself does not find its way out alone.
fn breaker(said: &[&Message]) -> Option<TurnError> {
    let calls: Vec<&ToolCall> = said.iter().flat_map(|message| &message.tool_calls).collect();
    let failed: Vec<&ToolCall> = said
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
    (empty >= EMPTY_CALLS).then(|| {
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
