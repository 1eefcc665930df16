//! What turns a request into typed input: the caller's identity, JSON bodies, query strings, ids in paths and pages.

pub(crate) mod auth;
pub(crate) mod internal_key;
pub(crate) mod json;
mod paging;
pub(crate) mod path;
mod search_term;

pub(crate) use self::auth::{CallerIdentity, SignedInUser};
pub(crate) use self::internal_key::InternalCaller;
pub(crate) use self::json::{JsonBody, OptionalJsonBody, Query};
pub(crate) use self::paging::{PageInfo, PageRequest};
pub(crate) use self::path::{PathId, PathIds};
pub(crate) use self::search_term::search_term;
