//! A minimal web server that sends exactly the bytes of a test, including invalid or endless ones.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub(crate) enum Answer {
    /// These bytes, then the connection closes.
    Bytes(Vec<u8>),
    /// These bytes, then this piece again and again.
    Endless(Vec<u8>, Vec<u8>, Duration),
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The heads of the requests, in order.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    _accepting: JoinSet<()>,
}

impl Server {
    /// `answer` gets the path of the request and the port of the server.
    pub(crate) async fn start(ip: &str, answer: fn(&str, u16) -> Answer) -> Self {
        let ip: IpAddr = ip.parse().expect("an address");
        assert!(ip.is_loopback(), "tests stay on this machine");
        let listener = TcpListener::bind((ip, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, seen.clone(), answer, address.port()));
            }
        });
        Self { address, requests, _accepting: accepting }
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: fn(&str, u16) -> Answer,
    port: u16,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().expect("not poisoned").push(head);
    match answer(&path, port) {
        Answer::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Answer::Endless(start, piece, pause) => {
            let _ = stream.write_all(&start).await;
            while stream.write_all(&piece).await.is_ok() {
                tokio::time::sleep(pause).await;
            }
        }
    }
}

pub(crate) fn page(content_type: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(
        format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

pub(crate) fn redirect(location: &str) -> Answer {
    Answer::Bytes(
        format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n")
            .into_bytes(),
    )
}
