//! HTTP client for URLs from untrusted sources: users, models, fetched pages. It connects to the public internet only,
//! whatever the URL looks like, resolves to or redirects to, and limits the size and duration of every response.

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
