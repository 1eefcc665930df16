//! Splits a URL into its server address and the parts before and after it.

use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, Result};

pub(crate) struct UrlServer<'a> {
    pub(crate) before: &'a str,
    pub(crate) address: SocketAddr,
    pub(crate) after: &'a str,
}

pub(crate) fn server_in(url: &str) -> Result<UrlServer<'_>> {
    let (scheme, _) = url.split_once("://").context("the URL has no scheme")?;
    let start = scheme.len() + "://".len();
    let end = url[start..].find(['/', '?']).map_or(url.len(), |length| start + length);
    // A password may contain anything, so the last `@` counts.
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    let named = &url[host..end];
    let named = match named.contains(':') {
        true => named.to_owned(),
        false => format!("{named}:{}", usual_port(scheme)?),
    };
    let address = named.to_socket_addrs()?.next().context("the server name has no address")?;
    Ok(UrlServer { before: &url[..host], address, after: &url[end..] })
}

fn usual_port(scheme: &str) -> Result<u16> {
    match scheme {
        "postgres" | "postgresql" => Ok(5432),
        "redis" => Ok(6379),
        "amqp" => Ok(5672),
        _ => anyhow::bail!("the URL names no port"),
    }
}
