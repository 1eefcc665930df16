//! The egress client against real servers on this machine. Host names are resolved by a script. The server at 127.0.0.1
//! is allowed for the test; the canary at 127.0.0.2 is not and must never be reached.

pub(crate) mod server;

use std::collections::HashMap;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use pilothouse_toolbox::egress::{
    EgressClient, EgressError, EgressOptions, FetchLimits, FetchedResponse, HostResolver,
};
use server::{Answer, Server, page, redirect};

const LIMITS: FetchLimits = FetchLimits {
    bytes: 1000,
    total: Duration::from_secs(3),
    idle: Duration::from_millis(800),
    accepts: |media_type| media_type == "text/plain",
};

/// Each name has a list of answers; the last one repeats.
struct ScriptedResolver {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

#[async_trait]
impl HostResolver for ScriptedResolver {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let answers = self.answers.get(host).ok_or(std::io::ErrorKind::NotFound)?;
        Ok(answers[turn.min(answers.len() - 1)].clone())
    }
}

pub(crate) fn client(ports: &[u16]) -> EgressClient {
    let parse = |list: &[&str]| -> Vec<IpAddr> {
        list.iter().map(|address| address.parse().expect("an address")).collect()
    };
    let answers = HashMap::from([
        ("site.example", vec![parse(&["127.0.0.1"])]),
        ("other.example", vec![parse(&["127.0.0.1"])]),
        ("inner.example", vec![parse(&["127.0.0.2"])]),
        ("half.example", vec![parse(&["127.0.0.1", "127.0.0.2"])]),
        ("mapped.example", vec![parse(&["::ffff:127.0.0.2"])]),
        ("rebinding.example", vec![parse(&["127.0.0.1"]), parse(&["127.0.0.2"])]),
        ("empty.example", vec![vec![]]),
    ]);
    EgressClient::new(EgressOptions {
        ports: ports.to_vec(),
        allowed_networks: vec!["127.0.0.1/32".parse().expect("a network")],
        resolver: Arc::new(ScriptedResolver { answers, asked: AtomicUsize::new(0) }),
    })
    .expect("a client")
}

async fn get(url: &str, ports: &[u16]) -> Result<FetchedResponse, EgressError> {
    client(ports).get(url, LIMITS).await
}

async fn canary() -> Server {
    Server::start("127.0.0.2", |_, _| page("text/plain", "internal secret")).await
}

#[tokio::test]
async fn a_page_is_fetched_with_its_type_and_final_address() {
    let server = Server::start("127.0.0.1", |path, _| match path {
        "/start" => redirect("/end?a=b"),
        _ => page("text/plain; charset=utf-8", "hello"),
    })
    .await;
    let port = server.address.port();
    let fetched = get(&format!("http://site.example:{port}/start"), &[port]).await.expect("a page");
    assert_eq!(fetched.url.as_str(), format!("http://site.example:{port}/end?a=b"));
    assert_eq!((fetched.status, &fetched.body[..], fetched.truncated), (200, &b"hello"[..], false));
    assert_eq!(fetched.content_type, "text/plain; charset=utf-8");
}

