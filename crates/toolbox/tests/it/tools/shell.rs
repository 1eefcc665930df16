//! The shell tool and the file tools on the same workspace.

use std::time::{Duration, Instant};

use ports::tool::ToolContext;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Toolbox, context};

#[tokio::test]
async fn a_command_works_on_the_files_of_the_session() {
    let toolbox = Toolbox::open().await;
    toolbox.call("write_workspace_file", json!({"filename": "in.txt", "content": "b\na\n"})).await;
    let ran =
        toolbox.call("bash_exec", json!({"command": "sort in.txt | tee out.txt; exit 4"})).await;
    assert_eq!(
        (&ran["stdout"], &ran["exit_code"], &ran["timed_out"]),
        (&json!("a\nb\n"), &json!(4), &json!(false))
    );
    let read = toolbox.call("read_workspace_file", json!({"path": "out.txt"})).await;
    assert_eq!(read["content"], "a\nb\n");
}

#[tokio::test]
async fn the_file_tools_do_not_follow_links_out_of_the_workspace() {
    let toolbox = Toolbox::open().await;
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "secret").expect("a file");
    let command = format!(
        "ln -s {} link; ln -s {} folder; ln -s ../../../../../../etc/hostname up",
        secret.display(),
        outside.path().display()
    );
    toolbox.call("bash_exec", json!({"command": command})).await;
    for path in ["link", "folder/secret.txt", "up"] {
        let read = toolbox.call("read_workspace_file", json!({"path": path})).await;
        assert_eq!(read["type"], "error", "{path}: {read}");
        let write = json!({"filename": path, "path": path, "content": "x", "overwrite": true});
        assert_eq!(toolbox.call("write_workspace_file", write).await["type"], "error", "{path}");
    }
    assert_eq!(std::fs::read_to_string(&secret).expect("the file"), "secret");
}

#[tokio::test]
async fn a_time_limit_is_applied_and_reported() {
    let toolbox = Toolbox::open().await;
    let ran =
        toolbox.call("bash_exec", json!({"command": "echo begun; sleep 600", "timeout": 0})).await;
    assert_eq!((&ran["stdout"], &ran["timed_out"]), (&json!("begun\n"), &json!(true)));
    assert!(ran.get("exit_code").is_none());
}

#[tokio::test]
async fn a_cancelled_call_ends_soon() {
    let toolbox = Toolbox::open().await;
    let cancel = CancellationToken::new();
    let started = toolbox.files.path().join("started");
    let context = ToolContext { cancel: cancel.clone(), ..context() };
    let call =
        toolbox.call_in(context, "bash_exec", json!({"command": "touch started; sleep 600"}));
    let stop = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
        Instant::now()
    };
    let both = async { tokio::join!(call, stop) };
    let (response, cancelled_at) =
        tokio::time::timeout(Duration::from_secs(20), both).await.expect("it ends");
    assert_eq!(response["error"], "cancelled");
    assert!(cancelled_at.elapsed() < Duration::from_secs(1));
}
