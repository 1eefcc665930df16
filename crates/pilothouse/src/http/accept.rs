//! Takes connections in: caps before anything is read, time limits on what is read and written, and an
//! end that is orderly for requests and abrupt for what does not end by itself.

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

use super::caps::{Caps, Permit};
use super::stall::Impatient;

const MAX_HEADERS: usize = 100;
/// The most that is kept of a request's head, and of an answer that the peer does not take.
const BUFFER_BYTES: usize = 32 * 1024;
/// Connections over the cap that are told so at the same time; more are reset.
const BUSY_LANE: usize = 64;
/// How long telling somebody so may take.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);
/// Pause after an accept that failed, usually for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The listening server and all its connections.
pub(crate) struct Server {
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
}

/// What a server serves, and to how many.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) router: Router,
    /// Answers connections over the cap.
    pub(crate) busy: Router,
    pub(crate) connections: Arc<Caps<IpAddr>>,
    pub(crate) patience: Patience,
}

/// How long a peer may keep a connection without doing its part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For the head of a request, and for a kept connection that is idle.
    pub(crate) head: Duration,
    /// For taking no bytes of an answer.
    pub(crate) write: Duration,
}

impl Server {
    pub(crate) fn start(listener: TcpListener, service: Service) -> Self {
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

    /// No new connections; requests that are under way go on.
    pub(crate) fn stop_accepting(&self) {
        self.stop.cancel();
    }

    /// Waits until every connection has ended, and cuts those that have not after `patience`.
    pub(crate) async fn close(self, patience: Duration) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            self.kill.cancel();
            self.tasks.wait().await;
        }
    }
}

async fn accept_all(
    listener: TcpListener,
    service: Service,
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
) {
    let busy_lane = Arc::new(Semaphore::new(BUSY_LANE));
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let peer = Peer(address.ip().to_canonical());
        if let Some(permit) = service.connections.admit(peer.0) {
            let service = service.clone();
            tasks.spawn(serve(stream, address, peer, service, permit, stop.clone(), kill.clone()));
        } else if let Ok(place) = Arc::clone(&busy_lane).try_acquire_owned() {
            metrics::counter!("pilothouse_refused_connections_total").increment(1);
            let Service { busy, patience, .. } = service.clone();
            tasks.spawn(kill.clone().run_until_cancelled_owned(async move {
                let mut http = protocol(patience);
                let http = http.keep_alive(false);
                let answering = http.serve_connection(io(stream, patience), answer(busy, peer));
                let _ = tokio::time::timeout(BUSY_PATIENCE, answering).await;
                drop(place);
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
    peer: Peer,
    service: Service,
    permit: Permit<IpAddr>,
    stop: CancellationToken,
    kill: CancellationToken,
) {
    let Service { router, patience, .. } = service;
    let serving = protocol(patience).serve_connection(io(stream, patience), answer(router, peer));
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
        tracing::debug!(peer = %address, %error, "a connection broke");
    }
    drop(permit);
}

fn protocol(patience: Patience) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_headers(MAX_HEADERS)
        .max_buf_size(BUFFER_BYTES);
    http
}

fn io(stream: TcpStream, patience: Patience) -> TokioIo<Impatient> {
    // Chunks are small and wanted at once; Nagle would hold them back.
    let _ = stream.set_nodelay(true);
    // A peer that vanished acknowledges nothing: the kernel ends the connection as we end a stalled one.
    let millis = u32::try_from(patience.write.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, millis);
    TokioIo::new(Impatient::new(stream, patience.write))
}

fn answer(
    router: Router,
    peer: Peer,
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
