//! Amounts of the credit ledger.

use protocol::credit::CreditCharge;

use super::error::CheckError;

/// The entry of a charge, which is negative.
pub(crate) fn debit(charge: &CreditCharge) -> Result<i64, CheckError> {
    let amount = i64::try_from(charge.amount);
    amount.map(|amount| -amount).map_err(|_| CheckError::new("the charge is too large"))
}
