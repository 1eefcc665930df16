//! `pilothouse eval`: the tasks in `examples/eval` without a model, a scripted model, and failures of each kind.

use std::path::Path;

use serde_json::json;
use testkit::model_server::{MODEL, ModelServer, Script};

use super::ENGINE;
use crate::server::TestStorage;

const TASKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/eval");
const SUM: &str = "name: Sum\ndescription: Adds.\ninputs: {a: number, b: number}\nsteps:\n  sum: {block: Calculator, \
    operation: Add, a: inputs.a, b: inputs.b}\noutputs: {sum: sum.result}";

struct Evaluation {
    code: Option<i32>,
    out: String,
    err: String,
}

async fn eval(
    storage: &TestStorage,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Evaluation {
    let environment: Vec<(String, String)> =
        environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let mut command = storage.command(&environment, &[&["eval"], arguments].concat());
    let ran = tokio::task::spawn_blocking(move || command.output());
    let output = ran.await.expect("no panic").expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Evaluation { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Writes a task into the folder of the test, and returns the path of the file.
fn task(storage: &TestStorage, name: &str, text: &str) -> String {
    let file = storage.folder().join(name);
    std::fs::write(&file, text).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

fn adds(expected: &str) -> String {
    format!(
        "goal: Add two numbers a and b\nexpected:\n  blocks: [Calculator]\n  rehearsals:\n  - inputs: {{a: 1, b: 2}}\n    \
         outputs: {{sum: {expected}}}\n"
    )
}

fn plan() -> Script {
    let steps =
        json!([{"description": "Add them", "action": "add_block", "block_name": "Calculator"}]);
    Script::text(&json!({"type": "instructions", "steps": steps}).to_string())
}

fn spec(text: &str) -> Script {
    Script::text(&format!("```yaml\n{text}\n```"))
}

#[tokio::test]
async fn the_example_tasks_pass_without_a_model() {
    let storage = TestStorage::new(ENGINE);
    // Settings of a real installation neither matter nor are touched.
    let settings =
        [("OPENAI_API_KEY", "k"), ("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", &"x".repeat(32))];
    let ran = eval(&storage, &settings, &[TASKS]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let files = std::fs::read_dir(Path::new(TASKS)).expect("the folder").count();
    assert!(files >= 6);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("pass  ")).count(), files);
    assert!(ran.out.contains("pass@1  100 %") && !ran.out.contains("tokens"), "{}", ran.out);
    assert!(ran.err.contains("Generator: offline. --live"), "{}", ran.err);
    assert!(!storage.folder().join("data").exists(), "the installation's store is not used");
}

#[tokio::test]
async fn without_a_key_a_live_evaluation_says_that_it_is_offline() {
    let storage = TestStorage::new(ENGINE);
    let vague = format!("{TASKS}/vague.yaml");
    let ran = eval(&storage, &[], &["--live", "--attempts", "3", &vague]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("neither a model nor a generator service is configured"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("3/3 suggestion") && ran.out.contains("pass@3  100 %"), "{}", ran.out);
}

#[tokio::test]
async fn a_model_is_evaluated_with_its_repairs_and_its_tokens() {
    let storage = TestStorage::new(ENGINE);
    let model = ModelServer::start().await;
    for script in [plan(), spec(&SUM.replace("block: Calculator", "block: Calculatr")), spec(SUM)] {
        model.enqueue(script);
    }
    let settings = [("CHAT_BASE_URL", model.openai_url()), ("CHAT_MODEL", MODEL.to_owned())];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let file = task(&storage, "sum.yaml", &adds("3"));
    let ran = eval(&storage, &settings, &["--live", &file]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("verified after 1 repairs"), "{}", ran.out);
    assert!(ran.out.contains("tokens  30 in, 15 out"), "{}", ran.out);
    assert!(ran.err.contains(MODEL), "{}", ran.err);
}

#[tokio::test]
async fn a_failure_says_whether_the_builder_the_service_or_the_verification_is_to_blame() {
    let storage = TestStorage::new(ENGINE);
    let model = ModelServer::start().await;
    let settings = [("CHAT_BASE_URL", model.openai_url()), ("CHAT_MODEL", MODEL.to_owned())];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let wrong = SUM.replace("block: Calculator", "block: Calculatr");
    let asks = json!({"type": "clarifying_questions", "questions": ["Which numbers?"]}).to_string();
    for (scripts, expected, says) in [
        // The agent is ready, but does not do what the task wants.
        (vec![plan(), spec(SUM)], "4", "verification gap: sum is [3"),
        (vec![plan(), spec(&wrong), spec(&wrong)], "3", "builder: unknown_block at steps.sum"),
        (vec![Script::text(&asks)], "3", "builder: asks: Which numbers?"),
        (vec![Script::unauthorized()], "3", "service: "),
        (vec![Script::text("no"), Script::text("no")], "3", "(llm_parse_error)"),
    ] {
        for script in scripts {
            model.enqueue(script);
        }
        let file = task(&storage, "sum.yaml", &adds(expected));
        let ran = eval(&storage, &settings, &["--live", "--show-specs", &file]).await;
        assert_eq!((ran.code, model.scripts_left()), (Some(1), 0), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("FAIL  sum") && ran.out.contains(says), "{says}: {}", ran.out);
        assert_eq!(ran.err.contains("outputs:"), says.contains("sum"), "{says}: {}", ran.err);
    }
    let away = [("AGENTGENERATOR_HOST", "127.0.0.1"), ("AGENTGENERATOR_PORT", "9")];
    let file = task(&storage, "sum.yaml", &adds("3"));
    let ran = eval(&storage, &away, &["--live", &file]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("(connection_error)"), "{}", ran.out);
    assert!(ran.out.contains("failed  1 × service"), "{}", ran.out);
}

#[tokio::test]
async fn a_folder_without_tasks_and_a_file_that_is_none_are_refused() {
    let storage = TestStorage::new(ENGINE);
    let empty = storage.folder().join("none");
    std::fs::create_dir(&empty).expect("created");
    let file = task(&storage, "odd.yaml", "goal: Add\nexpects: {}\n");
    for (path, says) in [
        (empty.to_str().expect("UTF-8"), "has no tasks"),
        ("no-such-folder", "could not read"),
        (file.as_str(), "odd.yaml is no task"),
    ] {
        let ran = eval(&storage, &[], &[path]).await;
        assert_eq!(ran.code, Some(1), "{path}");
        assert!(ran.err.contains(says), "{path}: {}", ran.err);
    }
}
