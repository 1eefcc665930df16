//! Credit ledger. A writer holds the user's ledger lock until the end of the transaction, so that each balance follows
//! from the previous one.

use async_trait::async_trait;
use ports::{Credits, PortResult};
use protocol::UserId;
use protocol::credit::{CreditCharge, CreditTransaction, TransactionKind};

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;
use crate::rows::StoreRow;
use crate::rows::credits::{transaction, transaction_columns};
use crate::rules::ledger::debit;
use crate::rules::page;

#[async_trait]
impl Credits for PostgresStore {
    async fn balance(&self, user: &UserId) -> PortResult<i64> {
        self.read(|db| async move {
            let row = db.query_opt(BALANCE, &[&TextParam(user.as_str())]).await?;
            row.map_or(Ok(0), |row| row.integer("running_balance"))
        })
        .await
    }

    async fn transactions(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<Vec<CreditTransaction>> {
        self.read(|db| async move {
            let found = db
                .query(
                    concat!(
                        "SELECT ",
                        transaction_columns!(),
                        " FROM credit_entry WHERE user_id = $1
                         ORDER BY number DESC LIMIT $2 OFFSET $3"
                    ),
                    &[&TextParam(user.as_str()), &i64::from(limit), &page::offset(offset)],
                )
                .await?;
            found.iter().map(transaction).collect()
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
        let (store, user) = (self.clone(), user.clone());
        let (key, what) = (key.to_owned(), what.to_owned());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let item = LedgerItem { key: &key, amount, what: &what };
            let balance = book(&db, &user, &[item], kind, store.wall_us()).await?;
            db.commit().await?;
            Ok(balance)
        })
        .await
    }
}

/// Books the charges, each once, in the transaction of what they pay for.
pub(crate) async fn charge(
    db: &PooledConnection,
    user: &UserId,
    charges: &[CreditCharge],
    wall_us: i64,
) -> Result<(), PostgresError> {
    let items: Vec<LedgerItem<'_>> = charges
        .iter()
        .map(|charge| {
            Ok(LedgerItem { key: &charge.key, amount: debit(charge)?, what: &charge.what })
        })
        .collect::<Result<_, PostgresError>>()?;
    book(db, user, &items, TransactionKind::Usage, wall_us).await?;
    Ok(())
}

struct LedgerItem<'a> {
    key: &'a str,
    amount: i64,
    what: &'a str,
}

const BALANCE: &str = "\
    SELECT running_balance FROM credit_entry WHERE user_id = $1 ORDER BY number DESC LIMIT 1";

/// Books the items with new keys, in order, and returns the resulting balance.
const BOOK: &str = "\
    WITH given AS (
        SELECT * FROM unnest($2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
            AS g (key, amount, description, n)),
    fresh AS (
        SELECT DISTINCT ON (key) key, amount, description, n FROM given AS g
        WHERE NOT EXISTS (
            SELECT 1 FROM credit_entry AS e WHERE e.user_id = $1 AND e.key = g.key)
        ORDER BY key, n),
    before AS (
        SELECT coalesce((SELECT running_balance FROM credit_entry WHERE user_id = $1
            ORDER BY number DESC LIMIT 1), 0) AS balance),
    booked AS (
        INSERT INTO credit_entry
            (user_id, key, amount, kind, running_balance, description, created_at)
        SELECT $1, f.key, f.amount, $5,
            (b.balance + sum(f.amount) OVER (ORDER BY f.n))::bigint, f.description, $6
        FROM fresh AS f, before AS b ORDER BY f.n
        RETURNING amount)
    SELECT (balance + coalesce((SELECT sum(amount) FROM booked), 0))::bigint AS balance
    FROM before";

async fn book(
    db: &PooledConnection,
    user: &UserId,
    items: &[LedgerItem<'_>],
    kind: TransactionKind,
    wall_us: i64,
) -> Result<i64, PostgresError> {
    advisory_locks::lock(db, &format!("credits:{user}")).await?;
    let keys: Vec<TextParam<'_>> = items.iter().map(|item| TextParam(item.key)).collect();
    let amounts: Vec<i64> = items.iter().map(|item| item.amount).collect();
    let whats: Vec<TextParam<'_>> = items.iter().map(|item| TextParam(item.what)).collect();
    let user = TextParam(user.as_str());
    let row =
        db.query_one(BOOK, &[&user, &keys, &amounts, &whats, &kind.as_str(), &wall_us]).await?;
    row.integer("balance")
}
