//! Reviews: decisions that people have to make.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::problem::ProblemCode;
use protocol::review::{Review, ReviewStatus};
use protocol::{ExecutionId, ReviewId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::json::depth;
use crate::http::extract::{JsonBody, PageRequest, PathId, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::routes::executions::no_execution;

const DEFAULT_PAGE: u32 = 25;
const MESSAGE_CHARS: usize = 2_000;
const DATA_BYTES: usize = 1_000_000;
const DATA_DEPTH: usize = 10;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(decide)).routes(routes!(of_execution)).routes(routes!(pending))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct PendingQuery {
    /// From 1.
    page: Option<u32>,
    /// 1 to 100; 25 when not given.
    page_size: Option<u32>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewAction {
    /// Reviews of one execution. They are decided together or not at all.
    reviews: Vec<ReviewItem>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewItem {
    node_exec_id: ReviewId,
    approved: bool,
    /// At most 2000 characters.
    message: Option<String>,
    /// Approved instead of the payload. At most 1 MB and ten levels deep; ignored in a rejection.
    reviewed_data: Option<Value>,
    /// Approve the same node for the rest of the execution.
    #[serde(default)]
    auto_approve_future: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ReviewActionResult {
    approved_count: usize,
    rejected_count: usize,
    /// Always 0: reviews are decided together or not at all.
    failed_count: usize,
    error: Option<String>,
}

/// List the reviews that wait for your decision, oldest first.
#[utoipa::path(
    get, path = "/review/pending", operation_id = "list_pending_reviews", tag = "reviews",
    params(PendingQuery),
    responses((status = 200, description = "The reviews", body = Vec<Review>), InvalidField)
)]
async fn pending(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<PendingQuery>,
) -> ApiResult<Json<Vec<Review>>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    let (reviews, _) = app.ports.reviews.pending(&user, page.size(), page.offset()).await?;
    Ok(Json(reviews))
}

/// List the reviews of one execution, decided or not, oldest first.
#[utoipa::path(
    get, path = "/review/execution/{execution_id}", operation_id = "list_execution_reviews", tag = "reviews",
    params(("execution_id" = String, Path)),
    responses((status = 200, description = "The reviews", body = Vec<Review>), NotFound)
)]
async fn of_execution(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(execution): PathId<ExecutionId>,
) -> ApiResult<Json<Vec<Review>>> {
    let reviews = app.ports.reviews.of_execution(&user, &execution).await?;
    // Blocks run on their own also request reviews, and belong to no execution.
    if reviews.is_empty() && app.ports.executions.get(&user, &execution).await?.is_none() {
        return Err(no_execution());
    }
    Ok(Json(reviews))
}

/// Decide reviews. The execution continues when no review is pending.
#[utoipa::path(
    post, path = "/review/action", operation_id = "decide_reviews", tag = "reviews",
    request_body = ReviewAction,
    responses((status = 200, description = "The decisions, counted by result", body = ReviewActionResult), (status = 400, description = "A review does not allow this decision", body = ProblemBody), (status = 404, description = "A review was not found, or is not owned by the caller", body = ProblemBody), (status = 409, description = "Already decided, from different executions, or from an execution that has ended", body = ProblemBody))
)]
async fn decide(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(action): JsonBody<ReviewAction>,
) -> ApiResult<Json<ReviewActionResult>> {
    let verdicts = action.verdicts()?;
    match app.engine.decide_reviews(&user, &verdicts).await? {
        ReviewsDecided::Done { reviews, .. } => Ok(Json(ReviewActionResult::of(&reviews))),
        ReviewsDecided::Unknown(_) => {
            Err(ApiProblem::new(ProblemCode::ReviewNotFound, "Review not found."))
        }
        ReviewsDecided::Mixed => Err(ApiProblem::new(
            ProblemCode::ReviewsMixed,
            "These reviews belong to different runs. Decide the reviews of one run at a time.",
        )),
        ReviewsDecided::Before(id) => Err(ApiProblem::new(
            ProblemCode::ReviewDecided,
            format!("{id} has already been decided."),
        )),
        ReviewsDecided::Ended => {
            Err(ApiProblem::new(ProblemCode::ExecutionEnded, "The run has ended."))
        }
        ReviewsDecided::NotEditable(id) => Err(refused(format!("{id} cannot be edited."))),
    }
}

