//! Prepaid credits: a balance and its ledger.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

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

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum TransactionKind {
        TopUp = "TOP_UP",
        Usage = "USAGE",
        Grant = "GRANT",
        Refund = "REFUND",
    }
}
