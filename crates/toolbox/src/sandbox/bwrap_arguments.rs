//! The command line of bubblewrap: which walls, in which order, and what is inside them. Decided here, done in `run`.

use std::ffi::OsString;
use std::path::Path;

use super::{MAX_PROCESSES, SandboxCommand};

/// Kilobytes of address space of one process.
const MEMORY_KB: u64 = 512 * 1024;
/// Kilobytes of one file.
const FILE_KB: u64 = 50 * 1024;
const OPEN_FILES: u32 = 256;
/// Bytes of each private memory file system: they are not part of any process's address space.
const TMP_BYTES: u64 = 64 * 1024 * 1024;

/// What of the system's configuration programs need to start: the linker's cache and the names behind links in
/// `/usr/bin`. Nothing that says who or where this machine is.
const ETC: &[&str] =
    &["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/// Folders that are links into `/usr` on a merged system and real folders on others.
const ROOTS: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Runs inside, before the command, and then becomes it. Standard input carried the system call filter and was closed
/// by bubblewrap, so it is opened anew before anything else can take its number. Limits are set here and not outside,
/// because the one on processes would otherwise count the server's own.
fn prelude(job: &SandboxCommand) -> String {
    let cpu_seconds = job.timeout.as_secs() + 1;
    format!(
        "exec </dev/null || exit 126
for fd in /proc/self/fd/*; do
  fd=${{fd##*/}}
  if (( fd > 2 )); then eval \"exec $fd>&-\"; fi
done
ulimit -c 0 && ulimit -v {MEMORY_KB} && ulimit -f {FILE_KB} && ulimit -n {OPEN_FILES} \
&& ulimit -u {MAX_PROCESSES} && ulimit -t {cpu_seconds} || exit 126
exec /bin/bash --noprofile --norc -c \"$1\""
    )
}

pub(super) fn arguments(job: &SandboxCommand) -> Vec<OsString> {
    let mut line = CommandLine::default();
    for flag in [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--unshare-cgroup-try",
        // When the server dies, or kills bubblewrap, everything inside dies with it.
        "--die-with-parent",
        // Away from the server's terminal, into which a command could otherwise type.
        "--new-session",
        "--clearenv",
    ] {
        line.add(&[flag]);
    }
    line.add(&["--hostname", "sandbox"]);
    line.add(&["--uid", "1000", "--gid", "1000"]);
    line.add(&["--cap-drop", "ALL"]);

    line.add(&["--ro-bind", "/usr", "/usr"]);
    for root in ROOTS {
        match std::fs::read_link(root) {
            Ok(target) => line.add(&["--symlink".as_ref(), target.as_os_str(), root.as_ref()]),
            Err(_) => line.add(&["--ro-bind-try", root, root]),
        }
    }
    for file in ETC {
        line.add(&["--ro-bind-try", file, file]);
    }
    line.add(&["--proc", "/proc"]);
    line.add(&["--dev", "/dev"]);
    let tmp_bytes = TMP_BYTES.to_string();
    line.add(&["--size", &tmp_bytes, "--tmpfs", "/tmp"]);
    line.add(&["--size", &tmp_bytes, "--tmpfs", "/dev/shm"]);
    line.add(&["--bind".as_ref(), job.workspace.as_os_str(), "/workspace".as_ref()]);
    // The root and /dev are memory file systems of bubblewrap's own, without a size: closed when all is mounted.
    line.add(&["--remount-ro", "/dev"]);
    line.add(&["--remount-ro", "/"]);
    line.add(&["--chdir", "/workspace"]);

    for (name, value) in [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/workspace"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
    ] {
        line.add(&["--setenv", name, value]);
    }
    // The filter comes in on standard input, the one descriptor that a child is given without ceremony.
    line.add(&["--seccomp", "0"]);
    line.add(&["--", "/bin/bash", "--noprofile", "--norc", "-c"]);
    line.add(&[prelude(job).as_str(), "bash", job.command.as_str()]);
    line.0
}

#[derive(Default)]
struct CommandLine(Vec<OsString>);

impl CommandLine {
    fn add<S: AsRef<std::ffi::OsStr> + ?Sized>(&mut self, words: &[&S]) {
        self.0.extend(words.iter().map(|word| word.as_ref().to_os_string()));
    }
}

/// A folder that is not there would make bubblewrap fail with a sentence about mounts.
pub(super) fn is_usable(workspace: &Path) -> bool {
    workspace.is_absolute() && workspace.is_dir()
}
