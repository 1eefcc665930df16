//! HTTP client for URLs that the operator configured: a model on the same machine, a service inside the network.
//!
//! Unlike `egress`, which is for untrusted URLs, it allows private addresses. Responses are trusted not to attack the
//! server; their size is limited by the code that reads them.

use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use url::Url;

/// Below the keep-alive of common servers, so that the client closes first and no request meets a closing socket.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// `None` unless it is an http or https URL with a host and without a user name.
pub(crate) fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.has_host();
    // A password in the URL would be shown wherever the URL is.
    (plain && url.username().is_empty() && url.password().is_none()).then_some(url)
}

pub(crate) fn client(address: &Url, connect: Duration) -> ClientBuilder {
    // An error means that a crypto provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .no_proxy()
        // A redirect would send the key and the content to another server.
        .redirect(reqwest::redirect::Policy::none())
        // Compression delays small events and lets a small body grow in memory.
        .no_gzip()
        .no_brotli()
        .connect_timeout(connect)
        .pool_idle_timeout(POOL_IDLE);
    match address.scheme() {
        // Without this, plain HTTP to a local server would require the system's root certificates.
        "http" => builder.tls_certs_only([]),
        _ => builder,
    }
}
