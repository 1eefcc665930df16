//! Prepaid credits: a balance and the ledger that explains it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A bill. Its key is unique for its user, so that it is paid once, however often it is presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditCharge {
    pub key: String,
    pub amount: u64,
    /// What it is for, in a few words.
    pub what: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CreditTransaction {
    pub transaction_key: String,
    /// Credits: positive for what came in.
    pub amount: i64,
    pub transaction_type: TransactionKind,
    /// The balance after it.
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
