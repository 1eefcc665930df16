//! Accepts connections: checks the connection limits before reading anything, applies read and write timeouts, and
//! shuts down gracefully (requests finish) and then forcibly (what is left is cut).

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::write_timeout::WriteTimeoutStream;
use crate::http::server::{PermitPool, PooledPermit};

const MAX_HEADERS: usize = 100;
/// Largest request head, and largest buffered part of a response that the peer does not read.
const BUFFER_BYTES: usize = 32 * 1024;
/// Connections over the limit that get a 503 response at the same time; further ones are reset.
const BUSY_RESPONSES: usize = 64;
/// Time limit of such a 503 response.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failed accept, usually caused by a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// The listening server with all its connections.
pub(crate) struct HttpServer {
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
}

/// What a server serves, and its limits.
#[derive(Clone)]
pub(crate) struct HttpService {
    pub(crate) router: Router,
    /// Responds to connections over the limit.
    pub(crate) busy: Router,
    pub(crate) connections: Arc<PermitPool<IpAddr>>,
    pub(crate) timeouts: ConnectionTimeouts,
}

/// How long a peer may keep a connection without reading or writing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionTimeouts {
    /// For receiving a request head, and for an idle keep-alive connection.
    pub(crate) head: Duration,
    /// For writing response bytes that the peer does not read.
    pub(crate) write: Duration,
}

impl HttpServer {
    pub(crate) fn start(listener: TcpListener, service: HttpService) -> Self {
        let server = Self {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            kill: CancellationToken::new(),
        };
        let accepting = accept_all(
            listener,
            service,
            server.tasks.clone(),
            server.stop.clone(),
            server.kill.clone(),
        );
        server.tasks.spawn(server.stop.clone().run_until_cancelled_owned(accepting));
        server
    }

    /// Stops accepting connections; requests in progress finish.
    pub(crate) fn stop_accepting(&self) {
        self.stop.cancel();
    }

    /// Waits until every connection has ended, and cuts the remaining ones after `grace`.
    pub(crate) async fn close(self, grace: Duration) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.kill.cancel();
            self.tasks.wait().await;
        }
    }
}

async fn accept_all(
    listener: TcpListener,
    service: HttpService,
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
) {
    let busy_responses = Arc::new(Semaphore::new(BUSY_RESPONSES));
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let peer = PeerAddress(address.ip().to_canonical());
        if let Some(permit) = service.connections.admit(peer.0) {
            let service = service.clone();
            tasks.spawn(serve(stream, address, peer, service, permit, stop.clone(), kill.clone()));
        } else if let Ok(busy_permit) = Arc::clone(&busy_responses).try_acquire_owned() {
            metrics::counter!("pilothouse_refused_connections_total").increment(1);
            let HttpService { busy, timeouts, .. } = service.clone();
            tasks.spawn(kill.clone().run_until_cancelled_owned(async move {
                let mut http = protocol(timeouts);
                let http = http.keep_alive(false);
                let answering = http.serve_connection(io(stream, timeouts), answer(busy, peer));
                let _ = tokio::time::timeout(BUSY_TIMEOUT, answering).await;
                drop(busy_permit);
            }));
        } else {
            metrics::counter!("pilothouse_refused_connections_total").increment(1);
            let _ = stream.set_zero_linger();
        }
    }
}

async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    peer: PeerAddress,
    service: HttpService,
    permit: PooledPermit<IpAddr>,
    stop: CancellationToken,
    kill: CancellationToken,
) {
    let HttpService { router, timeouts, .. } = service;
    let serving = protocol(timeouts).serve_connection(io(stream, timeouts), answer(router, peer));
    let mut connection = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stop.cancelled() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = kill.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %address, %error, "connection failed");
    }
    drop(permit);
}

fn protocol(timeouts: ConnectionTimeouts) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(timeouts.head)
        .max_headers(MAX_HEADERS)
        .max_buf_size(BUFFER_BYTES);
    http
}

fn io(stream: TcpStream, timeouts: ConnectionTimeouts) -> TokioIo<WriteTimeoutStream> {
    // Chunks are small and must be sent at once; Nagle's algorithm would delay them.
    let _ = stream.set_nodelay(true);
    // A vanished peer acknowledges nothing: let the kernel end the connection after the same timeout.
    let millis = u32::try_from(timeouts.write.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, millis);
    TokioIo::new(WriteTimeoutStream::new(stream, timeouts.write))
}

fn answer(
    router: Router,
    peer: PeerAddress,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response,
    Error = Infallible,
    Future: Send,
> + Clone {
    service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        router.clone().oneshot(request)
    })
}
