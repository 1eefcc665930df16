//! Rows of the credit ledger.

use protocol::credit::CreditTransaction;

use super::StoreRow;

macro_rules! transaction_columns {
    () => {
        "key, amount, kind, running_balance, description, created_at"
    };
}

pub(crate) use transaction_columns;

pub(crate) fn transaction<R: StoreRow>(row: &R) -> Result<CreditTransaction, R::Error> {
    Ok(CreditTransaction {
        transaction_key: row.text("key")?,
        amount: row.integer("amount")?,
        transaction_type: row.word("kind")?,
        running_balance: row.integer("running_balance")?,
        description: row.text("description")?,
        transaction_time: row.time("created_at")?,
    })
}
