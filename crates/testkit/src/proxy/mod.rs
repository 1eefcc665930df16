//! A TCP proxy that breaks connections in all the ways a network does, switched while it runs, for connections that are
//! open and for new ones.

mod connection;
mod url;

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Between a client and a server. Everything it holds ends with it, by a reset.
pub struct Proxy {
    address: SocketAddr,
    control: watch::Sender<Control>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Pass,
    /// Every byte arrives so much later, in both directions.
    Latency(Duration),
    /// At most so many bytes in a second, in each direction.
    Bandwidth(u32),
    /// Nothing goes through and nobody is told: no byte, no end, no reset. New connections are taken and never answered.
    /// What was sent meanwhile arrives when the hole closes, as after a partition.
    BlackHole,
    /// Only this direction still works.
    HalfOpen(Direction),
    /// New connections are refused, open ones are reset: as if nobody were there.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
}

/// What all connections look at.
#[derive(Clone, Copy, Debug)]
struct Control {
    mode: Mode,
    /// Grows with every reset of all connections.
    resets: u64,
    ended: bool,
}

impl Proxy {
    /// Runs on a thread of its own, so that it works whatever the test's own runtime is busy with.
    pub fn start(target: SocketAddr) -> Self {
        let (control, watching) =
            watch::channel(Control { mode: Mode::Pass, resets: 0, ended: false });
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = listen(([127, 0, 0, 1], 0).into()).await;
                let address = listener.local_addr().expect("it listens");
                tell.send(address).expect("somebody waits for it");
                accept(listener, target, watching).await;
            });
        });
        let address = told.recv().expect("the proxy listens");
        Self { address, control, thread: Some(thread) }
    }

    /// In front of the server that a URL names, and the URL that leads through the proxy.
    pub fn before(url: &str) -> anyhow::Result<(Self, String)> {
        let server = url::server_in(url)?;
        let proxy = Self::start(server.address);
        let through = format!("{}{}{}", server.before, proxy.address, server.after);
        Ok((proxy, through))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, mode: Mode) {
        self.control.send_modify(|control| control.mode = mode);
    }

    /// Every open connection is reset now, on both sides; new ones get what the mode says.
    pub fn reset_all(&self) {
        self.control.send_modify(|control| control.resets += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.control.send_modify(|control| control.ended = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn listen(address: SocketAddr) -> TcpListener {
    TcpListener::bind(address).await.expect("a free port, or the one that was ours before")
}

async fn accept(listener: TcpListener, target: SocketAddr, mut control: watch::Receiver<Control>) {
    let address = listener.local_addr().expect("it listens");
    let mut listener = Some(listener);
    let mut connections = JoinSet::new();
    loop {
        let now = *control.borrow_and_update();
        if now.ended {
            break;
        }
        // Only a port that nobody listens on refuses.
        match (now.mode, &listener) {
            (Mode::Refuse, _) => listener = None,
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
    // Each of them sees the end as well, and goes with a reset.
    while connections.join_next().await.is_some() {}
}
