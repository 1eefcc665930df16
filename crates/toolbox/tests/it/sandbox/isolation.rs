//! What a sandboxed command can see and do.

use std::net::TcpListener;
use std::os::fd::AsRawFd;

use pilothouse_toolbox::sandbox::{CommandEnd, OUTPUT_BYTES};

use super::{run, run_in};

#[tokio::test]
async fn a_command_returns_its_output_and_its_exit_code() {
    let finished = run("echo out; echo err >&2; exit 3").await;
    assert_eq!(finished.end, CommandEnd::Exited(3));
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!(run("kill -9 $$").await.end, CommandEnd::Exited(137));
    // Ordinary commands still work under the filter and the limits.
    let finished =
        run("seq 1 100000 | sort -rn | head -1 | tr -d '\\n'; date +%Y >/dev/null").await;
    assert_eq!((finished.end, finished.stdout.as_str()), (CommandEnd::Exited(0), "100000"));
}

#[tokio::test]
async fn the_environment_of_the_server_is_not_visible() {
    // Set by Cargo for the test; it represents any secret in the server's environment.
    let marker = "CARGO_MANIFEST_DIR";
    let ours = std::fs::read("/proc/self/environ").expect("the environment");
    assert!(String::from_utf8_lossy(&ours).contains(marker));
    let finished = run("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'").await;
    assert!(!finished.stdout.contains(marker), "{}", finished.stdout);
    let names: Vec<&str> =
        finished.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    let known = ["PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
}

#[tokio::test]
async fn other_processes_are_neither_seen_nor_reached() {
    let me = std::process::id();
    let finished =
        run(&format!("ls -d /proc/[0-9]* | wc -l; kill -0 {me} 2>/dev/null && echo reached")).await;
    let seen: usize = finished.stdout.trim().parse().expect("a number only");
    assert!(seen < 10, "{seen}");
}

#[tokio::test]
async fn no_descriptor_of_the_server_is_inherited() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(secret.path(), "canary").expect("a write");
    // Marked as inheritable, as a careless library would leave it.
    rustix::io::fcntl_setfd(secret.as_file(), rustix::io::FdFlags::empty()).expect("a flag");
    let number = secret.as_file().as_raw_fd();
    let finished = run(&format!(
        "for n in $(seq 0 300); do [ -e /proc/$$/fd/$n ] && echo $n; done
cat /proc/[0-9]*/fd/{number} 2>/dev/null; true"
    ))
    .await;
    assert_eq!(finished.stdout, "0\n1\n2\n");
}

#[tokio::test]
async fn there_is_no_network() {
    let canary = TcpListener::bind("127.0.0.1:0").expect("a port");
    canary.set_nonblocking(true).expect("a flag");
    let port = canary.local_addr().expect("an address").port();
    let finished = run(&format!(
        "(echo x >/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached; cat /proc/net/dev | grep -c :"
    ))
    .await;
    assert_eq!(finished.stdout.trim(), "1", "only its own loopback");
    assert!(canary.accept().is_err(), "the canary was reached");
}

#[tokio::test]
async fn only_the_workspace_and_the_private_tmp_can_be_written() {
    let workspace = tempfile::tempdir().expect("a folder");
    let finished = run_in(
        "echo kept > /workspace/file; echo gone > /tmp/file
for place in / /usr /bin /etc /dev /proc /var /home /root /sys; do
  (echo x > $place/written) 2>/dev/null && echo \"wrote to $place\"
done
mkdir /new 2>/dev/null && echo made; true",
        workspace.path(),
    )
    .await;
    assert_eq!((finished.end, finished.stdout.as_str()), (CommandEnd::Exited(0), ""));
    assert_eq!(std::fs::read_to_string(workspace.path().join("file")).expect("the file"), "kept\n");
    assert_eq!(std::fs::read_dir(workspace.path()).expect("the folder").count(), 1);
}

#[tokio::test]
async fn the_files_of_the_host_are_not_visible() {
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "canary").expect("a file");
    let finished = run(&format!(
        "cat {0} /proc/1/root{0} /etc/passwd /etc/shadow 2>/dev/null; ln -s {0} link; cat link 2>/dev/null; ls /root /home /var 2>/dev/null; true",
        secret.display()
    ))
    .await;
    assert_eq!(finished.stdout, "");
}

#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    for attempt in [
        "unshare --user true",
        "unshare --net true",
        "mount -t tmpfs none /tmp",
        "mount --bind /tmp /workspace",
        "chroot / true",
        "dmesg",
        "nsenter --target 1 --mount true",
    ] {
        let finished = run(attempt).await;
        assert_ne!(finished.end, CommandEnd::Exited(0), "{attempt} succeeded");
    }
    let status =
        run("grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status").await.stdout;
    for line in
        ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"]
    {
        assert!(status.contains(line), "{status}");
    }
}

#[tokio::test]
async fn a_flood_of_output_is_bounded() {
    let finished = run("head -c 30000000 /dev/zero | tr '\\0' x; echo done >&2").await;
    assert_eq!(finished.end, CommandEnd::Exited(0));
    assert!(finished.stdout.len() < OUTPUT_BYTES + 100);
    assert!(finished.stdout.ends_with(&format!("[{} bytes cut]", 30_000_000 - OUTPUT_BYTES)));
    assert_eq!(finished.stderr, "done\n");
}

#[tokio::test]
async fn large_files_large_memory_and_many_descriptors_are_refused() {
    let workspace = tempfile::tempdir().expect("a folder");
    let finished = run_in("head -c 60000000 /dev/zero > big; echo $?", workspace.path()).await;
    assert_ne!(finished.stdout.trim(), "0");
    let written = std::fs::metadata(workspace.path().join("big")).expect("a part of it").len();
    assert!(written <= 50 * 1024 * 1024, "{written}");

    let finished = run("truncate -s 10G sparse; echo $?").await;
    assert_ne!(finished.stdout.trim(), "0");
    let finished = run("x=$(head -c 900000000 /dev/zero | tr '\\0' x); echo ${#x}").await;
    assert_ne!(finished.end, CommandEnd::Exited(0), "{}", finished.stdout);
    let finished =
        run("head -c 90000000 /dev/zero > /tmp/a; head -c 90000000 /dev/zero > /dev/shm/a").await;
    assert_ne!(finished.end, CommandEnd::Exited(0));
    assert_eq!(
        run("ulimit -Hn; ulimit -n 4096 2>/dev/null && echo raised; true").await.stdout,
        "256\n"
    );
}

#[tokio::test]
async fn the_output_contains_no_terminal_escape_sequences() {
    let finished = run("printf '\\033]0;title\\007\\033[2Jtext\\033[0m\\n'").await;
    assert_eq!(finished.stdout, "text\n");
}
