//! Enums that are stored, sent and logged as words. Each has one table of its words, which serialization, databases and
//! logs share.

/// An enum with one word per variant. Implemented by `text_enum!`.
pub trait TextEnum: Copy + 'static {
    fn as_str(self) -> &'static str;

    /// `None` for an unknown word.
    fn parse(text: &str) -> Option<Self>;
}

/// Declares an enum from its table of words. It serializes as these words; further derives can be added to it.
macro_rules! text_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            // A token, not a `literal`: derives such as `utoipa::ToSchema` cannot read a literal that a macro has grouped.
            $($(#[$variant_meta:meta])* $variant:ident = $word:tt,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// `None` for an unknown word.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::text_enum::TextEnum for $name {
            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }
    };
}

pub(crate) use text_enum;

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::TextEnum;
    use crate::credit::TransactionKind;
    use crate::execution::ExecutionStatus;
    use crate::follow_up::FollowUpState;
    use crate::message::{MessageRole, ToolOutcome};
    use crate::operation::OperationState;
    use crate::response::BuildingStage;
    use crate::review::ReviewStatus;
    use crate::session::ChatStatus;
    use crate::tool::ToolEffect;
    use crate::tool_labels::ToolObjectStyle;
    use crate::turn::{FailureCode, ModelTier, TurnMode, TurnStatus};

    fn check<E>(all: &[E], words: &[&str])
    where
        E: TextEnum + Debug + PartialEq + Serialize + DeserializeOwned,
    {
        let found: Vec<&str> = all.iter().map(|value| value.as_str()).collect();
        assert_eq!(found, words);
        for (value, word) in all.iter().zip(words) {
            assert_eq!(E::parse(word), Some(*value));
            assert_eq!(serde_json::to_value(value).expect("a word"), **word);
            assert_eq!(serde_json::from_value::<E>((*word).into()).expect("a value"), *value);
        }
        assert_eq!(E::parse("unknown"), None);
    }

    #[test]
    fn stored_and_sent_words_never_change() {
        check(&MessageRole::ALL, &["user", "assistant", "tool", "system"]);
        check(&ToolOutcome::ALL, &["ok", "error", "denied", "cancelled", "interrupted"]);
        check(&ToolEffect::ALL, &["none", "idempotent", "once"]);
        check(&ToolObjectStyle::ALL, &["plain", "quoted", "address"]);
        check(&TurnStatus::ALL, &["queued", "running", "completed", "failed", "cancelled"]);
        check(&ModelTier::ALL, &["standard", "advanced"]);
        check(&TurnMode::ALL, &["fast", "extended_thinking"]);
        check(&ChatStatus::ALL, &["idle", "queued", "running"]);
        check(&FollowUpState::ALL, &["pending", "delivered", "returned", "dropped"]);
        check(&OperationState::ALL, &["running", "accepted", "ended"]);
        check(
            &BuildingStage::ALL,
            &[
                "understanding",
                "planning",
                "writing",
                "checking",
                "repairing",
                "rehearsing",
                "saving",
            ],
        );
        check(&ReviewStatus::ALL, &["WAITING", "APPROVED", "REJECTED"]);
        check(&TransactionKind::ALL, &["TOP_UP", "USAGE", "GRANT", "REFUND"]);
        check(
            &ExecutionStatus::ALL,
            &["INCOMPLETE", "QUEUED", "RUNNING", "COMPLETED", "TERMINATED", "FAILED", "REVIEW"],
        );
        check(
            &FailureCode::ALL,
            &[
                "idle_timeout",
                "transient_api_error",
                "provider_auth",
                "provider_refused",
                "provider_protocol",
                "context_too_long",
                "empty_completion",
                "crash_loop",
                "max_turns_exhausted",
                "max_tool_calls_exhausted",
                "max_tokens_exhausted",
                "max_budget_exhausted",
                "max_time_exhausted",
                "circuit_breaker_repeated_failures",
                "circuit_breaker_empty_tool_calls",
                "storage_full",
                "internal_error",
            ],
        );
    }
}
