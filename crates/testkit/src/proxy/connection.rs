//! One connection through the proxy: two pumps, one per direction, that check the mode before every write.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::{ProxyControl, ProxyDirection, ProxyMode};

const PIECE: usize = 16 * 1024;
/// Buffered pieces per direction; beyond that the sender has to wait, as on a network.
const ON_THE_WAY: usize = 64;

pub(crate) async fn serve(
    mut client: TcpStream,
    target: SocketAddr,
    control: watch::Receiver<ProxyControl>,
) {
    let resets = control.borrow().resets;
    // A connection that arrives during a black hole is not opened to the server until the hole ends.
    let server = tokio::select! {
        server = async {
            until(control.clone(), |mode| mode != ProxyMode::BlackHole).await;
            TcpStream::connect(target).await
        } => server,
        () = broken(control.clone(), resets) => return reset(&client),
    };
    let Ok(mut server) = server else { return reset(&client) };
    let (_, _) = (client.set_nodelay(true), server.set_nodelay(true));
    let ended = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let both = async {
            tokio::try_join!(
                pump(from_client, to_server, ProxyDirection::ToServer, control.clone()),
                pump(from_server, to_client, ProxyDirection::ToClient, control.clone()),
            )
        };
        tokio::select! {
            done = both => if done.is_ok() { ConnectionEnd::Closed } else { ConnectionEnd::Broken },
            () = broken(control.clone(), resets) => ConnectionEnd::Broken,
        }
    };
    if let ConnectionEnd::Broken = ended {
        reset(&client);
        reset(&server);
    }
}

enum ConnectionEnd {
    Closed,
    Broken,
}

/// Waits until all connections are reset, the mode becomes `Refuse`, or the proxy ends.
async fn broken(mut control: watch::Receiver<ProxyControl>, resets: u64) {
    let gone =
        control.wait_for(|now| now.ended || now.resets != resets || now.mode == ProxyMode::Refuse);
    let _ = gone.await;
}

/// Closes with a TCP reset: buffered data is discarded, and the peer gets an error instead of an end of stream.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Copies one direction. Reading runs ahead of writing, so that latency does not reduce bandwidth.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: ProxyDirection,
    control: watch::Receiver<ProxyControl>,
) -> std::io::Result<()> {
    let (sender, mut pieces) = mpsc::channel::<(Instant, Vec<u8>)>(ON_THE_WAY);
    let reading = async move {
        loop {
            let mut piece = vec![0; PIECE];
            let read = from.read(&mut piece).await?;
            piece.truncate(read);
            // An empty piece is the end of the stream; it is delayed like data.
            if sender.send((Instant::now(), piece)).await.is_err() || read == 0 {
                return std::io::Result::Ok(());
            }
        }
    };
    let writing = async move {
        while let Some((sent, piece)) = pieces.recv().await {
            let mode = control.borrow().mode;
            match mode {
                ProxyMode::Latency(latency) => tokio::time::sleep_until(sent + latency).await,
                ProxyMode::Bandwidth(per_second) => {
                    let share = piece.len() as f64 / f64::from(per_second.max(1));
                    tokio::time::sleep(Duration::from_secs_f64(share)).await;
                }
                _ => {}
            }
            until(control.clone(), |mode| passes(mode, direction)).await;
            if piece.is_empty() {
                return to.shutdown().await;
            }
            to.write_all(&piece).await?;
        }
        Ok(())
    };
    tokio::try_join!(reading, writing).map(|_| ())
}

fn passes(mode: ProxyMode, direction: ProxyDirection) -> bool {
    match mode {
        ProxyMode::BlackHole => false,
        ProxyMode::HalfOpen(open) => open == direction,
        ProxyMode::Pass | ProxyMode::Latency(_) | ProxyMode::Bandwidth(_) | ProxyMode::Refuse => {
            true
        }
    }
}

/// Waits until the mode satisfies `good`. Never returns when the proxy ends first: the task is dropped with it.
async fn until(mut control: watch::Receiver<ProxyControl>, good: impl Fn(ProxyMode) -> bool) {
    if control.wait_for(|now| good(now.mode)).await.is_err() {
        std::future::pending().await
    }
}
