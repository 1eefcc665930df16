//! The workspace file tools.

use serde_json::json;

use super::{Toolbox, dry_run};

#[tokio::test]
async fn what_is_written_is_listed_read_and_deleted() {
    let toolbox = Toolbox::open().await;
    let written = toolbox
        .call(
            "write_workspace_file",
            json!({"filename": "plan.md", "path": "/workspace/notes/plan.md", "content": "# Plän"}),
        )
        .await;
    assert_eq!(
        (&written["file"]["path"], &written["created"]),
        (&json!("notes/plan.md"), &json!(true))
    );
    let listed = toolbox.call("list_workspace_files", json!({"path_prefix": "notes/"})).await;
    assert_eq!(
        (&listed["total_count"], &listed["files"][0]["name"]),
        (&json!(1), &json!("plan.md"))
    );
    let read = toolbox.call("read_workspace_file", json!({"path": "notes/plan.md"})).await;
    assert_eq!(
        (&read["content"], &read["encoding"], &read["truncated"]),
        (&json!("# Plän"), &json!("text"), &json!(false))
    );
    let by_id = json!({"file_id": written["file"]["file_id"]});
    assert_eq!(toolbox.call("delete_workspace_file", by_id).await["path"], "notes/plan.md");
    let gone = toolbox.call("read_workspace_file", json!({"path": "notes/plan.md"})).await;
    assert_eq!(gone["error"], "file_not_found");
}

#[tokio::test]
async fn an_existing_file_is_replaced_only_when_asked_and_a_repetition_is_the_same_write() {
    let toolbox = Toolbox::open().await;
    let write = |content: &str, overwrite: bool| json!({"filename": "a.txt", "content": content, "overwrite": overwrite});
    assert_eq!(toolbox.call("write_workspace_file", write("one", false)).await["created"], true);
    assert_eq!(
        toolbox.call("write_workspace_file", write("two", false)).await["error"],
        "file_exists"
    );
    // The same call after a crash finds its own file.
    let repeated = toolbox.call("write_workspace_file", write("one", false)).await;
    assert_eq!(repeated["type"], "workspace_file_written");
    assert_eq!(toolbox.call("write_workspace_file", write("two", true)).await["created"], false);
    let read = toolbox.call("read_workspace_file", json!({"path": "a.txt"})).await;
    assert_eq!(read["content"], "two");
}

#[tokio::test]
async fn a_long_file_is_read_in_adjacent_pieces() {
    let toolbox = Toolbox::open().await;
    let text: String = "aäö→".repeat(10_000);
    std::fs::write(toolbox.files.path().join("long.txt"), &text).expect("a file");
    let (mut joined, mut offset) = (String::new(), 0);
    loop {
        let piece = toolbox
            .call("read_workspace_file", json!({"path": "long.txt", "offset": offset}))
            .await;
        let content = piece["content"].as_str().expect("text");
        assert!(content.len() <= 32 * 1024 && piece["encoding"] == "text");
        joined.push_str(content);
        offset += content.len();
        if piece["truncated"] == false {
            break;
        }
    }
    assert_eq!(joined, text);
}

#[tokio::test]
async fn binary_files_are_passed_as_base64() {
    let toolbox = Toolbox::open().await;
    let write = json!({"filename": "a.bin", "content_base64": "AP8B"});
    toolbox.call("write_workspace_file", write).await;
    let read = toolbox.call("read_workspace_file", json!({"path": "a.bin"})).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!("AP8B"), &json!("base64")));
    for bad in [
        json!({"filename": "a", "content_base64": "%%"}),
        json!({"filename": "a", "content": "x", "content_base64": "AA=="}),
        json!({"filename": "a"}),
    ] {
        assert_eq!(toolbox.call("write_workspace_file", bad).await["error"], "invalid_arguments");
    }
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let toolbox = Toolbox::open().await;
    std::fs::write(toolbox.files.path().join("kept.txt"), "kept").expect("a file");
    for (name, arguments, kind) in [
        (
            "write_workspace_file",
            json!({"filename": "new.txt", "content": "x"}),
            "workspace_file_written",
        ),
        ("delete_workspace_file", json!({"path": "kept.txt"}), "workspace_file_deleted"),
        ("bash_exec", json!({"command": "touch new.txt; rm kept.txt"}), "bash_exec"),
    ] {
        let response = toolbox.call_in(dry_run(), name, arguments).await;
        assert_eq!(response["type"], kind);
        assert!(response["message"].as_str().expect("text").starts_with("Dry run"), "{response}");
    }
    let left: Vec<_> =
        std::fs::read_dir(toolbox.files.path()).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1);
}
