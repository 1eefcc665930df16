//! Builds the bubblewrap command line: namespaces, mounts, environment and limits. `run` starts it.

use std::ffi::OsString;
use std::path::Path;

use super::{MAX_PROCESSES, SandboxCommand};

/// Address space of one process, in kilobytes.
const MEMORY_KB: u64 = 512 * 1024;
/// Size of one file, in kilobytes.
const FILE_KB: u64 = 50 * 1024;
const OPEN_FILES: u32 = 256;
/// Size of each private tmpfs, in bytes; it does not count towards the address space of a process.
const TMP_BYTES: u64 = 64 * 1024 * 1024;

/// Configuration that programs need to start: the linker's cache and the targets of links in `/usr/bin`. Nothing that
/// identifies this machine.
const ETC: &[&str] =
    &["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/// Folders that are links into `/usr` on merged-usr systems and real folders on others.
const ROOTS: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Shell script that runs inside the sandbox and then executes the command. Standard input carried the system call filter
/// and was closed by bubblewrap, so it is reopened first, before another file can take its descriptor. Limits are set
/// here and not outside, because the process limit would otherwise count the server's own processes.
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

pub(crate) fn arguments(job: &SandboxCommand) -> Vec<OsString> {
    let mut line = CommandLine::default();
    for flag in [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--unshare-cgroup-try",
        // When the server dies or kills bubblewrap, all processes inside die too.
        "--die-with-parent",
        // Detaches from the server's terminal, into which a command could otherwise inject input.
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
    // The root and /dev are tmpfs mounts of bubblewrap without a size limit, so they become read-only after all mounts.
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
    // The filter is passed on standard input, which a child inherits without further setup.
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

/// Checked first, because bubblewrap's own error for a missing folder is about mounts.
pub(crate) fn is_usable(workspace: &Path) -> bool {
    workspace.is_absolute() && workspace.is_dir()
}
