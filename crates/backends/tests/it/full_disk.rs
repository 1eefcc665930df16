//! A disk that is really full: a small file system in memory, filled to the last byte.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use pilothouse_backends::{Options, connect};
use ports::store::Opened;
use ports::{Fenced, PortError};
use protocol::message::{NewMessage, Role};
use protocol::turn::TurnStatus;
use tempfile::TempDir;
use testkit::conformance::scene::*;

use crate::fixture::assert_whole;

/// A file system of 40 MiB, or nothing where mounting is not allowed.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=40m", "tmpfs"])
            .arg(folder.path())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn fill(&self) {
        let mut ballast = std::fs::File::create(self.path().join("ballast")).expect("a file");
        let mut block = 1024 * 1024;
        while block > 0 {
            if ballast.write_all(&vec![1; block]).is_err() {
                block /= 2;
            }
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.path().join("ballast")).expect("the ballast is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_a_refusal_and_accepted_turns_still_end() {
    let Some(disk) = SmallDisk::mount() else {
        // Where mounting is not allowed, the tests of the writer alone stand for this one.
        return;
    };
    let connected = connect(&Options::embedded(disk.path())).await.expect("it opens");
    let ports = &connected.ports;
    let (ann, mine, _) = first_turn(ports).await;
    let mut claims = Vec::new();
    for _ in 0..20 {
        let (_, _, turn) = first_turn(ports).await;
        claims.push(claim(ports, &turn.id).await);
    }
    disk.fill();

    // The log has some room left in what it has already allocated; large writes find the end of it.
    let large = "x".repeat(500_000);
    eventually("new work is refused", || async {
        match ports.turns.open(&ann, submission(&mine.id, &large, None)).await {
            Ok(Opened::New(_)) => None,
            Err(PortError::Full) => Some(()),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let marked = ports.turns.request_cancel(&ann, &mine.id).await.expect("a cancel is still taken");
    assert!(!marked.is_empty());
    for claim in &claims {
        ports.leases.renew(claim, LONG).await.expect("a lease can still be renewed");
        let notice = vec![NewMessage::new(Role::System, "the disk is full")];
        let end = ending(TurnStatus::Failed, 0, notice);
        assert_eq!(ports.turns.finish(claim, end).await.expect("it ends"), Fenced::Done(None));
    }

    disk.make_room();
    eventually("there is room again", || async {
        match ports.turns.open(&ann, submission(&mine.id, "again", None)).await {
            Ok(Opened::New(_)) => Some(()),
            Err(PortError::Full) => None,
            other => panic!("{other:?}"),
        }
    })
    .await;
    assert!(disk.path().join("pilothouse.reserve").exists(), "the reserve is back");
    connected.backend.close().await.expect("close");
    assert_whole(disk.path());
}