#[tokio::test]
async fn internal_hosts_are_not_reached_by_any_name_or_address() {
    let canary = canary().await;
    let port = canary.address.port();
    for host in [
        "127.0.0.2",
        "127.2",
        "0x7f000002",
        "2130706434",
        "[::ffff:127.0.0.2]",
        "inner.example",
        "half.example",
        "mapped.example",
        "localhost",
    ] {
        let refused = get(&format!("http://{host}:{port}/"), &[port]).await.expect_err(host);
        assert!(matches!(refused, EgressError::Blocked(_)), "{host}: {refused:?}");
        assert!(!refused.to_string().contains("127."), "{refused}");
    }
    assert_eq!(canary.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn dns_rebinding_is_refused() {
    let server = Server::start("127.0.0.1", |_, _| redirect("/again")).await;
    let canary_at_same_port =
        tokio::net::TcpListener::bind(("127.0.0.2", server.address.port())).await.expect("a port");
    let port = server.address.port();
    let refused = get(&format!("http://rebinding.example:{port}/"), &[port]).await;
    assert!(matches!(refused, Err(EgressError::Blocked(_))), "{refused:?}");
    assert_eq!(server.seen().len(), 1);
    let reached =
        tokio::time::timeout(Duration::from_millis(1), canary_at_same_port.accept()).await;
    assert!(reached.is_err(), "the canary was reached");
}

#[tokio::test]
async fn a_redirect_to_an_internal_host_is_not_followed() {
    let canary = canary().await;
    let server = Server::start("127.0.0.1", |path, _| redirect(&format!("http:/{path}/"))).await;
    let (port, canary_port) = (server.address.port(), canary.address.port());
    for target in ["127.0.0.2", "inner.example", "half.example", "[::ffff:7f00:2]", "a@127.0.0.2"] {
        let url = format!("http://site.example:{port}/{target}:{canary_port}");
        let refused = get(&url, &[port, canary_port]).await;
        assert!(matches!(refused, Err(EgressError::Blocked(_))), "{target}: {refused:?}");
    }
    assert_eq!(server.seen().len(), 5);
    assert_eq!(canary.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn redirects_are_limited_and_carry_no_credentials() {
    let server = Server::start("127.0.0.1", |_, port| {
        redirect(&format!("http://other.example:{port}/again"))
    })
    .await;
    let port = server.address.port();
    let refused = get(&format!("http://site.example:{port}/"), &[port]).await;
    assert_eq!(refused.expect_err("a loop"), EgressError::TooManyRedirects);
    let seen = server.seen();
    assert_eq!(seen.len(), 6);
    for head in seen {
        let head = head.to_ascii_lowercase();
        for header in ["cookie:", "authorization:", "referer:"] {
            assert!(!head.contains(header), "{head}");
        }
    }
}

#[tokio::test]
async fn an_endless_body_is_truncated_at_the_limit() {
    let server = Server::start("127.0.0.1", |_, _| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
        Answer::Endless(head, vec![b'x'; 600], Duration::ZERO)
    })
    .await;
    let port = server.address.port();
    let fetched = get(&format!("http://site.example:{port}/"), &[port]).await.expect("a part");
    assert_eq!((fetched.body.len(), fetched.truncated), (1000, true));
}

#[tokio::test]
async fn a_slow_body_times_out() {
    let server = Server::start("127.0.0.1", |path, _| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
        let pause = if path == "/drip" { 100 } else { 60_000 };
        Answer::Endless(head, b"x".to_vec(), Duration::from_millis(pause))
    })
    .await;
    let port = server.address.port();
    let started = Instant::now();
    for path in ["drip", "silent"] {
        let refused = get(&format!("http://site.example:{port}/{path}"), &[port]).await;
        assert_eq!(refused.expect_err("too slow"), EgressError::TimedOut, "{path}");
    }
    assert!(started.elapsed() < Duration::from_secs(6));
}

#[tokio::test]
async fn a_decompression_bomb_is_refused_and_ordinary_gzip_is_read() {
    fn compressed(content: &[u8]) -> Answer {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).expect("a vector accepts every write");
        let body = encoder.finish().expect("a vector accepts every write");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Answer::Bytes([head.into_bytes(), body].concat())
    }
    let server = Server::start("127.0.0.1", |path, _| match path {
        "/bomb" => compressed(&vec![0; 5_000_000]),
        _ => compressed(b"a small page"),
    })
    .await;
    let port = server.address.port();
    let limits = FetchLimits { bytes: 2_000_000, ..LIMITS };
    let client = client(&[port]);
    let bomb = client.get(&format!("http://site.example:{port}/bomb"), limits).await;
    assert_eq!(bomb.expect_err("a bomb"), EgressError::Inflates);
    let small = client.get(&format!("http://site.example:{port}/small"), limits).await;
    assert_eq!(&small.expect("a page").body[..], b"a small page");
}

#[tokio::test]
async fn other_types_and_broken_responses_are_errors_without_their_content() {
    let server = Server::start("127.0.0.1", |path, _| match path {
        "/image" => page("image/png", "secret"),
        "/untyped" => Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret".to_vec()),
        "/headers" => Answer::Endless(
            b"HTTP/1.1 200 OK\r\n".to_vec(),
            b"a: b\r\n".repeat(10_000),
            Duration::ZERO,
        ),
        "/short" => Answer::Bytes(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 60\r\n\r\nsecret"
                .to_vec(),
        ),
        _ => Answer::Bytes(b"SSH-2.0-secret\r\n".to_vec()),
    })
    .await;
    let port = server.address.port();
    for (path, want) in [
        ("image", EgressError::ContentType("image/png".into())),
        ("untyped", EgressError::ContentType("(none given)".into())),
        ("headers", EgressError::Unreachable),
        ("short", EgressError::Unreachable),
        ("banner", EgressError::Unreachable),
    ] {
        let refused = get(&format!("http://site.example:{port}/{path}"), &[port]).await;
        let refused = refused.expect_err(path);
        assert_eq!(refused, want, "{path}");
        assert!(!refused.to_string().contains("secret"));
    }
    for host in ["unknown.example", "empty.example"] {
        let refused = get(&format!("http://{host}:{port}/"), &[port]).await;
        assert_eq!(refused.expect_err("no address"), EgressError::Unresolved(host.into()));
    }
}
