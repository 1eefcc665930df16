//! Strict check of a complete stream: asserts every ordering rule of the stream contract, as the strictest client
//! would.

use std::collections::{BTreeMap, HashSet};

use crate::events::Got;

/// How a turn ended, according to its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The finish reason.
    Finished(String),
    /// The error code at the start of the error text.
    Failed(String),
    Aborted,
}

/// Checks a stream read live from its start: its ids have no gaps.
pub(crate) fn assert_whole(events: &[Got]) -> End {
    let ids: Vec<u64> = events.iter().map(|got| got.id).collect();
    assert_eq!(ids, (1..=events.len() as u64).collect::<Vec<_>>(), "ids are dense");
    assert_in_order(events)
}

/// Checks a replayed stream, in which deltas may be merged and transient parts left out.
pub(crate) fn assert_replay(events: &[Got]) -> End {
    assert!(events.windows(2).all(|two| two[0].id < two[1].id), "ids grow");
    assert_in_order(events)
}

fn assert_in_order(events: &[Got]) -> End {
    let mut reader = Reader::default();
    for got in events {
        reader.read(got);
    }
    reader.end.expect("the stream has an end")
}

#[derive(Default)]
struct Reader {
    started: bool,
    in_step: bool,
    /// Open text and reasoning parts, by id.
    words: BTreeMap<String, &'static str>,
    used: HashSet<String>,
    calls: BTreeMap<String, Call>,
    error: Option<String>,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Growing,
    Asked,
    Answered,
}

impl Reader {
    fn read(&mut self, got: &Got) {
        let (chunk, at) = (&got.chunk, got.id);
        let text = |name: &str| {
            chunk[name].as_str().unwrap_or_else(|| panic!("{at}: no {name} in {chunk}")).to_owned()
        };
        let kind = text("type");
        assert_eq!(self.end, None, "{at}: {kind} after the end");
        assert_eq!(self.started, kind != "start", "{at}: one start, and it comes first");
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
                assert!(self.words.is_empty(), "{at}: {:?} is still open", self.words);
            }
            "text-start" => self.open(at, text("id"), "text"),
            "text-delta" => self.grow(at, &text("id"), "text", &text("delta")),
            "text-end" => self.close(at, &text("id"), "text"),
            "reasoning-start" => self.open(at, text("id"), "reasoning"),
            "reasoning-delta" => self.grow(at, &text("id"), "reasoning", &text("delta")),
            "reasoning-end" => self.close(at, &text("id"), "reasoning"),
            "tool-input-start" => self.call(at, text("toolCallId"), &[None], Call::Growing),
            "tool-input-delta" => {
                self.call(at, text("toolCallId"), &[Some(Call::Growing)], Call::Growing)
            }
            "tool-input-available" => {
                assert!(chunk.get("input").is_some(), "{at}: input is always written");
                self.call(at, text("toolCallId"), &[None, Some(Call::Growing)], Call::Asked);
            }
            "tool-input-error" => {
                assert!(chunk.get("input").is_some() && !text("errorText").is_empty());
                self.call(at, text("toolCallId"), &[None, Some(Call::Growing)], Call::Answered);
            }
            "tool-output-available" => {
                assert!(chunk.get("output").is_some(), "{at}: output is always written");
                let now = if chunk["preliminary"] == true { Call::Asked } else { Call::Answered };
                self.call(at, text("toolCallId"), &[Some(Call::Asked)], now);
            }
            "tool-output-error" => {
                self.call(at, text("toolCallId"), &[Some(Call::Asked)], Call::Answered)
            }
            "data-status" => assert_eq!(chunk["transient"], true, "{at}: a status is not kept"),
            "data-attempt" | "data-background" | "data-usage" => {
                assert!(chunk["data"].is_object(), "{at}: data is always written")
            }
            "data-compaction" | "data-pending-drained" => {
                assert!(chunk["data"].is_object(), "{at}: data is always written");
                assert!(!self.in_step, "{at}: what the model is given changes between two steps");
            }
            "error" => {
                let words = text("errorText");
                let code = words.strip_prefix("[code:").and_then(|rest| rest.split_once("] "));
                let (code, words) = code.unwrap_or_else(|| panic!("{at}: no code in {words:?}"));
                assert!(!words.is_empty());
                self.error = Some(code.to_owned());
            }
            "finish" => {
                let reason = text("finishReason");
                assert_eq!(self.error.is_some(), reason == "error", "{at}: {reason}");
                self.ended(self.error.clone().map_or(End::Finished(reason), End::Failed));
            }
            "abort" => self.ended(End::Aborted),
            other => panic!("{at}: {other} is no chunk of the portable set"),
        }
        let fields = chunk.as_object().expect("a chunk is an object");
        let null = fields
            .iter()
            .find(|(name, value)| value.is_null() && !["input", "output"].contains(&name.as_str()));
        assert_eq!(null, None, "{at}: an absent optional is left out");
    }

    fn open(&mut self, at: u64, id: String, kind: &'static str) {
        assert!(self.in_step, "{at}: a part outside of a step");
        assert!(self.used.insert(id.clone()), "{at}: part {id} began before");
        self.words.insert(id, kind);
    }

    fn grow(&self, at: u64, id: &str, kind: &str, delta: &str) {
        assert_eq!(self.words.get(id), Some(&kind), "{at}: part {id} is not open");
        assert!(!delta.is_empty(), "{at}: an empty delta");
    }

    fn close(&mut self, at: u64, id: &str, kind: &'static str) {
        assert_eq!(self.words.remove(id), Some(kind), "{at}: part {id} is not open");
    }

    fn call(&mut self, at: u64, id: String, before: &[Option<Call>], now: Call) {
        assert!(self.in_step, "{at}: a call outside of a step");
        let was = self.calls.get(&id).copied();
        assert!(before.contains(&was), "{at}: call {id} was {was:?} and becomes {now:?}");
        self.calls.insert(id, now);
    }

    fn ended(&mut self, end: End) {
        assert!(!self.in_step && self.words.is_empty(), "everything is closed before the end");
        let open: Vec<_> = self.calls.iter().filter(|(_, call)| **call != Call::Answered).collect();
        assert!(open.is_empty(), "calls without an answer: {open:?}");
        self.end = Some(end);
    }
}
