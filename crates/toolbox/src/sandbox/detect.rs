//! Tests whether commands can be isolated on this machine, by running one in the sandbox.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{CommandEnd, Sandbox, SandboxCommand};

const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Run inside the sandbox: succeeds when the shell sees only its own processes, has no network and cannot write to the
/// system. Uses builtins of the shell only: every server waits for this when it starts, and starting `ls`, `wc` and
/// `touch` took most of that time.
const PROBE: &str = "shopt -s nullglob; processes=(/proc/[0-9]*); interfaces=(/sys/class/net/*); \
    test ${#processes[@]} -le 4 \
    && test ${#interfaces[@]} -eq 0 \
    && ! { : >/usr/probe; } 2>/dev/null \
    && ! { : >/probe; } 2>/dev/null \
    && : >/workspace/probe \
    && echo isolated";

impl Sandbox {
    /// The error tells the operator what is missing and what to do.
    pub async fn detect() -> Result<Self, String> {
        let bwrap = find_bwrap().ok_or(
            "bubblewrap is not installed; install it (Debian and Ubuntu: apt-get install bubblewrap) and restart",
        )?;
        let sandbox = Self { bwrap };
        let folder = probe_folder()?;
        let job = SandboxCommand {
            command: PROBE.into(),
            workspace: folder.0.clone(),
            timeout: PROBE_TIMEOUT,
        };
        let finished = sandbox
            .run(job, CancellationToken::new())
            .await
            .map_err(|error| format!("bubblewrap could not be started: {error}"))?;
        if finished.end == CommandEnd::Exited(0) && finished.stdout.trim() == "isolated" {
            return Ok(sandbox);
        }
        let reason = finished.stderr.lines().next().unwrap_or("no reason was given").to_owned();
        Err(format!(
            "bubblewrap cannot isolate a command here ({reason}); allow unprivileged user namespaces \
             (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, and in a container a \
             seccomp profile that allows clone and mount) and restart"
        ))
    }
}

/// Fixed paths, so that a program placed early in the search path is not used.
fn find_bwrap() -> Option<PathBuf> {
    ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"]
        .into_iter()
        .map(PathBuf::from)
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Removed on drop.
struct ProbeFolder(PathBuf);

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn probe_folder() -> Result<ProbeFolder, String> {
    let name = format!("pilothouse-probe-{:016x}", rand::random::<u64>());
    let path = env::temp_dir().join(name);
    std::fs::create_dir(&path)
        .map_err(|error| format!("could not create a folder for the sandbox probe: {error}"))?;
    Ok(ProbeFolder(path))
}
