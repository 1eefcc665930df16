//! Error responses that several routes have in common, for the `responses(…)` of their descriptions.

use std::collections::BTreeMap;

use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::http::problem::ProblemBody;

macro_rules! problem_responses {
    ($($name:ident = $status:literal, $description:literal;)+) => {$(
        #[doc = $description]
        pub(crate) enum $name {}

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                BTreeMap::from([($status.to_owned(), problem($description).into())])
            }
        }
    )+};
}

problem_responses! {
    BlocksNotAllowed = "403", "The graph contains blocks that are not allowed";
    InternalKeyUnset = "503", "No internal key is configured on this server";
    InternalKeyWrong = "401", "The internal key is wrong or missing";
    InvalidField = "422", "A field is missing or invalid";
    LibraryFull = "409", "The library is full";
    NoCredits = "402", "No credits left";
    NotAGraph = "422", "The body is not a graph";
    StaleVersion = "409", "The agent was changed since the version that was edited";
    NotFound = "404", "Not found, or not owned by the caller";
}

fn problem(description: &str) -> Response {
    let schema = Ref::from_schema_name(ProblemBody::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(description).content("application/json", content).build()
}
