//! The HTTP layer. `server` accepts connections and routes requests, `extract` turns a request into typed input, `routes`
//! has a file or folder for each noun of the API, `stream` writes event streams, and `page` serves the web page.

mod document;
mod extract;
mod page;
mod problem;
mod responses;
mod routes;
pub(crate) mod server;
mod state;
mod stream;

pub(crate) use self::document::document;
pub(crate) use self::extract::auth::mint_token;
pub(crate) use self::routes::metrics;
pub(crate) use self::routes::tools::ToolList;
pub(crate) use self::state::{AppState, ModelInfo};
