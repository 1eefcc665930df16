//! Every route of the API, in alphabetical order.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    AppState, about, api_keys, blocks, cancel, credits, executions, follow_ups, graphs, history,
    library, marketplace, operations, overview, reviews, service_info, sessions, stream, tasks,
    usage, workspace,
};

/// Routes that need an identity. New routes belong here unless there is a reason.
pub(super) fn protected() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(routes!(api_keys::create, api_keys::list))
        .routes(routes!(api_keys::revoke))
        .merge(agents())
        .routes(routes!(cancel::cancel))
        .routes(routes!(follow_ups::send, follow_ups::list))
        .routes(routes!(history::read, sessions::delete))
        .routes(routes!(service_info::stream_ttl))
        .routes(routes!(service_info::suggested_prompts))
        .routes(routes!(service_info::tool_responses))
        .routes(routes!(sessions::assign_user))
        .routes(routes!(sessions::create, sessions::list))
        .routes(routes!(sessions::set_pinned))
        .routes(routes!(sessions::set_title))
        .routes(routes!(stream::follow_task))
        .routes(routes!(stream::start, stream::resume))
        .routes(routes!(tasks::read))
        .routes(routes!(usage::read))
        .routes(routes!(workspace::download))
        .routes(routes!(workspace::list))
}

/// Routes of agents, which all need a signed-in user.
fn agents() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(routes!(blocks::execute))
        .routes(routes!(blocks::list))
        .routes(routes!(credits::read, credits::top_up))
        .routes(routes!(credits::transactions))
        .routes(routes!(executions::list))
        .routes(routes!(executions::list_of_graph))
        .routes(routes!(executions::read, executions::delete))
        .routes(routes!(executions::read_of_graph))
        .routes(routes!(executions::start::active))
        .routes(routes!(executions::start::version))
        .routes(routes!(executions::stop))
        .routes(routes!(executions::stream::follow))
        .routes(routes!(executions::wait))
        .routes(routes!(graphs::activate))
        .routes(routes!(graphs::list, graphs::create))
        .routes(routes!(graphs::read, graphs::update, graphs::delete))
        .routes(routes!(graphs::read_version))
        .routes(routes!(graphs::set_settings))
        .routes(routes!(graphs::versions))
        .routes(routes!(library::by_graph))
        .routes(routes!(library::by_listing))
        .routes(routes!(library::favorites))
        .routes(routes!(library::folders::list, library::folders::create))
        .routes(routes!(library::folders::move_agents))
        .routes(routes!(library::folders::move_to))
        .routes(routes!(library::folders::read, library::folders::update, library::folders::delete))
        .routes(routes!(library::folders::tree))
        .routes(routes!(library::fork))
        .routes(routes!(library::list, library::add))
        .routes(routes!(library::read, library::update, library::remove))
        .routes(routes!(reviews::decide))
        .routes(routes!(reviews::of_execution))
        .routes(routes!(reviews::pending))
        .routes(routes!(marketplace::list))
        .routes(routes!(marketplace::read))
        .routes(routes!(marketplace::search))
        .routes(routes!(marketplace::submission::publish))
}

/// Routes that need no identity, or that require the internal key.
pub(super) fn open() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(routes!(about::about))
        .routes(routes!(credits::grant))
        .routes(routes!(service_info::chat_health))
        .routes(routes!(operations::complete))
        .routes(routes!(overview::overview))
}
