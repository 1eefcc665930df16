//! Credits: what a user has, where it came from and where it went.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::UserId;
use protocol::credit::{CreditTransaction, TransactionKind};
use protocol::problem::ProblemCode;
use serde::{Deserialize, Serialize};

use super::App;
use super::auth::Person;
use super::internal_key::InternalCaller;
use super::json::{Body, Query};
use super::problem::{Answer, Problem, ProblemBody};

const USUAL_TRANSACTIONS: u32 = 100;
const MOST_TRANSACTIONS: u32 = 1_000;
/// More than anybody means, and far from the largest number there is.
const LARGEST_GRANT: i64 = 1_000_000_000;
const TEXT_CHARS: usize = 200;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Balance {
    credits: i64,
    /// Whether runs cost anything here.
    enabled: bool,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct TransactionsQuery {
    /// 1 to 1000; 100 when not given.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Transactions {
    transactions: Vec<CreditTransaction>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grant {
    user_id: UserId,
    /// Negative to take credits back.
    amount: i64,
    /// Makes it one grant, however often it is sent.
    key: String,
    /// What it is for.
    description: Option<String>,
}

/// What you have.
#[utoipa::path(get, path = "/credits", operation_id = "read_credits", tag = "credits", responses((status = 200, description = "Done", body = Balance)))]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Answer<Json<Balance>> {
    if !app.engine.credits_on() {
        return Ok(Json(Balance { credits: 0, enabled: false }));
    }
    Ok(Json(Balance { credits: app.ports.credits.balance(&user).await?, enabled: true }))
}

/// Where your credits came from and where they went, the newest first.
#[utoipa::path(
    get, path = "/credits/transactions", operation_id = "list_transactions", tag = "credits",
    params(TransactionsQuery),
    responses((status = 200, description = "Done", body = Transactions), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn transactions(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<TransactionsQuery>,
) -> Answer<Json<Transactions>> {
    let limit = query.limit.unwrap_or(USUAL_TRANSACTIONS);
    if !(1..=MOST_TRANSACTIONS).contains(&limit) {
        return Err(Problem::invalid(format!("limit must be from 1 to {MOST_TRANSACTIONS}.")));
    }
    let offset = query.offset.map_or(0, u64::from);
    let transactions = app.ports.credits.transactions(&user, limit, offset).await?;
    Ok(Json(Transactions { transactions }))
}

/// Buy credits. Not possible here: this server takes no payments.
#[utoipa::path(post, path = "/credits", operation_id = "top_up_credits", tag = "credits", responses((status = 501, description = "This server takes no payments", body = ProblemBody)))]
pub(crate) async fn top_up(_: Person) -> Problem {
    Problem::new(
        ProblemCode::TopUpUnavailable,
        "This server takes no payments. Ask those who run it for credits.",
    )
}

/// Give credits to a user.
///
/// For those who run the server, with its key. Sent again under the same key it changes nothing.
#[utoipa::path(
    post, path = "/credits/grant", operation_id = "grant_credits", tag = "credits",
    params(("x-api-key" = String, Header, description = "The value of CHAT_INTERNAL_API_KEY")),
    request_body = Grant, security(()),
    responses(
        (status = 200, description = "The balance afterwards", body = Balance),
        (status = 401, description = "The key is wrong or missing", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody), (status = 503, description = "This server was given no key", body = ProblemBody),
    )
)]
pub(crate) async fn grant(
    State(app): State<Arc<App>>,
    _: InternalCaller,
    Body(grant): Body<Grant>,
) -> Answer<Json<Balance>> {
    grant.check()?;
    // Its own kind of key, so that no grant can pass for the bill of a run.
    let key = format!("grant:{}", grant.key);
    let what = grant.description.as_deref().unwrap_or("Granted");
    let (user, amount) = (&grant.user_id, grant.amount);
    let credits = app.ports.credits.book(user, &key, amount, TransactionKind::Grant, what).await?;
    Ok(Json(Balance { credits, enabled: app.engine.credits_on() }))
}

impl Grant {
    fn check(&self) -> Answer<()> {
        let fits = |text: &str| (1..=TEXT_CHARS).contains(&text.chars().count());
        let description = self.description.as_deref().unwrap_or("Granted");
        for (name, text) in
            [("user_id", self.user_id.as_str()), ("key", &self.key), ("description", description)]
        {
            if !fits(text) {
                return Err(Problem::invalid(format!("{name} has 1 to {TEXT_CHARS} characters.")));
            }
        }
        let possible = -LARGEST_GRANT..=LARGEST_GRANT;
        if self.amount == 0 || !possible.contains(&self.amount) {
            return Err(Problem::invalid(format!(
                "amount is not 0 and at most {LARGEST_GRANT} in either direction."
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_that_nobody_means_is_refused() {
        let grant = |amount, key: &str| Grant {
            user_id: "anna".into(),
            amount,
            key: key.to_owned(),
            description: None,
        };
        assert!(grant(500, "march").check().is_ok() && grant(-5, "back").check().is_ok());
        for bad in [grant(0, "k"), grant(i64::MIN, "k"), grant(i64::MAX, "k"), grant(1, "")] {
            assert!(bad.check().is_err(), "{}", bad.amount);
        }
    }
}
