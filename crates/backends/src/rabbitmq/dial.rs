//! Opens one connection to the broker and holds the means to end it for certain.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use lapin::tcp::{AMQPUriTcpExt, AsyncTcpStream, TLSConfig};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Connection, ConnectionProperties, runtime};

use super::cord::{Cord, CutOnDrop};

/// How long a broker may take to let us in.
const PATIENCE: Duration = Duration::from_secs(5);
/// Seconds. A broker that says nothing for twice as long is taken for dead.
const HEARTBEAT: u16 = 5;
const LONGEST_HEARTBEAT: u16 = 10;
/// Our messages are tiny, and every connection keeps two buffers of 32 frames. The broker asks for 8 KiB at least.
const FRAME_BYTES: u32 = 16 * 1024;

#[derive(Debug)]
pub(super) enum DialError {
    TooSlow,
    Failed(lapin::Error),
}

/// A connection that is over for certain when this is dropped.
pub(super) struct Dialed {
    pub(super) connection: Connection,
    _cord: CutOnDrop,
}

pub(super) async fn dial(uri: &AMQPUri, purpose: &str) -> Result<Dialed, DialError> {
    let cord = Arc::new(Cord::default());
    let cut = CutOnDrop::new(cord.clone());
    let connecting = connect(tuned(uri.clone()), purpose, cord);
    let connection = tokio::time::timeout(PATIENCE, connecting)
        .await
        .map_err(|_| DialError::TooSlow)?
        .map_err(DialError::Failed)?;
    Ok(Dialed { connection, _cord: cut })
}

fn tuned(mut uri: AMQPUri) -> AMQPUri {
    let heartbeat = uri.query.heartbeat.unwrap_or(HEARTBEAT);
    // Zero would leave it to the broker, whose minute is too long for us.
    uri.query.heartbeat =
        Some(if heartbeat == 0 { HEARTBEAT } else { heartbeat.min(LONGEST_HEARTBEAT) });
    uri.query.frame_max = uri.query.frame_max.or(Some(FRAME_BYTES));
    uri
}

async fn connect(uri: AMQPUri, purpose: &str, cord: Arc<Cord>) -> lapin::Result<Connection> {
    // Reconnecting is the supervisor's business: the client's own recovery gives up after some tries, and hands out
    // deliveries of a lost connection as if nothing had happened.
    let properties = ConnectionProperties::default()
        .with_connection_name(format!("pilothouse {purpose}").into());
    let runtime = runtime::default_runtime()?;
    let reactor = runtime.clone();
    let open = async move |uri: AMQPUri, _| {
        // The bare connection comes first, also under TLS, because it is what can be cut.
        let bare = AMQPUri { scheme: AMQPScheme::AMQP, ..uri.clone() };
        let connecting = bare.connect_with_config_async(TLSConfig::default(), &reactor);
        let connected = tokio::time::timeout(PATIENCE, connecting).await;
        let stream = connected.map_err(std::io::Error::from)??;
        if let AsyncTcpStream::Plain(stream) = &stream {
            cord.tie(stream.get_ref().as_fd().try_clone_to_owned()?.into());
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
