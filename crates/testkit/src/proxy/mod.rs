//! A TCP proxy that injects network faults. The fault mode can be changed while it runs and applies to open and to new
//! connections.

mod connection;
mod url;

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A proxy between a client and a server. Dropping it resets all of its connections.
pub struct FaultProxy {
    address: SocketAddr,
    control: watch::Sender<ProxyControl>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyMode {
    Pass,
    /// Delays every byte by this time, in both directions.
    Latency(Duration),
    /// At most this many bytes per second, in each direction.
    Bandwidth(u32),
    /// Forwards nothing: no data, no end of stream, no reset. New connections are accepted and get no reply. Data sent
    /// meanwhile is delivered when the mode changes, as after a network partition.
    BlackHole,
    /// Only this direction works.
    HalfOpen(ProxyDirection),
    /// New connections are refused and open ones are reset, as if no server were running.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyDirection {
    ToServer,
    ToClient,
}

/// State that all connections watch.
#[derive(Clone, Copy, Debug)]
struct ProxyControl {
    mode: ProxyMode,
    /// Incremented to reset all connections.
    resets: u64,
    ended: bool,
}

impl FaultProxy {
    /// Runs on its own thread, so that a busy runtime of the test does not delay it.
    pub fn start(target: SocketAddr) -> Self {
        let (control, watching) =
            watch::channel(ProxyControl { mode: ProxyMode::Pass, resets: 0, ended: false });
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = listen(([127, 0, 0, 1], 0).into()).await;
                let address = listener.local_addr().expect("the listener is bound");
                sender.send(address).expect("`start` waits for the address");
                accept(listener, target, watching).await;
            });
        });
        let address = receiver.recv().expect("the proxy listens");
        Self { address, control, thread: Some(thread) }
    }

    /// Starts a proxy for the server in a URL, and returns it with the URL that goes through the proxy.
    pub fn in_front_of(url: &str) -> anyhow::Result<(Self, String)> {
        let server = url::server_in(url)?;
        let proxy = Self::start(server.address);
        let through = format!("{}{}{}", server.before, proxy.address, server.after);
        Ok((proxy, through))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, mode: ProxyMode) {
        self.control.send_modify(|control| control.mode = mode);
    }

    /// Resets every open connection on both sides; new ones follow the mode.
    pub fn reset_all(&self) {
        self.control.send_modify(|control| control.resets += 1);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.control.send_modify(|control| control.ended = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn listen(address: SocketAddr) -> TcpListener {
    TcpListener::bind(address).await.expect("a free port, or the proxy's previous port")
}

async fn accept(
    listener: TcpListener,
    target: SocketAddr,
    mut control: watch::Receiver<ProxyControl>,
) {
    let address = listener.local_addr().expect("the listener is bound");
    let mut listener = Some(listener);
    let mut connections = JoinSet::new();
    loop {
        let now = *control.borrow_and_update();
        if now.ended {
            break;
        }
        // Connections are refused only while no socket listens on the port.
        match (now.mode, &listener) {
            (ProxyMode::Refuse, _) => listener = None,
            (_, None) => listener = Some(listen(address).await),
            _ => {}
        }
        let next = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = control.changed() => {}
            Some(_) = connections.join_next() => {}
            Ok((client, _)) = next => {
                connections.spawn(connection::serve(client, target, control.clone()));
            }
        }
    }
    // Each connection sees `ended` as well, and closes with a reset.
    while connections.join_next().await.is_some() {}
}
