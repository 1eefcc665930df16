//! Executors are replaced one after another while turns run: no turn is lost, and no replacement counts as a crash.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use testkit::model_server::{RecordedRequest, Script, ScriptedCall};

use super::followed_turn::FollowedTurn;
use super::rows::ask;
use super::{ALL_AT_ONCE, cluster, finished};
use crate::server::{Cluster, Role};

const TURNS: usize = 30;
const EXECUTORS: usize = 3;
const STEPS: usize = 14;
/// Below the 10 s that a container runtime allows before SIGKILL.
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_macros, reason = "how long leaving takes is worth reading")]
async fn thirty_turns_with_tools_survive_the_replacement_of_all_executors() {
    let (model, mut cluster) = cluster(1, EXECUTORS, &ALL_AT_ONCE).await;
    model.respond_with(next_step);
    let api = cluster.api(0).http();
    let mut turns = join_all((0..TURNS).map(|_| FollowedTurn::start(api, "work"))).await;
    join_all(turns.iter_mut().map(|turn| turn.until("tool-output-available"))).await;
    for number in 0..EXECUTORS {
        cluster.spawn(Role::Executor, &[]);
        let old = cluster.executor_mut(number);
        let told = Instant::now();
        old.sigterm();
        assert_eq!(old.wait_for_exit(EXIT_TIMEOUT).code(), Some(0), "executor {number}");
        eprintln!("executor {number} left after {:?}", told.elapsed());
    }
    join_all(turns.iter_mut().map(FollowedTurn::read_to_the_end)).await;
    for turn in &turns {
        turn.assert_holds(cluster.api(0).http(), &finished()).await;
        assert!(turn.text().ends_with("All done."));
    }
    let attempts = ask(&cluster, "SELECT DISTINCT attempt FROM turn").await;
    assert_eq!(attempts, ["1"], "nothing counts as a crash");
    let moved = ask(&cluster, "SELECT count(*) FROM turn WHERE fence > 1").await;
    assert_ne!(moved, ["0"], "some turns were running when their executor shut down");
    assert_eq!(effects(&cluster), vec!["done\n"; TURNS], "every command ran once");
    assert_eq!(model.requests().len(), TURNS * (STEPS + 1), "no step was done twice");
    model.assert_no_violations();
}

/// A command first, then one small call per step, then the final text.
fn next_step(request: &RecordedRequest) -> Script {
    let done = request.tool_results().len();
    let call = match done {
        0 => ("bash_exec", json!({"command": "echo done >> effects.txt"})),
        _ => (
            "todo_write",
            json!({"todos": [{"content": "go on", "status": "pending", "activeForm": "going on"}]}),
        ),
    };
    let script = Script::default().delay(Duration::from_millis(300));
    match done {
        STEPS => script.say("All done."),
        _ => script.say("On.").call(&[ScriptedCall::new(&format!("call_{done}"), call.0, &call.1)]),
    }
}

fn effects(cluster: &Cluster) -> Vec<String> {
    let folders = cluster.storage().folder().join("data/workspaces");
    let folders = std::fs::read_dir(folders).expect("there were commands");
    let file = |folder: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(folder.ok()?.path().join("effects.txt")).ok()
    };
    folders.filter_map(file).collect()
}
