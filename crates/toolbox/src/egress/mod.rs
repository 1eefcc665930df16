//! The one client for every address that somebody else supplies: a person, a model, a page. It reaches the public
//! internet and nothing else, whatever the address looks like, resolves to or redirects to, and it takes in only as
//! much as the caller allows, for only as long.

mod address;
mod body;
mod client;
mod error;
mod request;
mod resolve;
mod target;

pub use client::{EgressClient, EgressOptions, FetchLimits, FetchedResponse};
pub use error::EgressError;
pub use request::EgressRequest;
pub use reqwest::Method;
pub use reqwest::header::HeaderMap;
pub use resolve::{HostResolver, SystemResolver};
