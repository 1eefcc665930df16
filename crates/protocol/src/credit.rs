//! Prepaid credits: a balance and its ledger.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A charge. Its key is unique per user, so that it is booked once however often it is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditCharge {
    pub key: String,
    pub amount: u64,
    /// A short description.
    pub what: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CreditTransaction {
    pub transaction_key: String,
    /// Credits; positive for additions.
    pub amount: i64,
    pub transaction_type: TransactionKind,
    /// The balance after the transaction.
    pub running_balance: i64,
    pub description: String,
    #[schema(value_type = String)]
    pub transaction_time: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TransactionKind {
    TopUp,
    Usage,
    Grant,
    Refund,
}

impl TransactionKind {
    pub const ALL: [Self; 4] = [Self::TopUp, Self::Usage, Self::Grant, Self::Refund];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::TopUp => "TOP_UP",
            Self::Usage => "USAGE",
            Self::Grant => "GRANT",
            Self::Refund => "REFUND",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
