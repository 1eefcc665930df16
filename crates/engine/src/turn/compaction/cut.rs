//! Where a conversation may be cut for compaction, and where it is cut. Pure.

use std::collections::HashMap;

use ports::model::ModelMessage;
use protocol::CallId;

/// A message of the conversation, as considered for a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutCandidate {
    pub(crate) tokens: u64,
    /// The message is sent to the model unchanged even if it is before the cut.
    pub(crate) stays: bool,
    /// The cut may be after this message.
    pub(crate) may_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutPoint {
    /// The last message before the cut.
    pub(crate) last: usize,
    /// Tokens that remain after the cut, including the fixed part.
    pub(crate) left: u64,
}

/// The first allowed cut that leaves at most `target` tokens, so that as much as possible is kept, or else the last
/// allowed cut.
pub(crate) fn choose(pieces: &[CutCandidate], fixed: u64, target: u64) -> Option<CutPoint> {
    let mut left = fixed + pieces.iter().map(|piece| piece.tokens).sum::<u64>();
    let mut found = None;
    for (last, piece) in pieces.iter().enumerate() {
        if !piece.stays {
            left -= piece.tokens;
        }
        if piece.may_end {
            found = Some(CutPoint { last, left });
            if left <= target {
                break;
            }
        }
    }
    found
}

/// For every message, whether a cut after it is allowed: no call is separated from its results, and the last exchange,
/// which the model continues from, is never summarized.
pub(crate) fn allowed_cuts(messages: &[&ModelMessage]) -> Vec<bool> {
    let mut answered: HashMap<&CallId, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let ModelMessage::ToolResult { call_id, .. } = message {
            answered.insert(call_id, at);
        }
    }
    // Index of the last result of any call up to here.
    let mut last_result = 0;
    messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            if let ModelMessage::Assistant { tool_calls, .. } = message {
                let results = tool_calls.iter().filter_map(|call| answered.get(&call.id));
                last_result = results.copied().fold(last_result, usize::max);
            }
            last_result <= at && at + 1 < messages.len()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::message::ToolCall;

    use super::*;

    fn piece(tokens: u64, may_end: bool) -> CutCandidate {
        CutCandidate { tokens, stays: false, may_end }
    }

    #[test]
    fn the_first_cut_that_leaves_few_enough_tokens_is_chosen() {
        let pieces = [piece(10, true), piece(10, false), piece(10, true), piece(10, false)];
        let table = [
            (35, Some(CutPoint { last: 0, left: 35 })),
            (34, Some(CutPoint { last: 2, left: 15 })),
            (15, Some(CutPoint { last: 2, left: 15 })),
            // Never enough, but better than nothing.
            (3, Some(CutPoint { last: 2, left: 15 })),
        ];
        for (target, cut) in table {
            assert_eq!(choose(&pieces, 5, target), cut, "{target}");
        }
        assert_eq!(choose(&[piece(10, false)], 5, 0), None);
    }

    #[test]
    fn kept_messages_do_not_count_as_gained() {
        let stays = CutCandidate { tokens: 10, stays: true, may_end: true };
        assert_eq!(
            choose(&[stays, piece(10, true), piece(1, false)], 0, 11),
            Some(CutPoint { last: 1, left: 11 })
        );
    }

    fn user() -> ModelMessage {
        ModelMessage::User { text: "u".into() }
    }

    fn asks(ids: &[String]) -> ModelMessage {
        let call = |id: &String| ToolCall {
            id: id.as_str().into(),
            name: "t".into(),
            arguments: "{}".into(),
        };
        let tool_calls = ids.iter().map(call).collect();
        ModelMessage::Assistant { text: String::new(), tool_calls, provider_state: None }
    }

    fn answers(id: &str) -> ModelMessage {
        ModelMessage::ToolResult {
            call_id: id.into(),
            name: "t".into(),
            content: "r".into(),
            is_error: false,
        }
    }

    #[test]
    fn the_last_exchange_is_never_summarized() {
        let ids = ["a".to_owned(), "b".to_owned()];
        let messages = [user(), asks(&ids), answers("a"), answers("b")];
        assert_eq!(allowed_cuts(&messages.iter().collect::<Vec<_>>()), [true, false, false, false]);
        assert_eq!(allowed_cuts(&[&user()]), [false], "nor the only message");
    }

    #[test]
    fn a_call_without_a_result_does_not_block_later_cuts() {
        let messages = [asks(&["lost".to_owned()]), user(), user()];
        assert_eq!(allowed_cuts(&messages.iter().collect::<Vec<_>>()), [true, true, false]);
    }

    /// Steps with any number of calls, with user messages between them.
    fn conversations() -> impl Strategy<Value = Vec<ModelMessage>> {
        prop::collection::vec(prop::option::of(0..4usize), 1..40).prop_map(|steps| {
            let mut messages = vec![user()];
            for (step, calls) in steps.into_iter().enumerate() {
                let Some(calls) = calls else {
                    messages.push(user());
                    continue;
                };
                let ids: Vec<String> = (0..calls).map(|call| format!("{step}-{call}")).collect();
                messages.push(asks(&ids));
                // Results come in the order the calls end.
                messages.extend(ids.iter().rev().map(|id| answers(id)));
            }
            messages
        })
    }

    proptest! {
        #[test]
        fn wherever_a_conversation_is_cut_calls_and_results_stay_paired(messages in conversations()) {
            let allowed = allowed_cuts(&messages.iter().collect::<Vec<_>>());
            for (at, _) in allowed.iter().enumerate().filter(|(_, may_end)| **may_end) {
                let (folded, rest) = messages.split_at(at + 1);
                prop_assert!(!rest.is_empty());
                for part in [folded, rest] {
                    let mut open = Vec::new();
                    for message in part {
                        match message {
                            ModelMessage::Assistant { tool_calls, .. } => {
                                open.extend(tool_calls.iter().map(|call| call.id.clone()));
                            }
                            ModelMessage::ToolResult { call_id, .. } => {
                                prop_assert!(open.contains(call_id), "a result without its call");
                                open.retain(|id| id != call_id);
                            }
                            ModelMessage::User { .. } => {}
                        }
                    }
                    prop_assert!(open.is_empty(), "a call without its result");
                }
            }
        }
    }
}
