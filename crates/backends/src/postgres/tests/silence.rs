//! A network that accepts every byte and delivers none, which is worse than one that refuses connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use ports::stream_log::StreamLog;
use ports::{PortError, Sessions};
use testkit::conformance::scene;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::database::{CAPS, Database};
use super::feed::Silent;
use crate::local::clock::SystemClock;
use crate::postgres::PostgresStore;

/// A proxy between the store and its server.
struct Wire {
    address: SocketAddr,
    delivers: watch::Sender<bool>,
}

impl Wire {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (delivers, state) = watch::channel(true);
        let tasks = TaskTracker::new();
        // All tasks end with the runtime of the test.
        tasks.clone().spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(&server).await else { continue };
                let ((near_in, near_out), (far_in, far_out)) =
                    (near.into_split(), far.into_split());
                tasks.spawn(carry(near_in, far_out, state.clone()));
                tasks.spawn(carry(far_in, near_out, state.clone()));
            }
        });
        Self { address, delivers }
    }
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut delivers: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if delivers.wait_for(|delivers| *delivers).await.is_err()
            || to.write_all(&buffer[..read]).await.is_err()
        {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_is_unavailable_until_it_responds_again() {
    let database = Database::create().await;
    let mut url = url::Url::parse(&database.url()).expect("a URL");
    let server = format!("{}:{}", url.host_str().expect("a host"), url.port().unwrap_or(5432));
    let wire = Wire::to(server).await;
    url.set_ip_host(wire.address.ip()).expect("a host");
    url.set_port(Some(wire.address.port())).expect("a port");
    let clock = Arc::new(SystemClock);
    let store = PostgresStore::connect(url.as_str(), 4, None, CAPS, clock, Arc::new(Silent)).await;
    let store = store.expect("it opens");
    let ann = scene::user("ann");
    let log = "log".into();
    let session = store.create(&ann, Default::default()).await.expect("create");
    store.take_over(&log, 1).await.expect("take over");

    wire.delivers.send_replace(false);
    let started = Instant::now();
    let (read, written, appended, failing) = tokio::join!(
        store.get(&ann, &session.id),
        store.create(&ann, Default::default()),
        store.append(&log, 1, scene::segment(0, &["one"])),
        store.failing(),
    );
    assert!(started.elapsed() < scene::BOUNDED, "{:?}", started.elapsed());
    assert!(matches!(read, Err(PortError::Unavailable(_))), "{read:?}");
    assert!(matches!(written, Err(PortError::Unavailable(_))), "{written:?}");
    assert!(matches!(appended, Err(PortError::Unavailable(_))), "{appended:?}");
    assert_eq!(failing.expect("it fails").name, "postgres");

    wire.delivers.send_replace(true);
    assert_eq!(store.get(&ann, &session.id).await.expect("get"), Some(session));
    store.create(&ann, Default::default()).await.expect("create");
    assert_eq!(store.failing().await, None);
}
