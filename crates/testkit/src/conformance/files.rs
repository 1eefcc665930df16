//! Laws of `Files`.

use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use ports::Ports;
use ports::files::{FileRef, FileRefusal, SessionWorkspace};
use protocol::SessionId;
use protocol::session::Owner;

use super::BackendFixture;
use super::scene::user;

#[macro_export]
macro_rules! files_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, files:
            a_session_sees_only_its_own_files,
            no_path_escapes_the_workspace,
            an_existing_file_needs_overwrite,
            a_file_write_is_atomic,
            a_file_is_found_by_path_and_by_id,
            a_read_returns_the_requested_range,
            an_open_file_is_read_as_one_version,
            a_list_is_sorted_and_has_a_total,
            a_file_that_is_too_large_is_refused,
            files_stay_when_a_session_is_assigned,
            files_survive_a_restart,
        );
    };
}

fn place(owner: Owner) -> SessionWorkspace {
    SessionWorkspace { owner, session: SessionId::fresh() }
}

async fn write(
    ports: &Ports,
    place: &SessionWorkspace,
    path: &str,
    content: &str,
) -> Result<bool, FileRefusal> {
    let content = Bytes::from(content.to_owned());
    let written = ports.files.write(place, path, content, false).await.expect("write");
    written.map(|written| written.created)
}

async fn read(ports: &Ports, place: &SessionWorkspace, path: &str) -> Result<Bytes, FileRefusal> {
    let file = FileRef::Path(path.to_owned());
    let read = ports.files.read(place, &file, 0, 1_000_000).await.expect("read");
    read.map(|(_, content)| content)
}

pub async fn a_session_sees_only_its_own_files(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (mine, other) = (place(user("ann")), place(user("ann")));
    assert_eq!(write(ports, &mine, "notes.md", "secret").await, Ok(true));
    let id = ports.files.list(&mine, "", 10).await.expect("list").files[0].file_id.clone();
    assert_eq!(read(ports, &other, "notes.md").await, Err(FileRefusal::NotFound));
    let by_id = ports.files.stat(&other, &FileRef::Id(id)).await.expect("stat");
    assert_eq!(by_id, Err(FileRefusal::NotFound));
    assert_eq!(ports.files.list(&other, "", 10).await.expect("list").total, 0);
    ports.files.delete_session(&other).await.expect("delete");
    assert_eq!(read(ports, &mine, "notes.md").await.expect("still there"), "secret");
    ports.files.delete_session(&mine).await.expect("delete");
    assert_eq!(read(ports, &mine, "notes.md").await, Err(FileRefusal::NotFound));
}

pub async fn no_path_escapes_the_workspace(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "secret").expect("a secret");
    let folder = ports.files.folder(&mine).await.expect("folder");
    let link = |target: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(target, folder.join(name)).expect("a link");
    };
    link(&outside.path().join("secret"), "file-link");
    link(outside.path(), "folder-link");
    link(std::path::Path::new("../.."), "up-link");
    link(std::path::Path::new("loop-link"), "loop-link");
    std::fs::create_dir(folder.join("folder")).expect("a folder");
    let absolute = outside.path().join("secret").display().to_string();
    for path in [
        "",
        "/",
        ".",
        "..",
        "../secret",
        "a/../../secret",
        "a//b",
        "a/",
        "a\0b",
        &absolute,
        "file-link",
        "folder-link/secret",
        "folder-link/new",
        "up-link/x",
        "loop-link",
        "loop-link/x",
        "folder",
    ] {
        let read = read(ports, &mine, path).await;
        assert!(
            matches!(read, Err(FileRefusal::BadPath | FileRefusal::NotFound)),
            "{path:?} {read:?}"
        );
        let content = Bytes::from_static(b"x");
        let written = ports.files.write(&mine, path, content, true).await.expect("write");
        assert_eq!(written.map(|_| ()), Err(FileRefusal::BadPath), "{path:?}");
        let file = FileRef::Path(path.to_owned());
        let deleted = ports.files.delete(&mine, &file).await.expect("delete");
        assert!(deleted.is_err(), "{path:?}");
    }
    let secret = std::fs::read_to_string(outside.path().join("secret")).expect("still there");
    assert_eq!(secret, "secret");
    assert_eq!(std::fs::read_dir(outside.path()).expect("a folder").count(), 1);
    assert_eq!(ports.files.list(&mine, "", 10).await.expect("list").total, 0);
    ports.files.delete_session(&mine).await.expect("delete");
    assert!(outside.path().join("secret").exists(), "links are removed, not followed");
}

pub async fn an_existing_file_needs_overwrite(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(Owner::Anonymous);
    assert_eq!(write(ports, &mine, "a.txt", "one").await, Ok(true));
    assert_eq!(write(ports, &mine, "a.txt", "two").await, Err(FileRefusal::Exists));
    assert_eq!(read(ports, &mine, "a.txt").await.expect("read"), "one");
    let two = Bytes::from_static(b"two");
    let written = ports.files.write(&mine, "a.txt", two, true).await.expect("write");
    assert_eq!(written.map(|written| written.created), Ok(false));
    assert_eq!(read(ports, &mine, "a.txt").await.expect("read"), "two");
    let racing = (0..10).map(|n| write(ports, &mine, "b.txt", if n > 5 { "x" } else { "y" }));
    let created = join_all(racing).await.iter().filter(|written| written.is_ok()).count();
    assert_eq!(created, 1);
}