impl ReviewAction {
    fn verdicts(self) -> ApiResult<Vec<ReviewVerdict>> {
        if self.reviews.is_empty() {
            return Err(refused("reviews must not be empty."));
        }
        let mut ids = HashSet::new();
        if let Some(twice) = self.reviews.iter().find(|item| !ids.insert(&item.node_exec_id)) {
            return Err(refused(format!("{} is listed twice.", twice.node_exec_id)));
        }
        self.reviews.into_iter().map(ReviewItem::verdict).collect()
    }
}

impl ReviewItem {
    fn verdict(self) -> ApiResult<ReviewVerdict> {
        let message = self.message.filter(|message| !message.trim().is_empty());
        if message.as_ref().is_some_and(|message| message.chars().count() > MESSAGE_CHARS) {
            return Err(refused(format!(
                "A message must have at most {MESSAGE_CHARS} characters."
            )));
        }
        let data = self.reviewed_data.filter(|_| self.approved);
        if let Some(data) = &data {
            let written = data.to_string();
            if written.len() > DATA_BYTES || depth(written.as_bytes()) > DATA_DEPTH {
                return Err(refused(format!(
                    "reviewed_data must have at most {DATA_BYTES} bytes and {DATA_DEPTH} levels."
                )));
            }
        }
        let for_the_rest = self.approved && self.auto_approve_future;
        // Later payloads are unknown, so an edit cannot apply to them.
        if for_the_rest && data.is_some() {
            return Err(refused("reviewed_data cannot be combined with auto_approve_future."));
        }
        Ok(ReviewVerdict {
            id: self.node_exec_id,
            approved: self.approved,
            message,
            data,
            for_the_rest,
        })
    }
}

impl ReviewActionResult {
    fn of(reviews: &[Review]) -> Self {
        let count = |status| reviews.iter().filter(|review| review.status == status).count();
        Self {
            approved_count: count(ReviewStatus::Approved),
            rejected_count: count(ReviewStatus::Rejected),
            failed_count: 0,
            error: None,
        }
    }
}

fn refused(detail: impl Into<String>) -> ApiProblem {
    ApiProblem::new(ProblemCode::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(items: Value) -> ApiResult<Vec<ReviewVerdict>> {
        let action: ReviewAction =
            serde_json::from_value(json!({"reviews": items})).expect("an action");
        action.verdicts()
    }

    #[test]
    fn invalid_decisions_are_refused() {
        let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let with = |more: Value| {
            let mut item = json!({"node_exec_id": "e:1", "approved": true});
            item.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
            json!([item])
        };
        assert!(read(json!([])).is_err());
        let item = json!({"node_exec_id": "e:1", "approved": true});
        assert!(read(json!([item, item])).is_err(), "twice the same");
        assert!(read(with(json!({"message": "x".repeat(2001)}))).is_err());
        assert!(read(with(json!({"reviewed_data": deep(11)}))).is_err());
        assert!(read(with(json!({"reviewed_data": deep(10)}))).is_ok());
        assert!(read(with(json!({"reviewed_data": 1, "auto_approve_future": true}))).is_err());
    }

    #[test]
    fn a_rejection_ignores_edits_and_auto_approval() {
        let items = json!([{"node_exec_id": "e:1", "approved": false, "message": " ", "reviewed_data": 1, "auto_approve_future": true}]);
        let [verdict] = &read(items).expect("good")[..] else { panic!("one") };
        let expected = ReviewVerdict {
            id: "e:1".into(),
            approved: false,
            message: None,
            data: None,
            for_the_rest: false,
        };
        assert_eq!(*verdict, expected);
    }
}
