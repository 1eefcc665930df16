//! Opens one connection to the broker whose socket is shut down on drop.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use lapin::tcp::{AMQPUriTcpExt, AsyncTcpStream, TLSConfig};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Connection, ConnectionProperties, runtime};

use super::socket_guard::{ShutdownOnDrop, SocketGuard};

/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// In seconds. A broker that is silent for twice as long counts as dead.
const HEARTBEAT: u16 = 5;
const LONGEST_HEARTBEAT: u16 = 10;
/// Small, because our messages are tiny and every connection keeps two buffers of 32 frames. The broker requires at
/// least 8 KiB.
const FRAME_BYTES: u32 = 16 * 1024;

#[derive(Debug)]
pub(crate) enum DialError {
    TooSlow,
    Failed(lapin::Error),
}

/// A connection whose socket is shut down on drop.
pub(crate) struct GuardedConnection {
    pub(crate) connection: Connection,
    _guard: ShutdownOnDrop,
}

pub(crate) async fn dial(uri: &AMQPUri, purpose: &str) -> Result<GuardedConnection, DialError> {
    let guard = Arc::new(SocketGuard::default());
    let shutdown = ShutdownOnDrop::new(guard.clone());
    let connecting = connect(tuned(uri.clone()), purpose, guard);
    let connection = tokio::time::timeout(CONNECT_TIMEOUT, connecting)
        .await
        .map_err(|_| DialError::TooSlow)?
        .map_err(DialError::Failed)?;
    Ok(GuardedConnection { connection, _guard: shutdown })
}

fn tuned(mut uri: AMQPUri) -> AMQPUri {
    let heartbeat = uri.query.heartbeat.unwrap_or(HEARTBEAT);
    // Zero would accept the broker's default of 60 seconds, which is too long.
    uri.query.heartbeat =
        Some(if heartbeat == 0 { HEARTBEAT } else { heartbeat.min(LONGEST_HEARTBEAT) });
    uri.query.frame_max = uri.query.frame_max.or(Some(FRAME_BYTES));
    uri
}

async fn connect(
    uri: AMQPUri,
    purpose: &str,
    guard: Arc<SocketGuard>,
) -> lapin::Result<Connection> {
    // The supervisor reconnects. The client's own recovery gives up after some attempts, and keeps delivering messages
    // of a lost connection.
    let properties = ConnectionProperties::default()
        .with_connection_name(format!("pilothouse {purpose}").into());
    let runtime = runtime::default_runtime()?;
    let reactor = runtime.clone();
    let open = async move |uri: AMQPUri, _| {
        // The TCP connection comes first, also under TLS, because the guard needs its socket.
        let bare = AMQPUri { scheme: AMQPScheme::AMQP, ..uri.clone() };
        let connecting = bare.connect_with_config_async(TLSConfig::default(), &reactor);
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        let stream = connected.map_err(std::io::Error::from)??;
        if let AsyncTcpStream::Plain(stream) = &stream {
            guard.register(stream.get_ref().as_fd().try_clone_to_owned()?.into());
        }
        match uri.scheme {
            AMQPScheme::AMQP => Ok(stream),
            AMQPScheme::AMQPS => {
                Ok(stream.into_tls(&uri.authority.host, TLSConfig::default()).await?)
            }
        }
    };
    Connection::connector(uri, runtime, open, properties).await
}
