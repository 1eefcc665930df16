//! Publishes agents in the marketplace.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ports::store::ListingPublished;
use protocol::library::Listing;
use protocol::problem::ProblemCode;
use protocol::{GraphId, ListingVersionId, NodeId, UserId};
use serde::Deserialize;
use serde_json::json;

use super::body::StoreAgent;
use crate::http::AppState;
use crate::http::extract::auth::digest;
use crate::http::extract::{JsonBody, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::InvalidField;
use crate::http::routes::graphs::{InvalidGraphBody, invalid_graph, no_graph};

const SLUG_CHARS: usize = 64;
const USERNAME_CHARS: std::ops::RangeInclusive<usize> = 3..=40;
const NAME_CHARS: usize = 100;
const SUB_HEADING_CHARS: usize = 200;
const DESCRIPTION_CHARS: usize = 10_000;
const CATEGORIES: usize = 10;
const CATEGORY_CHARS: usize = 50;
/// Hex digits of a generated user name: enough to make it unique.
const DERIVED_DIGITS: usize = 12;
/// A user id that owns nothing and that no one can sign in as: it sees only what everyone can see.
const PUBLIC_VIEWER: &str = ":nobody";

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarketplaceSubmission {
    graph_id: GraphId,
    graph_version: u32,
    /// Lower-case letters, digits and single hyphens, at most 64. Publishing under the same slug again creates a new
    /// version.
    slug: String,
    name: String,
    #[serde(default)]
    sub_heading: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    categories: Vec<String>,
    /// The name to publish under. Chosen with the first agent and fixed afterward; generated when absent.
    username: Option<String>,
}

/// Publish a version of one of your agents. Everyone can then read and run it, including the values set in its nodes, so
/// an agent that contains keys or passwords is refused.
#[utoipa::path(
    post, path = "/store/submissions", operation_id = "publish_agent", tag = "marketplace",
    request_body = MarketplaceSubmission,
    responses((status = 200, description = "The marketplace agent", body = StoreAgent), (status = 400, description = "The graph is invalid, or contains secrets", body = InvalidGraphBody), (status = 404, description = "Agent not found, or not owned by the caller", body = ProblemBody), (status = 409, description = "The name is taken, or the marketplace is full", body = ProblemBody), InvalidField)
)]
pub(crate) async fn publish(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(submission): JsonBody<MarketplaceSubmission>,
) -> ApiResult<Json<StoreAgent>> {
    let submission = submission.checked()?;
    let (id, version) = (&submission.graph_id, submission.graph_version);
    // Agents of others are visible too, but only one's own can be published.
    let own = app.ports.graphs.versions(&user, id).await?;
    if !own.iter().any(|meta| meta.version == version) {
        return Err(no_graph());
    }
    let stored = app.ports.graphs.get(&user, id, Some(version)).await?.ok_or_else(no_graph)?;
    let problems = app.engine.check_graph(&stored.graph);
    if !problems.is_empty() {
        return Err(invalid_graph(&problems));
    }
    check_inner_agents_are_published(&app, &user, &submission).await?;
    let with_secrets = app.engine.nodes_with_secrets(&stored.graph);
    if !with_secrets.is_empty() {
        return Err(secrets(&with_secrets));
    }
    let published = app.ports.listings.list().await?;
    let before = published.iter().find(|listing| listing.owner == user);
    let username = username(&user, before, submission.username.as_deref())?;
    let listing = Listing {
        version_id: ListingVersionId::fresh(),
        username,
        slug: submission.slug,
        name: submission.name,
        sub_heading: submission.sub_heading,
        description: submission.description,
        categories: submission.categories,
        is_featured: false,
        graph_id: submission.graph_id,
        graph_version: version,
        owner: user,
        runs: 0,
        updated_at: app.ports.clock.now(),
    };
    match app.ports.listings.publish(&listing, &stored.graph).await? {
        ListingPublished::New | ListingPublished::NewVersion | ListingPublished::Before => {
            Ok(Json(listing.into()))
        }
        ListingPublished::NameTaken => Err(name_taken()),
        ListingPublished::TooMany => {
            Err(ApiProblem::new(ProblemCode::StoreFull, "The marketplace is full."))
        }
    }
}

