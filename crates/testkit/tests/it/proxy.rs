//! Tests of the fault proxy: each mode has exactly its described effect.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use pilothouse_testkit::proxy::{FaultProxy, ProxyDirection, ProxyMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a test waits to conclude that nothing arrives.
const SILENCE: Duration = Duration::from_millis(200);

/// An echo server behind a proxy.
struct Scene {
    proxy: FaultProxy,
    _server: JoinSet<()>,
}

impl Scene {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let proxy = FaultProxy::start(listener.local_addr().expect("an address"));
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(async move {
                    let (mut from, mut to) = stream.into_split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        Self { proxy, _server: server }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.proxy.address()).await.expect("a connection")
    }
}

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("sent");
}

async fn receive(stream: &mut TcpStream, length: usize) -> String {
    let mut received = vec![0; length];
    let reading = stream.read_exact(&mut received);
    tokio::time::timeout(WAIT_TIMEOUT, reading).await.expect("in time").expect("bytes");
    String::from_utf8(received).expect("text")
}

async fn expect_silence(stream: &mut TcpStream) {
    let received = tokio::time::timeout(SILENCE, stream.read(&mut [0; 64])).await;
    assert!(received.is_err(), "{received:?} was received");
}

async fn expect_reset(stream: &mut TcpStream) {
    let received =
        tokio::time::timeout(WAIT_TIMEOUT, stream.read(&mut [0; 64])).await.expect("in time");
    assert_eq!(received.expect_err("a reset").kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn data_and_the_end_of_a_stream_pass() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    send(&mut stream, "hello").await;
    assert_eq!(receive(&mut stream, 5).await, "hello");
    stream.shutdown().await.expect("an end");
    assert_eq!(stream.read(&mut [0; 8]).await.expect("a normal end of stream"), 0);
}

#[tokio::test]
async fn latency_delays_each_direction_once_and_does_not_limit_bandwidth() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    scene.proxy.set(ProxyMode::Latency(Duration::from_millis(150)));
    let started = Instant::now();
    let long = "x".repeat(400_000);
    let (mut from, mut to) = stream.split();
    let mut received = vec![0; long.len()];
    let (sent, read) = tokio::join!(to.write_all(long.as_bytes()), from.read_exact(&mut received));
    sent.expect("sent");
    read.expect("received");
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(300), "round trip: {took:?}");
    assert!(took < Duration::from_secs(2), "25 pieces did not wait for each other: {took:?}");
}

#[tokio::test]
async fn bandwidth_is_limited() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    scene.proxy.set(ProxyMode::Bandwidth(20_000));
    let started = Instant::now();
    send(&mut stream, &"x".repeat(10_000)).await;
    receive(&mut stream, 10_000).await;
    assert!(started.elapsed() >= Duration::from_millis(900), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_black_hole_holds_all_data_and_delivers_it_when_the_mode_changes() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    send(&mut open, "a").await;
    receive(&mut open, 1).await;
    scene.proxy.set(ProxyMode::BlackHole);
    send(&mut open, "b").await;
    open.shutdown().await.expect("sent");
    let mut new = scene.connect().await;
    send(&mut new, "c").await;
    expect_silence(&mut open).await;
    expect_silence(&mut new).await;
    scene.proxy.set(ProxyMode::Pass);
    assert_eq!(receive(&mut open, 1).await, "b");
    assert_eq!(open.read(&mut [0; 8]).await.expect("the end of the stream arrives, too"), 0);
    assert_eq!(receive(&mut new, 1).await, "c");
}

#[tokio::test]
async fn a_half_open_connection_works_in_one_direction() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy = FaultProxy::start(listener.local_addr().expect("an address"));
    let mut client = TcpStream::connect(proxy.address()).await.expect("a connection");
    let (mut server, _) = listener.accept().await.expect("a connection");
    for (open, closed_for_server) in
        [(ProxyDirection::ToServer, false), (ProxyDirection::ToClient, true)]
    {
        proxy.set(ProxyMode::HalfOpen(open));
        send(&mut client, "c").await;
        send(&mut server, "s").await;
        let (silent, receiving, text) = match closed_for_server {
            true => (&mut server, &mut client, "s"),
            false => (&mut client, &mut server, "c"),
        };
        assert_eq!(receive(receiving, 1).await, text);
        expect_silence(silent).await;
        proxy.set(ProxyMode::Pass);
        receive(silent, 1).await;
    }
}

#[tokio::test]
async fn a_reset_breaks_open_connections_but_not_new_ones() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    send(&mut open, "a").await;
    receive(&mut open, 1).await;
    scene.proxy.reset_all();
    expect_reset(&mut open).await;
    let mut new = scene.connect().await;
    send(&mut new, "b").await;
    assert_eq!(receive(&mut new, 1).await, "b");
}

#[tokio::test]
async fn a_connection_in_a_black_hole_can_be_reset() {
    let scene = Scene::start().await;
    scene.proxy.set(ProxyMode::BlackHole);
    let mut new = scene.connect().await;
    expect_silence(&mut new).await;
    scene.proxy.reset_all();
    expect_reset(&mut new).await;
}

#[tokio::test]
async fn refuse_resets_open_connections_and_refuses_new_ones_until_the_mode_changes() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    send(&mut open, "a").await;
    receive(&mut open, 1).await;
    scene.proxy.set(ProxyMode::Refuse);
    expect_reset(&mut open).await;
    // The port closes a moment after the mode was set.
    let refused = async {
        loop {
            match TcpStream::connect(scene.proxy.address()).await {
                Err(error) => return error.kind(),
                Ok(_) => tokio::task::yield_now().await,
            }
        }
    };
    let refused = tokio::time::timeout(WAIT_TIMEOUT, refused).await.expect("in time");
    assert_eq!(refused, ErrorKind::ConnectionRefused);
    scene.proxy.set(ProxyMode::Pass);
    let back = async {
        loop {
            if let Ok(stream) = TcpStream::connect(scene.proxy.address()).await {
                return stream;
            }
            tokio::task::yield_now().await;
        }
    };
    let mut back = tokio::time::timeout(WAIT_TIMEOUT, back).await.expect("in time");
    send(&mut back, "b").await;
    assert_eq!(receive(&mut back, 1).await, "b");
}

#[tokio::test]
async fn a_dropped_proxy_resets_its_connections() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    send(&mut open, "a").await;
    receive(&mut open, 1).await;
    drop(scene.proxy);
    expect_reset(&mut open).await;
}

#[tokio::test]
async fn a_url_through_the_proxy_keeps_its_other_parts() {
    for (url, before, after) in [
        (
            "postgres://me:p@ss@127.0.0.1:5433/x?sslmode=disable",
            "postgres://me:p@ss@",
            "/x?sslmode=disable",
        ),
        ("redis://127.0.0.1/0", "redis://", "/0"),
        ("amqp://guest:guest@127.0.0.1:5672/%2f", "amqp://guest:guest@", "/%2f"),
    ] {
        let (proxy, through) = FaultProxy::in_front_of(url).expect("a URL");
        assert_eq!(through, format!("{before}{}{after}", proxy.address()));
    }
}
