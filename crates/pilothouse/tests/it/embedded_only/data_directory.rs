//! A data directory that is in use or damaged is refused with a message that says what to do.

use super::ENGINE;
use crate::server::{TEST_TIMEOUT, TestServer, refused};

#[tokio::test]
async fn a_second_process_on_the_same_directory_is_refused() {
    let server = TestServer::start(ENGINE);
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("another Pilothouse process is using the data directory"), "{said}");
    let session = server.session().await;
    server.say(&session, "/stream count=2 size=2").await.all().await;
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_left_unchanged() {
    let mut server = TestServer::start(ENGINE);
    let session = server.session().await;
    server.say(&session, "/stream count=100 size=100").await.all().await;
    server.sigterm();
    server.wait_for_exit(TEST_TIMEOUT);
    let database = server.folder().join("data/pilothouse.db");
    let mut bytes = std::fs::read(&database).expect("a database");
    // The header stays intact: only pages are damaged.
    let end = bytes.len();
    bytes[4096..end.min(65536)].fill(0xA5);
    std::fs::write(&database, &bytes).expect("it can be written");
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("is damaged") && said.contains("backup"), "{said}");
    assert_eq!(std::fs::read(&database).expect("a database"), bytes, "nothing was changed");
}
