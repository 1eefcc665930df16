//! Addresses that the operator of the server has configured, and the client for them.
//!
//! `egress` is for addresses from strangers. These are the operator's own choice: a model on the same machine, a
//! service inside the network. So private addresses are allowed here, and only here. The answer is trusted not to be
//! an attack on the server; it is bounded by whoever reads it all the same.

use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use url::Url;

/// Below what common servers grant, so that we close first and no request meets a closing socket.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// `None` unless it is an http or https address with a host and without a user name.
pub(crate) fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.has_host();
    // A password in the address would be shown wherever the address is.
    (plain && url.username().is_empty() && url.password().is_none()).then_some(url)
}

pub(crate) fn client(address: &Url, connect: Duration) -> ClientBuilder {
    // Somebody else may have installed one before; whichever was first serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .no_proxy()
        // A redirect would carry the key and the content to another place.
        .redirect(reqwest::redirect::Policy::none())
        // Compression holds small events back and lets a small body grow in memory.
        .no_gzip()
        .no_brotli()
        .connect_timeout(connect)
        .pool_idle_timeout(POOL_IDLE);
    match address.scheme() {
        // Without this a server on the own machine would need the system's root certificates.
        "http" => builder.tls_certs_only([]),
        _ => builder,
    }
}
