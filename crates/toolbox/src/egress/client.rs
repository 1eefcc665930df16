//! The HTTP client. It follows redirects itself, checks every hop like a first URL, and reads the body under limits.
//!
//! A request carries the caller's headers and body and a few fixed headers: no cookies, no referrer.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ipnet::IpNet;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use url::Url;

use super::address::AddressPolicy;
use super::body::{BodyBuffer, BufferSpace, ContentCoding};
use super::error::EgressError;
use super::request::EgressRequest;
use super::resolve::{CheckedResolver, HostResolver, SystemResolver};
use super::target::TargetPolicy;

const MAX_REDIRECTS: usize = 5;
const MAX_HEADERS: usize = 100;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const CONTENT_TYPE_CHARS: usize = 100;
const ACCEPTED: &str = "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1";

pub struct EgressOptions {
    pub ports: Vec<u16>,
    /// Networks that are permitted although they are not public, for operators with internal documents.
    pub allowed_networks: Vec<IpNet>,
    pub resolver: Arc<dyn HostResolver>,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self {
            ports: vec![80, 443],
            allowed_networks: Vec::new(),
            resolver: Arc::new(SystemResolver::default()),
        }
    }
}

/// Limits of one fetch.
#[derive(Clone, Copy)]
pub struct FetchLimits {
    /// Size of the decompressed body. A longer body is truncated, not an error.
    pub bytes: usize,
    /// From the first DNS lookup to the last byte.
    pub total: Duration,
    /// Longest time without a new byte.
    pub idle: Duration,
    /// Accepts or refuses the media type (lower case, without parameters) before the body is read.
    pub accepts: fn(&str) -> bool,
}

#[derive(Clone, Debug)]
pub struct FetchedResponse {
    /// The final URL, after redirects.
    pub url: Url,
    pub status: u16,
    /// As the server sent it, with its parameters.
    pub content_type: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The body was longer than the limit.
    pub truncated: bool,
}

#[derive(Clone)]
pub struct EgressClient {
    http: reqwest::Client,
    targets: Arc<TargetPolicy>,
}

impl EgressClient {
    pub fn new(options: EgressOptions) -> Result<Self, reqwest::Error> {
        // The HTTP client uses the process-wide crypto provider. An error means that it is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let addresses = AddressPolicy { allowed_networks: options.allowed_networks };
        let resolver =
            CheckedResolver { inner: options.resolver, policy: Arc::new(addresses.clone()) };
        let http = reqwest::Client::builder()
            .dns_resolver(Arc::new(resolver))
            // A proxy from the environment would resolve and connect instead of this client, unchecked.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // Decompressed by `BodyBuffer`, which checks the ratio.
            .no_gzip()
            .no_brotli()
            .http1_only()
            .http1_max_headers(MAX_HEADERS)
            .connect_timeout(CONNECT_TIMEOUT)
            // A pooled connection would outlive the check of its address.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("Pilothouse/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, targets: Arc::new(TargetPolicy { ports: options.ports, addresses }) })
    }

    pub async fn get(
        &self,
        url: &str,
        limits: FetchLimits,
    ) -> Result<FetchedResponse, EgressError> {
        self.send(EgressRequest::get(url), limits).await
    }

    pub async fn send(
        &self,
        request: EgressRequest,
        limits: FetchLimits,
    ) -> Result<FetchedResponse, EgressError> {
        self.send_until(request, limits, |_| false).await
    }

    /// Stops reading as soon as `enough` accepts the body so far, for servers that keep the stream open after the response.
    pub async fn send_until(
        &self,
        request: EgressRequest,
        limits: FetchLimits,
        enough: fn(&[u8]) -> bool,
    ) -> Result<FetchedResponse, EgressError> {
        let url = self.targets.parse(&request.url)?;
        tokio::time::timeout(limits.total, self.follow(url, request, limits, enough))
            .await
            .unwrap_or(Err(EgressError::TimedOut))
    }

    async fn follow(
        &self,
        mut url: Url,
        mut request: EgressRequest,
        limits: FetchLimits,
        enough: fn(&[u8]) -> bool,
    ) -> Result<FetchedResponse, EgressError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&url, &request, limits).await?;
            let status = response.status();
            let next = match header(response.headers(), &LOCATION) {
                Some(location) if status.is_redirection() => self.targets.follow(&url, location)?,
                _ => return read(url, response, limits, enough).await,
            };
            request = request.redirected(status, &url, &next)?;
            url = next;
        }
        Err(EgressError::TooManyRedirects)
    }

    async fn request(
        &self,
        url: &Url,
        request: &EgressRequest,
        limits: FetchLimits,
    ) -> Result<reqwest::Response, EgressError> {
        let mut sent = self
            .http
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone())
            .header(ACCEPT_ENCODING, "gzip");
        if !request.headers.contains_key(ACCEPT) {
            sent = sent.header(ACCEPT, ACCEPTED);
        }
        if !request.body.is_empty() {
            sent = sent.body(request.body.clone());
        }
        tokio::time::timeout(limits.idle, sent.send())
            .await
            .map_err(|_| EgressError::TimedOut)?
            .map_err(|error| reason(&error))
    }
}

async fn read(
    url: Url,
    mut response: reqwest::Response,
    limits: FetchLimits,
    enough: fn(&[u8]) -> bool,
) -> Result<FetchedResponse, EgressError> {
    let status = response.status().as_u16();
    let content_type = header(response.headers(), &CONTENT_TYPE).unwrap_or_default().to_owned();
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !(limits.accepts)(&media_type) {
        let shown = if media_type.is_empty() { "(none given)" } else { &media_type };
        return Err(EgressError::ContentType(shown.chars().take(CONTENT_TYPE_CHARS).collect()));
    }
    let coding = ContentCoding::parse(header(response.headers(), &CONTENT_ENCODING))?;
    let mut body = BodyBuffer::new(coding, limits.bytes);
    let mut truncated = false;
    loop {
        let piece = tokio::time::timeout(limits.idle, response.chunk())
            .await
            .map_err(|_| EgressError::TimedOut)?
            .map_err(|error| reason(&error))?;
        match piece {
            None => break,
            Some(piece) if body.push(&piece)? == BufferSpace::Full => {
                truncated = true;
                break;
            }
            Some(_) if enough(body.so_far()) => break,
            Some(_) => {}
        }
    }
    let headers = std::mem::take(response.headers_mut());
    let body = Bytes::from(body.into_bytes());
    Ok(FetchedResponse { url, status, content_type, headers, body, truncated })
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Extracts the resolver's error from the HTTP client's error; all other errors are network errors.
fn reason(error: &reqwest::Error) -> EgressError {
    let mut source: Option<&(dyn Error + 'static)> = error.source();
    while let Some(inner) = source {
        if let Some(resolver_error) = inner.downcast_ref::<EgressError>() {
            return resolver_error.clone();
        }
        source = inner.source();
    }
    if error.is_timeout() { EgressError::TimedOut } else { EgressError::Unreachable }
}
