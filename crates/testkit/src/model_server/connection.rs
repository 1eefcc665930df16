//! The TCP connections of the model server: counted, and closed with a reset when a script asks for it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct CountedListener {
    pub(crate) listener: TcpListener,
    pub(crate) open: watch::Sender<usize>,
}

/// One accepted connection.
pub(crate) struct CountedConnection {
    stream: TcpStream,
    end: ConnectionClose,
    open: watch::Sender<usize>,
}

/// Decides how the connection is closed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionClose(Arc<AtomicBool>);

impl ConnectionClose {
    pub(crate) fn with_reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Listener for CountedListener {
    type Io = CountedConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (CountedConnection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without Nagle's algorithm, a small delta does not wait for the acknowledgment of the previous one.
        let _ = stream.set_nodelay(true);
        self.open.send_modify(|open| *open += 1);
        (
            CountedConnection { stream, end: ConnectionClose::default(), open: self.open.clone() },
            address,
        )
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, CountedListener>> for ConnectionClose {
    fn connect_info(stream: IncomingStream<'_, CountedListener>) -> Self {
        stream.io().end.clone()
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        if self.end.0.load(Ordering::Relaxed) {
            // Closing a socket with a linger time of zero sends a reset.
            let _ = self.stream.set_zero_linger();
        }
        self.open.send_modify(|open| *open -= 1);
    }
}

impl AsyncRead for CountedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CountedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
