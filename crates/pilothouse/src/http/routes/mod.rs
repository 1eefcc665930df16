//! Every route below `/api`: one file or folder for each noun, whose `routes()` lists its handlers. Health, metrics and
//! the page are outside `/api`; the router in `server` adds them.

pub(crate) mod about;
mod agents;
mod api_keys;
mod blocks;
mod cancel;
mod credits;
mod executions;
mod follow_ups;
mod graphs;
pub(crate) mod health;
mod library;
mod marketplace;
pub(crate) mod metrics;
mod operations;
pub(crate) mod overview;
mod reviews;
mod service_info;
mod sessions;
mod stream;
mod tasks;
pub(crate) mod tools;
mod usage;
mod workspace;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;

pub(crate) type ApiRoutes = OpenApiRouter<Arc<AppState>>;

/// Routes that need an identity. New nouns belong here.
pub(crate) fn protected() -> ApiRoutes {
    agents()
        .merge(api_keys::routes())
        .merge(cancel::routes())
        .merge(follow_ups::routes())
        .merge(service_info::routes())
        .merge(sessions::routes())
        .merge(stream::routes())
        .merge(tasks::routes())
        .merge(tools::routes())
        .merge(usage::routes())
        .merge(workspace::routes())
}

/// Routes of agents, which all need a signed-in user.
fn agents() -> ApiRoutes {
    ApiRoutes::new()
        .merge(agents::routes())
        .merge(blocks::routes())
        .merge(credits::routes())
        .merge(executions::routes())
        .merge(graphs::routes())
        .merge(library::routes())
        .merge(marketplace::routes())
        .merge(reviews::routes())
}

/// Routes that need no identity, or that require the internal key. Each handler is named here, so that no route is open
/// because of the file it is in.
pub(crate) fn open() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(about::about))
        .routes(routes!(credits::grant))
        .routes(routes!(operations::complete))
        .routes(routes!(overview::overview))
        .routes(routes!(service_info::chat_health))
}
