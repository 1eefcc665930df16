//! The server: accepts connections within their limits, and passes every request through the middleware to its route.

mod accept;
mod base_path;
mod middleware;
mod permit_pool;
mod router;
mod write_timeout;

pub(crate) use self::accept::{ConnectionTimeouts, HttpServer, HttpService, PeerAddress};
pub(crate) use self::permit_pool::{PermitPool, PooledPermit};
pub(crate) use self::router::{busy_router, executor_router, no_route, router};
