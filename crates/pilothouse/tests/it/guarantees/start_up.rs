//! Start-up is safe: what must not be opened is refused with a sentence that says what to do.

use std::process::{Command, Stdio};

use crate::server::{PATIENCE, TestServer, command, wait};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const OTHER_KEY: &str = "fedcba9876543210fedcba9876543210";

#[tokio::test]
async fn a_second_process_on_the_same_directory_is_refused() {
    let server = TestServer::start();
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("another Pilothouse process is using the data directory"), "{said}");
    let session = server.session().await;
    server.say(&session, "/stream count=2 size=2").await.all().await;
}

#[tokio::test]
async fn another_encryption_key_or_none_is_refused_and_the_right_one_still_works() {
    let mut server = TestServer::with(&[("ENCRYPTION_KEY", KEY)]);
    let session = server.session().await;
    server.kill9();
    server.set("ENCRYPTION_KEY", OTHER_KEY);
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("the encryption key is not the one"), "{said}");
    server.set("ENCRYPTION_KEY", "");
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("needs it again"), "{said}");
    assert!(!said.contains(KEY) && !said.contains(OTHER_KEY), "no key is shown: {said}");
    server.set("ENCRYPTION_KEY", KEY);
    server.restart();
    server.read_session(&session).await;
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_left_as_it_is() {
    let mut server = TestServer::start();
    let session = server.session().await;
    server.say(&session, "/stream count=100 size=100").await.all().await;
    server.sigterm();
    server.wait_for_exit(PATIENCE);
    let database = server.data().join("data/pilothouse.db");
    let mut bytes = std::fs::read(&database).expect("a database");
    // The header stays: what is damaged are pages.
    let end = bytes.len();
    bytes[4096..end.min(65536)].fill(0xA5);
    std::fs::write(&database, &bytes).expect("it can be written");
    let said = refused(server.command(&["serve", "--port", "0"]));
    assert!(said.contains("is damaged") && said.contains("backup"), "{said}");
    assert_eq!(std::fs::read(&database).expect("a database"), bytes, "nothing was changed");
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_refused() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let file = folder.path().join("data");
    std::fs::write(&file, "in the way").expect("a file");
    let said = refused(command(folder.path(), &[], &["serve", "--port", "0"]));
    assert!(
        said.contains("cannot be used") && said.contains(&file.display().to_string()),
        "{said}"
    );
    // Nobody may create a folder there, not even root.
    let nowhere = [("PILOTHOUSE_DATA".to_owned(), "/proc/pilothouse".to_owned())];
    let said = refused(command(folder.path(), &nowhere, &["serve", "--port", "0"]));
    assert!(said.contains("/proc/pilothouse cannot be used"), "{said}");
}

/// What a server says that does not start.
fn refused(mut command: Command) -> String {
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let status = wait(&mut child, PATIENCE);
    let _ = child.kill();
    let output = child.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = status.unwrap_or_else(|| panic!("it runs on instead of refusing: {said}"));
    assert!(!status.success() && status.code().is_some(), "{status}: {said}");
    said
}
