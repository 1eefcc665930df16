//! What people have to decide: listed and decided.

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

use super::App;
use super::auth::Person;
use super::executions::no_execution;
use super::json::{Body, Query, depth};
use super::paging::Page;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

const USUAL_PAGE: u32 = 25;
const MESSAGE_CHARS: usize = 2_000;
const DATA_BYTES: usize = 1_000_000;
const DATA_DEPTH: usize = 10;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct PendingQuery {
    /// From 1.
    page: Option<u32>,
    /// 1 to 100; 25 when not given.
    page_size: Option<u32>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Action {
    /// All of one run; taken together or not at all.
    reviews: Vec<ReviewItem>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewItem {
    node_exec_id: ReviewId,
    approved: bool,
    /// At most 2000 characters.
    message: Option<String>,
    /// What is approved instead of the payload, at most 1 MB and ten levels deep. Not looked at in a rejection.
    reviewed_data: Option<Value>,
    /// Approve this node for the rest of the run, as it asks.
    #[serde(default)]
    auto_approve_future: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ActionTaken {
    approved_count: usize,
    rejected_count: usize,
    /// Always 0: they are taken together or not at all.
    failed_count: usize,
    error: Option<String>,
}

/// What waits for you, the oldest first.
#[utoipa::path(
    get, path = "/review/pending", operation_id = "list_pending_reviews", tag = "reviews",
    params(PendingQuery),
    responses((status = 200, description = "Done", body = Vec<Review>), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn pending(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<PendingQuery>,
) -> Answer<Json<Vec<Review>>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let (reviews, _) = app.ports.reviews.pending(&user, page.size(), page.offset()).await?;
    Ok(Json(reviews))
}

/// What one run has asked, decided or not, the oldest first.
#[utoipa::path(
    get, path = "/review/execution/{execution_id}", operation_id = "list_execution_reviews", tag = "reviews",
    params(("execution_id" = String, Path)),
    responses((status = 200, description = "Done", body = Vec<Review>), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn of_execution(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(execution): Id<ExecutionId>,
) -> Answer<Json<Vec<Review>>> {
    let reviews = app.ports.reviews.of_execution(&user, &execution).await?;
    // Blocks that run by themselves ask as well, and belong to no run.
    if reviews.is_empty() && app.ports.executions.get(&user, &execution).await?.is_none() {
        return Err(no_execution());
    }
    Ok(Json(reviews))
}

/// Decide. The run goes on when nothing waits any more.
#[utoipa::path(
    post, path = "/review/action", operation_id = "decide_reviews", tag = "reviews",
    request_body = Action,
    responses((status = 200, description = "ReviewsDecided", body = ActionTaken), (status = 400, description = "Not to be decided like this", body = ProblemBody), (status = 404, description = "There is no such review of yours", body = ProblemBody), (status = 409, description = "ReviewsDecided before, of different runs, or of a run that has ended", body = ProblemBody))
)]
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(action): Body<Action>,
) -> Answer<Json<ActionTaken>> {
    let verdicts = action.verdicts()?;
    match app.engine.decide_reviews(&user, &verdicts).await? {
        ReviewsDecided::Done { reviews, .. } => Ok(Json(ActionTaken::of(&reviews))),
        ReviewsDecided::Unknown(_) => {
            Err(Problem::new(ProblemCode::ReviewNotFound, "There is no such review."))
        }
        ReviewsDecided::Mixed => Err(Problem::new(
            ProblemCode::ReviewsMixed,
            "These reviews belong to different runs. Decide each run by itself.",
        )),
        ReviewsDecided::Before(id) => {
            Err(Problem::new(ProblemCode::ReviewDecided, format!("{id} was decided before.")))
        }
        ReviewsDecided::Ended => {
            Err(Problem::new(ProblemCode::ExecutionEnded, "The run has ended."))
        }
        ReviewsDecided::NotEditable(id) => Err(refused(format!("{id} cannot be edited."))),
    }
}

impl Action {
    fn verdicts(self) -> Answer<Vec<ReviewVerdict>> {
        if self.reviews.is_empty() {
            return Err(refused("There is nothing to decide."));
        }
        let mut ids = HashSet::new();
        if let Some(twice) = self.reviews.iter().find(|item| !ids.insert(&item.node_exec_id)) {
            return Err(refused(format!("{} is there twice.", twice.node_exec_id)));
        }
        self.reviews.into_iter().map(ReviewItem::verdict).collect()
    }
}

impl ReviewItem {
    fn verdict(self) -> Answer<ReviewVerdict> {
        let message = self.message.filter(|message| !message.trim().is_empty());
        if message.as_ref().is_some_and(|message| message.chars().count() > MESSAGE_CHARS) {
            return Err(refused(format!("A message has at most {MESSAGE_CHARS} characters.")));
        }
        let data = self.reviewed_data.filter(|_| self.approved);
        if let Some(data) = &data {
            let written = data.to_string();
            if written.len() > DATA_BYTES || depth(written.as_bytes()) > DATA_DEPTH {
                return Err(refused(format!(
                    "reviewed_data has at most {DATA_BYTES} bytes and {DATA_DEPTH} levels."
                )));
            }
        }
        let for_the_rest = self.approved && self.auto_approve_future;
        // What comes later is not known, so nobody can have edited it.
        if for_the_rest && data.is_some() {
            return Err(refused(
                "What is approved for the rest of the run cannot be edited at the same time.",
            ));
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

impl ActionTaken {
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

fn refused(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(items: Value) -> Answer<Vec<ReviewVerdict>> {
        let action: Action = serde_json::from_value(json!({"reviews": items})).expect("an action");
        action.verdicts()
    }

    #[test]
    fn what_cannot_be_decided_is_refused() {
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
    fn a_rejection_edits_nothing_and_holds_once() {
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