/// Executions by other users find the agents that it runs only in the marketplace.
async fn check_inner_agents_are_published(
    app: &AppState,
    user: &UserId,
    submission: &MarketplaceSubmission,
) -> ApiResult<()> {
    let (id, version) = (&submission.graph_id, submission.graph_version);
    let exported = app.engine.export_graph(user, id, Some(version)).await?.ok_or_else(no_graph)?;
    for inner in exported.sub_graphs {
        let viewer = UserId::from(PUBLIC_VIEWER);
        if app.ports.graphs.get(&viewer, &inner.id, Some(inner.version)).await?.is_none() {
            let detail = format!(
                "This agent runs version {} of “{}” ({}), which is not in the marketplace. Publish that one first.",
                inner.version, inner.name, inner.id
            );
            return Err(ApiProblem::new(ProblemCode::BadRequest, detail));
        }
    }
    Ok(())
}

impl MarketplaceSubmission {
    fn checked(mut self) -> ApiResult<Self> {
        self.name = self.name.trim().to_owned();
        if !is_slug(&self.slug) || self.slug.len() > SLUG_CHARS {
            return Err(ApiProblem::invalid(format!(
                "The slug must consist of at most {SLUG_CHARS} lower-case letters, digits and single hyphens."
            )));
        }
        if self.name.is_empty() {
            return Err(ApiProblem::invalid("The name must not be empty."));
        }
        for (what, text, most) in [
            ("name", &self.name, NAME_CHARS),
            ("sub_heading", &self.sub_heading, SUB_HEADING_CHARS),
            ("description", &self.description, DESCRIPTION_CHARS),
        ] {
            if text.chars().count() > most {
                return Err(ApiProblem::invalid(format!(
                    "{what} must have at most {most} characters."
                )));
            }
        }
        let fits = |category: &String| (1..=CATEGORY_CHARS).contains(&category.chars().count());
        if self.categories.len() > CATEGORIES || !self.categories.iter().all(fits) {
            return Err(ApiProblem::invalid(format!(
                "There can be at most {CATEGORIES} categories of 1 to {CATEGORY_CHARS} characters."
            )));
        }
        Ok(self)
    }
}

/// The name that this user has already published under, or the chosen one, or a generated one that does not reveal the
/// user id.
fn username(user: &UserId, before: Option<&Listing>, chosen: Option<&str>) -> ApiResult<String> {
    match (before, chosen) {
        (Some(before), None) => Ok(before.username.clone()),
        (Some(before), Some(chosen)) if before.username == chosen => Ok(before.username.clone()),
        (Some(before), Some(_)) => Err(ApiProblem::invalid(format!(
            "You publish as {}, which cannot be changed.",
            before.username
        ))),
        (None, Some(chosen)) if is_slug(chosen) && USERNAME_CHARS.contains(&chosen.len()) => {
            Ok(chosen.to_owned())
        }
        (None, Some(_)) => Err(ApiProblem::invalid(
            "The user name must consist of 3 to 40 lower-case letters, digits and single hyphens.",
        )),
        (None, None) => {
            let digest = digest(user.as_str().as_bytes());
            Ok(format!("user-{}", &digest[..DERIVED_DIGITS]))
        }
    }
}

/// Whether the text can be used in a URL unchanged.
fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(is_word)
}

/// Not removed automatically: the published agent would differ from the tested one.
fn secrets(nodes: &[NodeId]) -> ApiProblem {
    let detail = "This agent contains keys or passwords that everyone could read. Make them inputs of the agent, and \
                  publish that version.";
    ApiProblem::new(ProblemCode::SecretsInAgent, detail).with("node_ids", json!(nodes))
}

fn name_taken() -> ApiProblem {
    ApiProblem::new(ProblemCode::StoreNameTaken, "This name is already taken by another user.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_can_be_used_in_a_url_unchanged() {
        for good in ["a", "feed-digest", "top-10"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-", "a-", "-a", "a--b", "A", "a b", "a/b", "ä", "a_b", ".."] {
            assert!(!is_slug(bad), "{bad}");
        }
    }

    #[test]
    fn a_generated_user_name_does_not_reveal_the_user() {
        let user = UserId::from("anna@example.org");
        let derived = username(&user, None, None).expect("a name");
        assert!(derived.starts_with("user-") && !derived.contains("anna"));
        assert_eq!(username(&user, None, None).expect("the same"), derived);
        assert!(is_slug(&derived) && USERNAME_CHARS.contains(&derived.len()));
        assert_eq!(username(&user, None, Some("anna")).expect("chosen"), "anna");
        for bad in ["an", "Anna", "a/b/c"] {
            assert!(username(&user, None, Some(bad)).is_err(), "{bad}");
        }
    }
}
