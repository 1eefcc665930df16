//! Mounts that only the server under test sees: a helper process keeps a mount namespace, and the server is started
//! inside it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The namespace and its mounts end with the process that keeps it.
pub(crate) struct MountNamespace {
    holder: Child,
    wrapper: Vec<String>,
}

impl MountNamespace {
    /// Runs these mount commands in a new namespace.
    pub(crate) fn with(mounts: &str) -> Self {
        let as_root = rustix::process::geteuid().is_root();
        // Users other than root may mount in a user namespace of their own.
        let kinds: &[&str] =
            if as_root { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
        let mut holder = Command::new("unshare")
            .args(kinds)
            .args(["sh", "-ec", &format!("{mounts}\necho ready\nexec sleep infinity")])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("unshare is part of util-linux: apt-get install util-linux");
        let mut line = String::new();
        let _ = BufReader::new(holder.stdout.take().expect("piped")).read_line(&mut line);
        if line.trim() != "ready" {
            let output = holder.wait_with_output().expect("the process has ended");
            panic!(
                "this test needs a mount namespace (`unshare {}`), and this machine refuses it: {}",
                kinds.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let pid = holder.id().to_string();
        let mut wrapper = vec!["nsenter".to_owned(), "--target".to_owned(), pid];
        if !as_root {
            wrapper.extend(["--user".to_owned(), "--preserve-credentials".to_owned()]);
        }
        wrapper.extend(["--mount".to_owned(), "--".to_owned()]);
        Self { holder, wrapper }
    }

    /// The command prefix that starts a server inside the namespace.
    pub(crate) fn wrapper(&self) -> &[String] {
        &self.wrapper
    }

    /// The same file as seen from outside.
    pub(crate) fn outside(&self, inside: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(inside.strip_prefix("/").expect("an absolute path"))
    }
}

impl Drop for MountNamespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
