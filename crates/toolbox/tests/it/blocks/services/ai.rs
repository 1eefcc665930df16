//! Blocks that call a model, with a scripted model server.

use std::time::Duration;

use ports::block::{BlockContext, BlockError};
use serde_json::{Value, json};
use testkit::model_server::{Dialect, ModelServer, Script};

use super::{Bench, pins};
use crate::providers::{GENEROUS, rig};

async fn bench() -> (ModelServer, Bench) {
    let (server, model) = rig(Dialect::OpenAi, GENEROUS).await;
    (server, Bench::with_model(model))
}

#[tokio::test]
async fn a_prompt_is_filled_answered_and_metered() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("Hello, Ada!"));
    let input = json!({
        "prompt": "Say hello to {{name}}.", "prompt_values": { "name": "Ada" }, "sys_prompt": "Be brief.",
        "model": "some-model-of-another-server", "retry": 3,
    });
    let context = bench.context();
    let meter = context.meter.clone();
    let outputs = bench.run_in(context, "AITextGeneratorBlock", input).await.expect("an answer");
    assert_eq!(
        pins(&outputs),
        json!([
            ["response", "Hello, Ada!"],
            ["prompt", [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Say hello to Ada." },
            ]],
        ])
    );
    assert!(meter.total().tokens > 0);
    server.assert_no_violations();
}

#[tokio::test]
async fn a_conversation_is_continued() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("In Portugal."));
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": "Hello" },
    ]);
    let input = json!({ "messages": messages, "prompt": "Where is Lisbon?" });
    let outputs = bench.run("AIConversationBlock", input).await.expect("an answer");
    assert_eq!(outputs[0].1, "In Portugal.");
    assert_eq!(server.requests()[0].messages().len(), 4);
    assert_eq!(server.requests()[0].last_user_text(), "Where is Lisbon?");
    let nothing = json!({ "messages": [] });
    assert!(bench.failure("AIConversationBlock", nothing).await.contains("empty"));
}

