//! Putting an agent into the marketplace.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ports::store::ListingPublished;
use protocol::library::Listing;
use protocol::problem::ProblemCode;
use protocol::{GraphId, ListingVersionId, NodeId, UserId};
use serde::Deserialize;
use serde_json::json;

use super::super::App;
use super::super::auth::{Person, digest};
use super::super::graphs::{InvalidGraphBody, invalid_graph, no_graph};
use super::super::json::Body;
use super::super::problem::{Answer, Problem, ProblemBody};
use super::body::StoreAgent;

const SLUG_CHARS: usize = 64;
const USERNAME_CHARS: std::ops::RangeInclusive<usize> = 3..=40;
const NAME_CHARS: usize = 100;
const SUB_HEADING_CHARS: usize = 200;
const DESCRIPTION_CHARS: usize = 10_000;
const CATEGORIES: usize = 10;
const CATEGORY_CHARS: usize = 50;
/// Hex digits of a user name that nobody chose: as many as make two of them different.
const DERIVED_DIGITS: usize = 12;
/// A user who has nothing, and whom nobody can sign in as: what they see, everybody sees.
const NOBODY: &str = ":nobody";

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submission {
    graph_id: GraphId,
    graph_version: u32,
    /// Small letters, digits and single hyphens, at most 64. The same one again is a newer version.
    slug: String,
    name: String,
    #[serde(default)]
    sub_heading: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    categories: Vec<String>,
    /// The name to publish under: chosen with the first agent, the same ever after. One is made when it is not given.
    username: Option<String>,
}

/// Publish a version of an agent of yours. Everybody can then read and run it, with all that its nodes are set to, so
/// that one with keys or passwords among it is refused.
#[utoipa::path(
    post, path = "/store/submissions", operation_id = "publish_agent", tag = "store",
    request_body = Submission,
    responses((status = 200, description = "It is in the marketplace", body = StoreAgent), (status = 400, description = "The graph cannot run, or holds secrets", body = InvalidGraphBody), (status = 404, description = "There is no such agent of yours", body = ProblemBody), (status = 409, description = "The name is taken, or the marketplace is full", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn publish(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(submission): Body<Submission>,
) -> Answer<Json<StoreAgent>> {
    let submission = submission.checked()?;
    let (id, version) = (&submission.graph_id, submission.graph_version);
    // Others' agents can be seen as well, but only one's own can be published.
    let own = app.ports.graphs.versions(&user, id).await?;
    if !own.iter().any(|meta| meta.version == version) {
        return Err(no_graph());
    }
    let stored = app.ports.graphs.get(&user, id, Some(version)).await?.ok_or_else(no_graph)?;
    let problems = app.engine.check_graph(&stored.graph);
    if !problems.is_empty() {
        return Err(invalid_graph(&problems));
    }
    everybody_sees_what_it_runs(&app, &user, &submission).await?;
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
            Err(Problem::new(ProblemCode::StoreFull, "The marketplace is full."))
        }
    }
}

/// A run of somebody else finds the agents within it only in the marketplace.
async fn everybody_sees_what_it_runs(
    app: &App,
    user: &UserId,
    submission: &Submission,
) -> Answer<()> {
    let (id, version) = (&submission.graph_id, submission.graph_version);
    let exported = app.engine.export_graph(user, id, Some(version)).await?.ok_or_else(no_graph)?;
    for inner in exported.sub_graphs {
        let nobody = UserId::from(NOBODY);
        if app.ports.graphs.get(&nobody, &inner.id, Some(inner.version)).await?.is_none() {
            let detail = format!(
                "It runs version {} of “{}” ({}), which is not in the marketplace. Publish that one first.",
                inner.version, inner.name, inner.id
            );
            return Err(Problem::new(ProblemCode::BadRequest, detail));
        }
    }
    Ok(())
}

impl Submission {
    fn checked(mut self) -> Answer<Self> {
        self.name = self.name.trim().to_owned();
        if !is_slug(&self.slug) || self.slug.len() > SLUG_CHARS {
            return Err(Problem::invalid(format!(
                "A slug has small letters, digits and single hyphens, at most {SLUG_CHARS}."
            )));
        }
        if self.name.is_empty() {
            return Err(Problem::invalid("The agent needs a name."));
        }
        for (what, text, most) in [
            ("name", &self.name, NAME_CHARS),
            ("sub_heading", &self.sub_heading, SUB_HEADING_CHARS),
            ("description", &self.description, DESCRIPTION_CHARS),
        ] {
            if text.chars().count() > most {
                return Err(Problem::invalid(format!("{what} has at most {most} characters.")));
            }
        }
        let fits = |category: &String| (1..=CATEGORY_CHARS).contains(&category.chars().count());
        if self.categories.len() > CATEGORIES || !self.categories.iter().all(fits) {
            return Err(Problem::invalid(format!(
                "There are at most {CATEGORIES} categories of 1 to {CATEGORY_CHARS} characters."
            )));
        }
        Ok(self)
    }
}

/// The name that this user has published under before, or else the chosen one, or else one that tells nothing about
/// them.
fn username(user: &UserId, before: Option<&Listing>, chosen: Option<&str>) -> Answer<String> {
    match (before, chosen) {
        (Some(before), None) => Ok(before.username.clone()),
        (Some(before), Some(chosen)) if before.username == chosen => Ok(before.username.clone()),
        (Some(before), Some(_)) => Err(Problem::invalid(format!(
            "You publish as {} and cannot change that.",
            before.username
        ))),
        (None, Some(chosen)) if is_slug(chosen) && USERNAME_CHARS.contains(&chosen.len()) => {
            Ok(chosen.to_owned())
        }
        (None, Some(_)) => Err(Problem::invalid(
            "A user name has 3 to 40 small letters, digits and single hyphens.",
        )),
        (None, None) => {
            let digest = digest(user.as_str().as_bytes());
            Ok(format!("user-{}", &digest[..DERIVED_DIGITS]))
        }
    }
}

/// What can stand in an address as it is.
fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(is_word)
}

/// Taking them out would publish something else than what its author has tried.
fn secrets(nodes: &[NodeId]) -> Problem {
    let detail = "Everybody could read the keys and passwords that this agent is set to. Make them inputs of the \
                  agent, and publish that version.";
    Problem::new(ProblemCode::SecretsInAgent, detail).with("node_ids", json!(nodes))
}

fn name_taken() -> Problem {
    Problem::new(ProblemCode::StoreNameTaken, "Somebody else publishes under this name.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_can_stand_in_an_address_as_it_is() {
        for good in ["a", "feed-digest", "top-10"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-", "a-", "-a", "a--b", "A", "a b", "a/b", "ä", "a_b", ".."] {
            assert!(!is_slug(bad), "{bad}");
        }
    }

    #[test]
    fn a_user_name_that_nobody_chose_tells_nothing_about_the_user() {
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
