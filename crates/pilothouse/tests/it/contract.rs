//! Strict check of a complete stream: asserts every ordering rule of the stream contract, as the strictest client
//! would.

use std::collections::{BTreeMap, HashSet};

use crate::events::ReceivedEvent;

/// How a turn ended, according to its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The finish reason.
    Finished(String),
    /// The error code at the start of the error text.
    Failed(String),
    Aborted,
}

/// Checks a stream read live from its start: its ids have no gaps.
pub(crate) fn assert_complete(events: &[ReceivedEvent]) -> TurnEnd {
    let ids: Vec<u64> = events.iter().map(|got| got.id).collect();
    assert_eq!(ids, (1..=events.len() as u64).collect::<Vec<_>>(), "ids are dense");
    assert_in_order(events)
}

/// Checks a replayed stream, in which deltas may be merged and transient parts left out.
pub(crate) fn assert_replay(events: &[ReceivedEvent]) -> TurnEnd {
    assert!(events.windows(2).all(|two| two[0].id < two[1].id), "ids grow");
    assert_in_order(events)
}

fn assert_in_order(events: &[ReceivedEvent]) -> TurnEnd {
    let mut checker = StreamChecker::default();
    for got in events {
        checker.read(got);
    }
    checker.end.expect("the stream has an end")
}

#[derive(Default)]
struct StreamChecker {
    started: bool,
    in_step: bool,
    /// Open text and reasoning parts, by id.
    open_parts: BTreeMap<String, &'static str>,
    used: HashSet<String>,
    calls: BTreeMap<String, CallState>,
    error: Option<String>,
    end: Option<TurnEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    InputStreaming,
    InputComplete,
    Finished,
}

impl StreamChecker {
    fn read(&mut self, got: &ReceivedEvent) {
        let (chunk, at) = (&got.chunk, got.id);
        let text = |name: &str| {
            chunk[name].as_str().unwrap_or_else(|| panic!("{at}: no {name} in {chunk}")).to_owned()
        };
        let kind = text("type");
        assert_eq!(self.end, None, "{at}: {kind} after the end");
        assert_eq!(self.started, kind != "start", "{at}: there is one start and it is first");
        if self.error.is_some() {
            assert_eq!(kind, "finish", "{at}: an error is followed by the end");
        }
        match kind.as_str() {
            "start" => {
                assert!(!text("messageId").is_empty());
                self.started = true;
            }
            "start-step" => {
                assert!(!std::mem::replace(&mut self.in_step, true), "{at}: a step in a step")
            }
            "finish-step" => {
                assert!(std::mem::replace(&mut self.in_step, false), "{at}: no step is open");
                assert!(self.open_parts.is_empty(), "{at}: {:?} is still open", self.open_parts);
            }
            "text-start" => self.open(at, text("id"), "text"),
            "text-delta" => self.extend(at, &text("id"), "text", &text("delta")),
            "text-end" => self.close(at, &text("id"), "text"),
            "reasoning-start" => self.open(at, text("id"), "reasoning"),
            "reasoning-delta" => self.extend(at, &text("id"), "reasoning", &text("delta")),
            "reasoning-end" => self.close(at, &text("id"), "reasoning"),
            "tool-input-start" => {
                self.call(at, text("toolCallId"), &[None], CallState::InputStreaming)
            }
            "tool-input-delta" => self.call(
                at,
                text("toolCallId"),
                &[Some(CallState::InputStreaming)],
                CallState::InputStreaming,
            ),
            "tool-input-available" => {
                assert!(chunk.get("input").is_some(), "{at}: input is always written");
                self.call(
                    at,
                    text("toolCallId"),
                    &[None, Some(CallState::InputStreaming)],
                    CallState::InputComplete,
                );
            }
            "tool-input-error" => {
                assert!(chunk.get("input").is_some() && !text("errorText").is_empty());
                self.call(
                    at,
                    text("toolCallId"),
                    &[None, Some(CallState::InputStreaming)],
                    CallState::Finished,
                );
            }
            "tool-output-available" => {
                assert!(chunk.get("output").is_some(), "{at}: output is always written");
                let now = if chunk["preliminary"] == true {
                    CallState::InputComplete
                } else {
                    CallState::Finished
                };
                self.call(at, text("toolCallId"), &[Some(CallState::InputComplete)], now);
            }
            "tool-output-error" => self.call(
                at,
                text("toolCallId"),
                &[Some(CallState::InputComplete)],
                CallState::Finished,
            ),
            "data-status" => assert_eq!(chunk["transient"], true, "{at}: a status is not kept"),
            "data-attempt" | "data-background" | "data-usage" => {
                assert!(chunk["data"].is_object(), "{at}: data is always written")
            }
            "data-compaction" | "data-pending-drained" => {
                assert!(chunk["data"].is_object(), "{at}: data is always written");
                assert!(!self.in_step, "{at}: the request changes only between two steps");
            }
            "error" => {
                let message = text("errorText");
                let code = message.strip_prefix("[code:").and_then(|rest| rest.split_once("] "));
                let (code, message) =
                    code.unwrap_or_else(|| panic!("{at}: no code in {message:?}"));
                assert!(!message.is_empty());
                self.error = Some(code.to_owned());
            }
            "finish" => {
                let reason = text("finishReason");
                assert_eq!(self.error.is_some(), reason == "error", "{at}: {reason}");
                self.ended(self.error.clone().map_or(TurnEnd::Finished(reason), TurnEnd::Failed));
            }
            "abort" => self.ended(TurnEnd::Aborted),
            other => panic!("{at}: {other} is no chunk of the portable set"),
        }
        let fields = chunk.as_object().expect("a chunk is an object");
        let null = fields
            .iter()
            .find(|(name, value)| value.is_null() && !["input", "output"].contains(&name.as_str()));
        assert_eq!(null, None, "{at}: an absent optional field is omitted");
    }

    fn open(&mut self, at: u64, id: String, kind: &'static str) {
        assert!(self.in_step, "{at}: a part outside of a step");
        assert!(self.used.insert(id.clone()), "{at}: part {id} was already used");
        self.open_parts.insert(id, kind);
    }

    fn extend(&self, at: u64, id: &str, kind: &str, delta: &str) {
        assert_eq!(self.open_parts.get(id), Some(&kind), "{at}: part {id} is not open");
        assert!(!delta.is_empty(), "{at}: an empty delta");
    }

    fn close(&mut self, at: u64, id: &str, kind: &'static str) {
        assert_eq!(self.open_parts.remove(id), Some(kind), "{at}: part {id} is not open");
    }

    fn call(&mut self, at: u64, id: String, before: &[Option<CallState>], now: CallState) {
        assert!(self.in_step, "{at}: a call outside of a step");
        let was = self.calls.get(&id).copied();
        assert!(before.contains(&was), "{at}: call {id} was {was:?} and becomes {now:?}");
        self.calls.insert(id, now);
    }

    fn ended(&mut self, end: TurnEnd) {
        assert!(
            !self.in_step && self.open_parts.is_empty(),
            "every step and part is closed before the end"
        );
        let open: Vec<_> =
            self.calls.iter().filter(|(_, call)| **call != CallState::Finished).collect();
        assert!(open.is_empty(), "calls without an answer: {open:?}");
        self.end = Some(end);
    }
}