#[tokio::test]
async fn an_answer_in_the_wrong_format_is_retried() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("Sure, a nice city!"));
    server.enqueue(Script::text(r#"{"city": "Lisbon"}"#));
    server.enqueue(Script::text(r#"Here: {"city": "Lisbon", "people": 550000}"#));
    let input = json!({
        "prompt": "Name a city.", "expected_format": { "city": "its name", "people": "how many live there" },
    });
    let outputs =
        bench.run("AIStructuredResponseGeneratorBlock", input.clone()).await.expect("an answer");
    assert_eq!(outputs[0].1, json!({ "city": "Lisbon", "people": 550000 }));
    assert!(
        server.requests()[2].last_user_text().contains("people"),
        "the retry names the missing key"
    );
    for _ in 0..3 {
        server.enqueue(Script::text("I would rather not."));
    }
    let message = bench.failure("AIStructuredResponseGeneratorBlock", input).await;
    assert!(message.contains("form"), "{message}");
    assert_eq!(server.requests().len(), 6, "retries are limited");
}

#[tokio::test]
async fn a_list_is_emitted_whole_and_item_by_item() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("```json\n{\"list\": [\"Tagus\", \"Douro\"]}\n```"));
    let input = json!({ "focus": "rivers", "source_data": "The Tagus and the Douro." });
    let outputs = bench.run("AIListGeneratorBlock", input).await.expect("a list");
    let names: Vec<&str> = outputs.iter().map(|(pin, _)| pin.as_str()).collect();
    assert_eq!(names, ["generated_list", "prompt", "list_item", "list_item"]);
    assert_eq!((&outputs[0].1, &outputs[3].1), (&json!(["Tagus", "Douro"]), &json!("Douro")));
}

#[tokio::test]
async fn a_condition_emits_the_value_on_the_matching_pin() {
    let (server, bench) = bench().await;
    for (answer, expected) in [
        ("true", json!([["result", true], ["yes_output", "a@b.example"]])),
        ("No.", json!([["result", false], ["no_output", "not a mail"]])),
    ] {
        server.enqueue(Script::text(answer));
        let input = json!({
            "input_value": "a@b.example", "condition": "it is an e-mail address", "no_value": "not a mail",
        });
        let outputs = bench.run("AIConditionBlock", input).await.expect("outputs");
        assert_eq!(pins(&outputs), expected);
    }
    server.enqueue(Script::text("Who knows?"));
    bench.failure("AIConditionBlock", json!({ "input_value": 1, "condition": "it is odd" })).await;
}

#[tokio::test]
async fn a_long_text_is_summarized_in_pieces() {
    let (server, bench) = bench().await;
    server.respond_with(|request| {
        let asked = request.last_user_text();
        let of_the_text = |word: &&str| word.trim_start_matches('w').parse::<u32>().is_ok();
        let words = asked.split_whitespace().filter(of_the_text).count();
        assert!(words <= 10, "a piece is within the limit");
        let message = if asked.contains("short") { "all of it" } else { "short" };
        Script::text(message)
    });
    let text: Vec<String> = (0..25).map(|n| format!("w{n}")).collect();
    let input = json!({
        "text": text.join(" "), "max_tokens": 10, "chunk_overlap": 2, "style": "bullet points", "focus": "numbers",
    });
    let outputs = bench.run("AITextSummarizerBlock", input).await.expect("a summary");
    assert_eq!(outputs[0], ("summary".to_owned(), json!("all of it")));
    assert_eq!(server.requests().len(), 4, "three pieces, then their summaries");
    assert!(server.requests()[0].last_user_text().contains("bullet points"));
}

#[tokio::test]
async fn a_rate_limited_call_is_retried_and_a_permanent_failure_is_not() {
    let (server, bench) = bench().await;
    let ask = || json!({ "prompt": "Hello?" });
    server.enqueue(Script::rate_limited("0"));
    server.enqueue(Script::text("Here I am."));
    let outputs = bench.run("AITextGeneratorBlock", ask()).await.expect("an answer");
    assert_eq!((outputs[0].1.clone(), server.requests().len()), (json!("Here I am."), 2));
    for (script, part) in
        [(Script::unauthorized(), "key"), (Script::context_too_long(), "too long for the model")]
    {
        let before = server.requests().len();
        server.enqueue(script);
        let message = bench.failure("AITextGeneratorBlock", ask()).await;
        assert!(message.contains(part), "{message}");
        assert_eq!(server.requests().len(), before + 1);
    }
    for _ in 0..3 {
        server.enqueue(Script::rate_limited("0"));
    }
    assert!(bench.failure("AITextGeneratorBlock", ask()).await.contains("rate-limiting"));
}

#[tokio::test]
async fn an_answer_is_cut_at_max_tokens() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text(&"word ".repeat(100)));
    let input = json!({ "prompt": "Talk.", "max_tokens": 5 });
    let outputs = bench.run("AITextGeneratorBlock", input).await.expect("an answer");
    assert_eq!(outputs[0].1.as_str().map(str::len), Some(20));
}

#[tokio::test]
async fn a_canceled_run_closes_the_connection() {
    let (server, bench) = bench().await;
    server.enqueue(Script::empty().say("Well,").hang());
    let context: BlockContext = bench.context();
    let cancel = context.cancel.clone();
    let run = bench.run_in(context, "AITextGeneratorBlock", json!({ "prompt": "Talk." }));
    let stop = async {
        server.wait_for_requests(1).await;
        cancel.cancel();
    };
    let both = async { tokio::join!(run, stop) };
    let (ended, ()) = tokio::time::timeout(Duration::from_secs(10), both).await.expect("it ends");
    assert_eq!(ended, Err(BlockError::Stopped));
    server.wait_for_connections(0).await;
}

#[tokio::test]
async fn blocks_that_need_a_model_fail_without_one() {
    let bench = Bench::new();
    let inputs: [(&str, Value); 4] = [
        (
            "AIStructuredResponseGeneratorBlock",
            json!({ "prompt": "a", "expected_format": { "b": "c" } }),
        ),
        ("AIListGeneratorBlock", json!({ "focus": "rivers" })),
        ("AIConditionBlock", json!({ "input_value": 1, "condition": "it is odd" })),
        ("AITextSummarizerBlock", json!({ "text": "A long story." })),
    ];
    for (name, input) in inputs {
        let message = bench.failure(name, input).await;
        assert!(message.contains("none is configured"), "{name}: {message}");
    }
    let outputs =
        bench.run("AITextGeneratorBlock", json!({ "prompt": "Hello" })).await.expect("words");
    assert!(outputs[0].1.as_str().is_some_and(|text| text.contains("offline pilot")));
}
