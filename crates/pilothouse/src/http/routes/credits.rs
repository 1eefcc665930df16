//! Credits: balance, transactions and grants.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::UserId;
use protocol::credit::{CreditTransaction, TransactionKind};
use protocol::problem::ProblemCode;
use serde::{Deserialize, Serialize};
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::{InternalCaller, JsonBody, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InternalKeyUnset, InternalKeyWrong, InvalidField};
use crate::http::routes::ApiRoutes;

const DEFAULT_TRANSACTIONS: u32 = 100;
const MAX_TRANSACTIONS: u32 = 1_000;
/// Larger than any plausible grant, and far from overflow.
const MAX_GRANT: i64 = 1_000_000_000;
const TEXT_CHARS: usize = 200;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(read, top_up)).routes(routes!(transactions))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CreditBalance {
    credits: i64,
    /// Whether executions cost credits on this server.
    enabled: bool,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct TransactionsQuery {
    /// 1 to 1000; 100 when not given.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct TransactionList {
    transactions: Vec<CreditTransaction>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreditGrant {
    user_id: UserId,
    /// Negative to take credits back.
    amount: i64,
    /// Idempotency key: a grant sent again under the same key changes nothing.
    key: String,
    /// What the grant is for.
    description: Option<String>,
}

/// Read your credit balance.
#[utoipa::path(get, path = "/credits", operation_id = "read_credits", tag = "credits", responses((status = 200, description = "The balance", body = CreditBalance)))]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
) -> ApiResult<Json<CreditBalance>> {
    if !app.engine.credits_on() {
        return Ok(Json(CreditBalance { credits: 0, enabled: false }));
    }
    Ok(Json(CreditBalance { credits: app.ports.credits.balance(&user).await?, enabled: true }))
}

/// List your credit transactions, newest first.
#[utoipa::path(
    get, path = "/credits/transactions", operation_id = "list_transactions", tag = "credits",
    params(TransactionsQuery),
    responses((status = 200, description = "A page of transactions", body = TransactionList), InvalidField)
)]
async fn transactions(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<TransactionsQuery>,
) -> ApiResult<Json<TransactionList>> {
    let limit = query.limit.unwrap_or(DEFAULT_TRANSACTIONS);
    if !(1..=MAX_TRANSACTIONS).contains(&limit) {
        return Err(ApiProblem::invalid(format!("limit must be from 1 to {MAX_TRANSACTIONS}.")));
    }
    let offset = query.offset.map_or(0, u64::from);
    let transactions = app.ports.credits.transactions(&user, limit, offset).await?;
    Ok(Json(TransactionList { transactions }))
}

/// Buy credits. Not available: this server does not take payments.
#[utoipa::path(post, path = "/credits", operation_id = "top_up_credits", tag = "credits", responses((status = 501, description = "This server does not take payments", body = ProblemBody)))]
async fn top_up(_: SignedInUser) -> ApiProblem {
    ApiProblem::new(
        ProblemCode::TopUpUnavailable,
        "This server does not take payments. Ask your administrator for credits.",
    )
}

/// Grant credits to a user.
///
/// For operators, with the internal key. Sending the same grant key again changes nothing.
#[utoipa::path(
    post, path = "/credits/grant", operation_id = "grant_credits", tag = "credits",
    params(("x-api-key" = String, Header, description = "The value of CHAT_INTERNAL_API_KEY")),
    request_body = CreditGrant, security(()),
    responses(
        (status = 200, description = "The balance after the grant", body = CreditBalance),
        InternalKeyWrong, InvalidField, InternalKeyUnset,
    )
)]
pub(crate) async fn grant(
    State(app): State<Arc<AppState>>,
    _: InternalCaller,
    JsonBody(grant): JsonBody<CreditGrant>,
) -> ApiResult<Json<CreditBalance>> {
    grant.check()?;
    // A separate key prefix, so that a grant cannot be mistaken for the charge of an execution.
    let key = format!("grant:{}", grant.key);
    let what = grant.description.as_deref().unwrap_or("Granted");
    let (user, amount) = (&grant.user_id, grant.amount);
    let credits = app.ports.credits.book(user, &key, amount, TransactionKind::Grant, what).await?;
    Ok(Json(CreditBalance { credits, enabled: app.engine.credits_on() }))
}

impl CreditGrant {
    fn check(&self) -> ApiResult<()> {
        let fits = |text: &str| (1..=TEXT_CHARS).contains(&text.chars().count());
        let description = self.description.as_deref().unwrap_or("Granted");
        for (name, text) in
            [("user_id", self.user_id.as_str()), ("key", &self.key), ("description", description)]
        {
            if !fits(text) {
                return Err(ApiProblem::invalid(format!(
                    "{name} must have 1 to {TEXT_CHARS} characters."
                )));
            }
        }
        let possible = -MAX_GRANT..=MAX_GRANT;
        if self.amount == 0 || !possible.contains(&self.amount) {
            return Err(ApiProblem::invalid(format!(
                "amount must be from -{MAX_GRANT} to {MAX_GRANT} and not 0."
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_implausible_grant_is_refused() {
        let grant = |amount, key: &str| CreditGrant {
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