pub async fn a_file_write_is_atomic(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    let versions = ["a".repeat(300_000), "b".repeat(300_000)];
    let writing = async {
        for n in 0..20 {
            let content = Bytes::from(versions[n % 2].clone());
            let written = ports.files.write(&mine, "f", content, true).await.expect("write");
            assert!(written.is_ok());
        }
    };
    let reading = async {
        for _ in 0..50 {
            match read(ports, &mine, "f").await {
                Ok(content) => assert!(versions.iter().any(|whole| content == whole.as_bytes())),
                Err(refused) => assert_eq!(refused, FileRefusal::NotFound),
            }
            let listed = ports.files.list(&mine, "", 10).await.expect("list");
            assert!(listed.files.iter().all(|file| file.size_bytes == 300_000));
            assert!(listed.total <= 1, "partial writes are not visible");
        }
    };
    tokio::join!(writing, reading);
}

pub async fn a_file_is_found_by_path_and_by_id(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    write(ports, &mine, "data/Größe.CSV", "a,b\n1,2\n").await.expect("written");
    let path = FileRef::Path("data/Größe.CSV".into());
    let file = ports.files.stat(&mine, &path).await.expect("stat").expect("it exists");
    assert_eq!((file.name.as_str(), file.mime_type.as_str()), ("Größe.CSV", "text/csv"));
    assert_eq!((file.path.as_str(), file.size_bytes), ("data/Größe.CSV", 8));
    let id = FileRef::Id(file.file_id.clone());
    assert_eq!(ports.files.stat(&mine, &id).await.expect("stat"), Ok(file.clone()));
    let deleted = ports.files.delete(&mine, &id).await.expect("delete");
    assert_eq!(deleted, Ok(file));
    let gone = ports.files.delete(&mine, &path).await.expect("delete");
    assert_eq!(gone, Err(FileRefusal::NotFound));
}

pub async fn a_read_returns_the_requested_range(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    write(ports, &mine, "f", "0123456789").await.expect("written");
    for (offset, length, expected) in [
        (0, 100, "0123456789"),
        (0, 3, "012"),
        (4, 3, "456"),
        (8, 10, "89"),
        (10, 5, ""),
        (99, 5, ""),
    ] {
        let file = FileRef::Path("f".into());
        let read = ports.files.read(&mine, &file, offset, length).await.expect("read");
        let (described, content) = read.expect("it exists");
        assert_eq!((content.as_ref(), described.size_bytes), (expected.as_bytes(), 10));
    }
}

pub async fn an_open_file_is_read_as_one_version(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    let versions = ["a", "b"].map(|letter| letter.repeat(1_000_000));
    assert_eq!(write(ports, &mine, "log.txt", &versions[0]).await, Ok(true));
    let file = FileRef::Path("log.txt".into());
    let opened = ports.files.open(&mine, &file).await.expect("open");
    let (found, mut pieces) = opened.unwrap_or_else(|refused| panic!("{refused:?}"));
    assert_eq!((found.path.as_str(), found.size_bytes), ("log.txt", 1_000_000));
    let mut seen = pieces.next().await.expect("a piece").expect("bytes").to_vec();
    assert!(seen.len() < versions[0].len(), "it is streamed in pieces");
    let second = Bytes::from(versions[1].clone());
    ports.files.write(&mine, "log.txt", second, true).await.expect("write").expect("it fits");
    while let Some(piece) = pieces.next().await {
        seen.extend(piece.expect("bytes"));
    }
    assert!(seen == versions[0].as_bytes(), "of two versions, {} bytes", seen.len());
    assert_eq!(read(ports, &mine, "log.txt").await.expect("the file exists"), versions[1]);
    let missing = ports.files.open(&mine, &FileRef::Path("gone".into())).await.expect("open");
    assert_eq!(missing.map(|_| ()), Err(FileRefusal::NotFound));
}

pub async fn a_list_is_sorted_and_has_a_total(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    for path in ["b", "a/z", "a/b/c", "c"] {
        write(ports, &mine, path, "x").await.expect("written");
    }
    let list = |prefix: &'static str, limit| {
        let mine = &mine;
        async move {
            let listing = ports.files.list(mine, prefix, limit).await.expect("list");
            let paths: Vec<String> = listing.files.into_iter().map(|file| file.path).collect();
            (paths.join(" "), listing.total)
        }
    };
    assert_eq!(list("", 10).await, ("a/b/c a/z b c".into(), 4));
    assert_eq!(list("", 2).await, ("a/b/c a/z".into(), 4));
    assert_eq!(list("a/", 10).await, ("a/b/c a/z".into(), 2));
    assert_eq!(list("none", 10).await, (String::new(), 0));
}

pub async fn a_file_that_is_too_large_is_refused(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mine = place(user("ann"));
    let huge = Bytes::from(vec![0; 100_000_001]);
    let written = ports.files.write(&mine, "huge", huge, false).await.expect("write");
    assert!(matches!(written, Err(FileRefusal::TooLarge { .. })));
    assert_eq!(read(ports, &mine, "huge").await, Err(FileRefusal::NotFound));
}

pub async fn files_stay_when_a_session_is_assigned(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let before = place(Owner::Anonymous);
    write(ports, &before, "kept", "x").await.expect("written");
    let after = SessionWorkspace { owner: user("ann"), ..before };
    assert_eq!(read(ports, &after, "kept").await.expect("read"), "x");
}

pub async fn files_survive_a_restart(fixture: &mut impl BackendFixture) {
    let mine = place(user("ann"));
    write(fixture.ports(), &mine, "kept", "x").await.expect("written");
    fixture.restart().await;
    assert_eq!(read(fixture.ports(), &mine, "kept").await.expect("read"), "x");
}
