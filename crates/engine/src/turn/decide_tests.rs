//! Tables of what a turn does next.

use jiff::Timestamp;
use ports::store::JournaledCall;

use super::*;
use crate::turn::fixtures::TestHistory;

fn row(role: MessageRole) -> Message {
    Message {
        id: "m".into(),
        session_id: "s".into(),
        turn_id: "now".into(),
        sequence: 1,
        created_at: Timestamp::UNIX_EPOCH,
        role,
        content: String::new(),
        reasoning: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
        name: None,
        outcome: None,
        model: None,
        duration_ms: None,
        metadata: None,
        provider_state: None,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn asks(calls: &[ToolCall]) -> Message {
    Message { tool_calls: calls.to_vec(), ..row(MessageRole::Assistant) }
}

fn result(id: &str, outcome: ToolOutcome) -> Message {
    Message { tool_call_id: Some(id.into()), outcome: Some(outcome), ..row(MessageRole::Tool) }
}

fn progress(messages: Vec<Message>) -> TurnProgress {
    TurnProgress { messages, ..TestHistory::new().progress() }
}

fn decide(progress: &TurnProgress) -> TurnAction {
    next_action(progress, &"now".into(), &HashSet::new(), Duration::ZERO, &EngineOptions::default())
}

fn failure(progress: &TurnProgress) -> Option<FailureCode> {
    match decide(progress) {
        TurnAction::Fail(error) => Some(error.code),
        _ => None,
    }
}

#[test]
fn a_turn_without_open_calls_asks_the_model() {
    let stored = progress(vec![
        row(MessageRole::User),
        asks(&[call("a", "x", "{}")]),
        result("a", ToolOutcome::Ok),
    ]);
    assert_eq!(decide(&stored), TurnAction::Model(ToolUse::Allowed));
}

#[test]
fn an_open_call_of_another_turn_is_ignored() {
    let other = Message { turn_id: "before".into(), ..asks(&[call("a", "x", "{}")]) };
    assert_eq!(decide(&progress(vec![other])), TurnAction::Model(ToolUse::Allowed));
}

#[test]
fn after_a_crash_a_call_is_handled_by_its_effect() {
    let table = [
        (ToolEffect::None, 1, CallHandling::RunAgain),
        (ToolEffect::Idempotent, 2, CallHandling::RunAgain),
        (ToolEffect::Idempotent, 3, CallHandling::RunAgain),
        (ToolEffect::Once, 1, CallHandling::Interrupted),
    ];
    for (effect, starts, how) in table {
        let mut stored = progress(vec![asks(&[call("a", "x", "{}")])]);
        stored.calls =
            vec![JournaledCall { call_id: "a".into(), effect, starts, background: None }];
        let TurnAction::Tools(pending) = decide(&stored) else { panic!("calls are open") };
        assert_eq!(pending[0].handling, how, "{effect:?} started {starts} times");
    }
}

#[test]
fn a_call_journaled_by_this_attempt_runs() {
    let mut stored = progress(vec![asks(&[call("a", "x", "{}")])]);
    stored.calls = vec![JournaledCall {
        call_id: "a".into(),
        effect: ToolEffect::Once,
        starts: 1,
        background: None,
    }];
    let mine = HashSet::from([CallId::from("a")]);
    let next =
        next_action(&stored, &"now".into(), &mine, Duration::ZERO, &EngineOptions::default());
    let TurnAction::Tools(pending) = next else { panic!("calls are open") };
    assert_eq!(pending[0].handling, CallHandling::Run);
}

#[test]
fn the_last_step_forbids_tools_and_one_more_fails() {
    let mut stored = progress(vec![row(MessageRole::User)]);
    stored.steps_done = 99;
    assert_eq!(decide(&stored), TurnAction::Model(ToolUse::Forbidden));
    stored.steps_done = 100;
    assert_eq!(failure(&stored), Some(FailureCode::MaxSteps));
}

#[test]
fn every_limit_has_its_own_code() {
    let options = EngineOptions::default();
    let mut tokens = progress(vec![]);
    tokens.usage.prompt_tokens = options.max_tokens + 1;
    assert_eq!(failure(&tokens), Some(FailureCode::MaxTokens));
    let mut money = progress(vec![]);
    money.usage.cost_microdollars = Some(options.max_cost_microdollars + 1);
    assert_eq!(failure(&money), Some(FailureCode::MaxCost));
    let calls = (0..=options.max_tool_calls).map(|n| result(&n.to_string(), ToolOutcome::Ok));
    assert_eq!(failure(&progress(calls.collect())), Some(FailureCode::MaxToolCalls));
    let late = next_action(
        &progress(vec![]),
        &"now".into(),
        &HashSet::new(),
        options.max_time + Duration::from_secs(1),
        &options,
    );
    assert!(matches!(late, TurnAction::Fail(error) if error.code == FailureCode::MaxTime));
}

#[test]
fn three_equal_failing_calls_in_a_row_end_the_turn() {
    let tries = |arguments: [&str; 3], outcomes: [ToolOutcome; 3]| {
        let rows = (0..3).flat_map(|n| {
            let id = n.to_string();
            [asks(&[call(&id, "x", arguments[n])]), result(&id, outcomes[n])]
        });
        failure(&progress(rows.collect()))
    };
    use ToolOutcome::{Error, Ok};
    assert_eq!(tries([r#"{"a":1}"#; 3], [Error; 3]), Some(FailureCode::RepeatedFailures));
    assert_eq!(tries([r#"{"a":1}"#; 3], [Error, Ok, Error]), None);
    assert_eq!(tries([r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":1}"#], [Error; 3]), None);
}

#[test]
fn failing_calls_without_arguments_end_the_turn_whatever_their_name() {
    let rows = (0..5).flat_map(|n| {
        let id = n.to_string();
        [asks(&[call(&id, &format!("tool{n}"), "{}")]), result(&id, ToolOutcome::Error)]
    });
    assert_eq!(failure(&progress(rows.collect())), Some(FailureCode::EmptyToolCalls));
}
