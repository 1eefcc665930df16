//! One connection through the proxy: two pumps that look at the mode before every step.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::{Control, Direction, Mode};

const PIECE: usize = 16 * 1024;
/// Pieces that are on their way in one direction; beyond that the sender has to wait, as it would on a wire.
const ON_THE_WAY: usize = 64;

pub(super) async fn serve(
    mut client: TcpStream,
    target: SocketAddr,
    control: watch::Receiver<Control>,
) {
    let resets = control.borrow().resets;
    // The server hears nothing of a connection that falls into a hole at once.
    let server = tokio::select! {
        server = async {
            until(control.clone(), |mode| mode != Mode::BlackHole).await;
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
                pump(from_client, to_server, Direction::ToServer, control.clone()),
                pump(from_server, to_client, Direction::ToClient, control.clone()),
            )
        };
        tokio::select! {
            done = both => if done.is_ok() { Ended::InGoodOrder } else { Ended::Broken },
            () = broken(control.clone(), resets) => Ended::Broken,
        }
    };
    if let Ended::Broken = ended {
        reset(&client);
        reset(&server);
    }
}

enum Ended {
    InGoodOrder,
    Broken,
}

/// Until somebody resets all connections, or the mode or the end of the proxy does.
async fn broken(mut control: watch::Receiver<Control>, resets: u64) {
    let gone =
        control.wait_for(|now| now.ended || now.resets != resets || now.mode == Mode::Refuse);
    let _ = gone.await;
}

/// What is still in the buffers is thrown away, and the other side gets an error instead of an end.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// One direction. The reading side runs ahead of the writing one, so that latency does not become a lack of bandwidth.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    control: watch::Receiver<Control>,
) -> std::io::Result<()> {
    let (sender, mut pieces) = mpsc::channel::<(Instant, Vec<u8>)>(ON_THE_WAY);
    let reading = async move {
        loop {
            let mut piece = vec![0; PIECE];
            let read = from.read(&mut piece).await?;
            piece.truncate(read);
            // An empty piece is the end, which travels like all else.
            if sender.send((Instant::now(), piece)).await.is_err() || read == 0 {
                return std::io::Result::Ok(());
            }
        }
    };
    let writing = async move {
        while let Some((sent, piece)) = pieces.recv().await {
            let mode = control.borrow().mode;
            match mode {
                Mode::Latency(latency) => tokio::time::sleep_until(sent + latency).await,
                Mode::Bandwidth(per_second) => {
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

fn passes(mode: Mode, direction: Direction) -> bool {
    match mode {
        Mode::BlackHole => false,
        Mode::HalfOpen(open) => open == direction,
        Mode::Pass | Mode::Latency(_) | Mode::Bandwidth(_) | Mode::Refuse => true,
    }
}

/// Waits for ever when the proxy ends first; whoever waits is ended with it.
async fn until(mut control: watch::Receiver<Control>, good: impl Fn(Mode) -> bool) {
    if control.wait_for(|now| good(now.mode)).await.is_err() {
        std::future::pending().await
    }
}
