//! Credit ledger: an entry for every credit and debit, each with the resulting balance.

use async_trait::async_trait;
use ports::{Credits, PortResult};
use protocol::UserId;
use protocol::credit::{CreditCharge, CreditTransaction, TransactionKind};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime};
use crate::rows::credits::{transaction, transaction_columns};
use crate::rules::ledger::debit;
use crate::rules::page;

#[async_trait]
impl Credits for SqliteStore {
    async fn balance(&self, user: &UserId) -> PortResult<i64> {
        let user = user.clone();
        self.readers.run(move |db| balance(db, &user)).await
    }

    async fn transactions(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<Vec<CreditTransaction>> {
        let user = user.clone();
        self.readers
            .run(move |db| {
                let entries = db
                    .prepare_cached(concat!(
                        "SELECT ",
                        transaction_columns!(),
                        " FROM credit_entry WHERE user_id = ?1
                         ORDER BY number DESC LIMIT ?2 OFFSET ?3"
                    ))?
                    .query_map(params![user.as_str(), limit, page::offset(offset)], |row| {
                        transaction(row)
                    })?
                    .collect::<Result<_, _>>()?;
                Ok(entries)
            })
            .await
    }

    async fn book(
        &self,
        user: &UserId,
        key: &str,
        amount: i64,
        kind: TransactionKind,
        what: &str,
    ) -> PortResult<i64> {
        let (user, now) = (user.clone(), self.store_time());
        let (key, what) = (key.to_owned(), what.to_owned());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                book(db, now, &user, LedgerEntry { key: &key, amount, kind, what: &what })?;
                Ok(WriteOutput::silent(balance(db, &user)?))
            })
            .await
    }
}

/// Charges the cost of something, in the transaction that records it.
pub(crate) fn charge(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    charge: &CreditCharge,
) -> Result<(), SqliteError> {
    let (amount, kind) = (debit(charge)?, TransactionKind::Usage);
    book(db, now, user, LedgerEntry { key: &charge.key, amount, kind, what: &charge.what })
}

struct LedgerEntry<'a> {
    key: &'a str,
    amount: i64,
    kind: TransactionKind,
    what: &'a str,
}

/// An entry with a known key changes nothing.
fn book(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    entry: LedgerEntry<'_>,
) -> Result<(), SqliteError> {
    let after = balance(db, user)?
        .checked_add(entry.amount)
        .ok_or_else(|| SqliteError::broken("the balance is too large"))?;
    db.prepare_cached(
        "INSERT INTO credit_entry
             (user_id, key, amount, kind, running_balance, description, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (user_id, key) DO NOTHING",
    )?
    .execute(params![
        user.as_str(),
        entry.key,
        entry.amount,
        entry.kind.as_str(),
        after,
        entry.what,
        now.wall_us,
    ])?;
    Ok(())
}

fn balance(db: &Connection, user: &UserId) -> Result<i64, SqliteError> {
    let last: Option<i64> = db
        .prepare_cached(
            "SELECT running_balance FROM credit_entry WHERE user_id = ?1
             ORDER BY number DESC LIMIT 1",
        )?
        .query_row([user.as_str()], |row| row.get(0))
        .optional()?;
    Ok(last.unwrap_or(0))
}
