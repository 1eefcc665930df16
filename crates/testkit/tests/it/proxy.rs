//! The proxy does to connections what its modes say, no more and no less.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use pilothouse_testkit::proxy::{Direction, Mode, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(10);
/// Long enough to be sure that something does not come.
const SILENCE: Duration = Duration::from_millis(200);

/// A server that sends back what it gets, and the proxy before it.
struct Scene {
    proxy: Proxy,
    _server: JoinSet<()>,
}

impl Scene {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let proxy = Proxy::start(listener.local_addr().expect("an address"));
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

async fn say(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("sent");
}

async fn hear(stream: &mut TcpStream, length: usize) -> String {
    let mut heard = vec![0; length];
    let reading = stream.read_exact(&mut heard);
    tokio::time::timeout(PATIENCE, reading).await.expect("in time").expect("bytes");
    String::from_utf8(heard).expect("text")
}

async fn hear_nothing(stream: &mut TcpStream) {
    let heard = tokio::time::timeout(SILENCE, stream.read(&mut [0; 64])).await;
    assert!(heard.is_err(), "{heard:?} came through");
}

async fn hear_reset(stream: &mut TcpStream) {
    let heard = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 64])).await.expect("in time");
    assert_eq!(heard.expect_err("a reset").kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_connection_passes_with_its_end() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    say(&mut stream, "hello").await;
    assert_eq!(hear(&mut stream, 5).await, "hello");
    stream.shutdown().await.expect("an end");
    assert_eq!(stream.read(&mut [0; 8]).await.expect("an end in good order"), 0);
}

#[tokio::test]
async fn latency_delays_each_direction_once_and_takes_no_bandwidth() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    scene.proxy.set(Mode::Latency(Duration::from_millis(150)));
    let started = Instant::now();
    let long = "x".repeat(400_000);
    let (mut from, mut to) = stream.split();
    let mut heard = vec![0; long.len()];
    let (sent, read) = tokio::join!(to.write_all(long.as_bytes()), from.read_exact(&mut heard));
    sent.expect("sent");
    read.expect("heard");
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(300), "there and back: {took:?}");
    assert!(took < Duration::from_secs(2), "25 pieces did not wait for each other: {took:?}");
}

#[tokio::test]
async fn bandwidth_is_limited() {
    let scene = Scene::start().await;
    let mut stream = scene.connect().await;
    scene.proxy.set(Mode::Bandwidth(20_000));
    let started = Instant::now();
    say(&mut stream, &"x".repeat(10_000)).await;
    hear(&mut stream, 10_000).await;
    assert!(started.elapsed() >= Duration::from_millis(900), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_black_hole_swallows_all_without_a_word_and_gives_it_back_when_it_closes() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    say(&mut open, "a").await;
    hear(&mut open, 1).await;
    scene.proxy.set(Mode::BlackHole);
    say(&mut open, "b").await;
    open.shutdown().await.expect("sent");
    let mut new = scene.connect().await;
    say(&mut new, "c").await;
    hear_nothing(&mut open).await;
    hear_nothing(&mut new).await;
    scene.proxy.set(Mode::Pass);
    assert_eq!(hear(&mut open, 1).await, "b");
    assert_eq!(open.read(&mut [0; 8]).await.expect("the end comes too"), 0);
    assert_eq!(hear(&mut new, 1).await, "c");
}

#[tokio::test]
async fn a_half_open_connection_works_in_one_direction() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy = Proxy::start(listener.local_addr().expect("an address"));
    let mut client = TcpStream::connect(proxy.address()).await.expect("a connection");
    let (mut server, _) = listener.accept().await.expect("a connection");
    for (open, closed_for_server) in [(Direction::ToServer, false), (Direction::ToClient, true)] {
        proxy.set(Mode::HalfOpen(open));
        say(&mut client, "c").await;
        say(&mut server, "s").await;
        let (deaf, hearing, word) = match closed_for_server {
            true => (&mut server, &mut client, "s"),
            false => (&mut client, &mut server, "c"),
        };
        assert_eq!(hear(hearing, 1).await, word);
        hear_nothing(deaf).await;
        proxy.set(Mode::Pass);
        hear(deaf, 1).await;
    }
}

#[tokio::test]
async fn a_reset_breaks_open_connections_and_spares_new_ones() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    say(&mut open, "a").await;
    hear(&mut open, 1).await;
    scene.proxy.reset_all();
    hear_reset(&mut open).await;
    let mut new = scene.connect().await;
    say(&mut new, "b").await;
    assert_eq!(hear(&mut new, 1).await, "b");
}

#[tokio::test]
async fn a_connection_in_a_black_hole_can_be_reset() {
    let scene = Scene::start().await;
    scene.proxy.set(Mode::BlackHole);
    let mut new = scene.connect().await;
    hear_nothing(&mut new).await;
    scene.proxy.reset_all();
    hear_reset(&mut new).await;
}

#[tokio::test]
async fn refusing_resets_what_is_open_and_takes_nothing_new_until_it_passes_again() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    say(&mut open, "a").await;
    hear(&mut open, 1).await;
    scene.proxy.set(Mode::Refuse);
    hear_reset(&mut open).await;
    // The port closes a moment after the mode was set.
    let refused = async {
        loop {
            match TcpStream::connect(scene.proxy.address()).await {
                Err(error) => return error.kind(),
                Ok(_) => tokio::task::yield_now().await,
            }
        }
    };
    let refused = tokio::time::timeout(PATIENCE, refused).await.expect("in time");
    assert_eq!(refused, ErrorKind::ConnectionRefused);
    scene.proxy.set(Mode::Pass);
    let back = async {
        loop {
            if let Ok(stream) = TcpStream::connect(scene.proxy.address()).await {
                return stream;
            }
            tokio::task::yield_now().await;
        }
    };
    let mut back = tokio::time::timeout(PATIENCE, back).await.expect("in time");
    say(&mut back, "b").await;
    assert_eq!(hear(&mut back, 1).await, "b");
}

#[tokio::test]
async fn a_proxy_that_is_dropped_resets_its_connections() {
    let scene = Scene::start().await;
    let mut open = scene.connect().await;
    say(&mut open, "a").await;
    hear(&mut open, 1).await;
    drop(scene.proxy);
    hear_reset(&mut open).await;
}

#[tokio::test]
async fn a_url_is_led_through_the_proxy_with_all_its_parts() {
    for (url, before, after) in [
        (
            "postgres://me:p@ss@127.0.0.1:5433/x?sslmode=disable",
            "postgres://me:p@ss@",
            "/x?sslmode=disable",
        ),
        ("redis://127.0.0.1/0", "redis://", "/0"),
        ("amqp://guest:guest@127.0.0.1:5672/%2f", "amqp://guest:guest@", "/%2f"),
    ] {
        let (proxy, through) = Proxy::before(url).expect("a URL");
        assert_eq!(through, format!("{before}{}{after}", proxy.address()));
    }
}
