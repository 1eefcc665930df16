//! Start-up checks: a store that must not be opened is refused with a message that says what to do.

use super::ENGINE;
use crate::server::{TestServer, TestStorage, refused};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const OTHER_KEY: &str = "fedcba9876543210fedcba9876543210";

#[tokio::test]
async fn another_encryption_key_or_none_is_refused_and_the_right_one_still_works() {
    let mut server = TestServer::with(ENGINE, &[("ENCRYPTION_KEY", KEY)]);
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
async fn a_directory_that_cannot_be_used_is_refused() {
    let storage = TestStorage::new(ENGINE);
    let file = storage.folder().join("data");
    std::fs::write(&file, "in the way").expect("a file");
    let said = refused(storage.command(&[], &["serve", "--port", "0"]));
    assert!(
        said.contains("cannot be used") && said.contains(&file.display().to_string()),
        "{said}"
    );
    // No user can create a folder there, not even root.
    let nowhere = [("PILOTHOUSE_DATA".to_owned(), "/proc/pilothouse".to_owned())];
    let said = refused(storage.command(&nowhere, &["serve", "--port", "0"]));
    assert!(said.contains("/proc/pilothouse cannot be used"), "{said}");
}
