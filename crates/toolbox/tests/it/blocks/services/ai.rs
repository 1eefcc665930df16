//! Blocks that ask a model, against a model server that plays scripts.

use std::time::Duration;

use ports::block::{BlockContext, BlockError};
use serde_json::{Value, json};
use testkit::model_server::{Dialect, ModelServer, Script};

use super::{Bench, pins};
use crate::providers::{GENEROUS, rig};

async fn bench() -> (ModelServer, Bench) {
    let (server, model) = rig(Dialect::OpenAi, GENEROUS).await;
    (server, Bench::asking(model))
}

#[tokio::test]
async fn a_prompt_is_filled_and_answered_and_paid_for() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("Hello, Ada!"));
    let input = json!({
        "prompt": "Say hello to {{name}}.", "prompt_values": { "name": "Ada" }, "sys_prompt": "Be brief.",
        "model": "some-model-of-another-server", "retry": 3,
    });
    let context = bench.context();
    let meter = context.meter.clone();
    let given = bench.run_in(context, "AITextGeneratorBlock", input).await.expect("an answer");
    assert_eq!(
        pins(&given),
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
async fn a_conversation_goes_on() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("In Portugal."));
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": "Hello" },
    ]);
    let input = json!({ "messages": messages, "prompt": "Where is Lisbon?" });
    let given = bench.run("AIConversationBlock", input).await.expect("an answer");
    assert_eq!(given[0].1, "In Portugal.");
    assert_eq!(server.requests()[0].messages().len(), 4);
    assert_eq!(server.requests()[0].last_user_text(), "Where is Lisbon?");
    let nothing = json!({ "messages": [] });
    assert!(bench.failure("AIConversationBlock", nothing).await.contains("empty"));
}

#[tokio::test]
async fn an_answer_in_the_wrong_form_is_asked_for_again() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("Sure, a nice city!"));
    server.enqueue(Script::text(r#"{"city": "Lisbon"}"#));
    server.enqueue(Script::text(r#"Here: {"city": "Lisbon", "people": 550000}"#));
    let input = json!({
        "prompt": "Name a city.", "expected_format": { "city": "its name", "people": "how many live there" },
    });
    let given =
        bench.run("AIStructuredResponseGeneratorBlock", input.clone()).await.expect("an answer");
    assert_eq!(given[0].1, json!({ "city": "Lisbon", "people": 550000 }));
    assert!(server.requests()[2].last_user_text().contains("people"), "it is told what is missing");
    for _ in 0..3 {
        server.enqueue(Script::text("I would rather not."));
    }
    let said = bench.failure("AIStructuredResponseGeneratorBlock", input).await;
    assert!(said.contains("form"), "{said}");
    assert_eq!(server.requests().len(), 6, "it is not asked for ever");
}

#[tokio::test]
async fn a_list_comes_whole_and_item_by_item() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text("```json\n{\"list\": [\"Tagus\", \"Douro\"]}\n```"));
    let input = json!({ "focus": "rivers", "source_data": "The Tagus and the Douro." });
    let given = bench.run("AIListGeneratorBlock", input).await.expect("a list");
    let names: Vec<&str> = given.iter().map(|(pin, _)| pin.as_str()).collect();
    assert_eq!(names, ["generated_list", "prompt", "list_item", "list_item"]);
    assert_eq!((&given[0].1, &given[3].1), (&json!(["Tagus", "Douro"]), &json!("Douro")));
}

#[tokio::test]
async fn a_condition_sends_the_value_one_way_or_the_other() {
    let (server, bench) = bench().await;
    for (said, pins_given) in [
        ("true", json!([["result", true], ["yes_output", "a@b.example"]])),
        ("No.", json!([["result", false], ["no_output", "not a mail"]])),
    ] {
        server.enqueue(Script::text(said));
        let input = json!({
            "input_value": "a@b.example", "condition": "it is an e-mail address", "no_value": "not a mail",
        });
        let given = bench.run("AIConditionBlock", input).await.expect("a verdict");
        assert_eq!(pins(&given), pins_given);
    }
    server.enqueue(Script::text("Who knows?"));
    bench.failure("AIConditionBlock", json!({ "input_value": 1, "condition": "it is odd" })).await;
}

#[tokio::test]
async fn a_long_text_is_summed_up_piece_by_piece() {
    let (server, bench) = bench().await;
    server.respond_with(|request| {
        let asked = request.last_user_text();
        let of_the_text = |word: &&str| word.trim_start_matches('w').parse::<u32>().is_ok();
        let words = asked.split_whitespace().filter(of_the_text).count();
        assert!(words <= 10, "a piece is no longer than allowed");
        let said = if asked.contains("short") { "all of it" } else { "short" };
        Script::text(said)
    });
    let text: Vec<String> = (0..25).map(|n| format!("w{n}")).collect();
    let input = json!({
        "text": text.join(" "), "max_tokens": 10, "chunk_overlap": 2, "style": "bullet points", "focus": "numbers",
    });
    let given = bench.run("AITextSummarizerBlock", input).await.expect("a summary");
    assert_eq!(given[0], ("summary".to_owned(), json!("all of it")));
    assert_eq!(server.requests().len(), 4, "three pieces, then their summaries");
    assert!(server.requests()[0].last_user_text().contains("bullet points"));
}

#[tokio::test]
async fn a_busy_model_is_asked_again_and_one_that_refuses_is_not() {
    let (server, bench) = bench().await;
    let ask = || json!({ "prompt": "Hello?" });
    server.enqueue(Script::rate_limited("0"));
    server.enqueue(Script::text("Here I am."));
    let given = bench.run("AITextGeneratorBlock", ask()).await.expect("an answer");
    assert_eq!((given[0].1.clone(), server.requests().len()), (json!("Here I am."), 2));
    for (script, part) in [
        (Script::unauthorized(), "key"),
        (Script::context_too_long(), "longer than the model can read"),
    ] {
        let before = server.requests().len();
        server.enqueue(script);
        let said = bench.failure("AITextGeneratorBlock", ask()).await;
        assert!(said.contains(part), "{said}");
        assert_eq!(server.requests().len(), before + 1);
    }
    for _ in 0..3 {
        server.enqueue(Script::rate_limited("0"));
    }
    assert!(bench.failure("AITextGeneratorBlock", ask()).await.contains("too often"));
}

#[tokio::test]
async fn an_answer_is_cut_where_it_was_asked_to_be() {
    let (server, bench) = bench().await;
    server.enqueue(Script::text(&"word ".repeat(100)));
    let input = json!({ "prompt": "Talk.", "max_tokens": 5 });
    let given = bench.run("AITextGeneratorBlock", input).await.expect("an answer");
    assert_eq!(given[0].1.as_str().map(str::len), Some(20));
}

#[tokio::test]
async fn a_stopped_run_hangs_up() {
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
async fn without_a_model_blocks_that_need_one_say_so() {
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
        let said = bench.failure(name, input).await;
        assert!(said.contains("No model is configured"), "{name}: {said}");
    }
    let given =
        bench.run("AITextGeneratorBlock", json!({ "prompt": "Hello" })).await.expect("words");
    assert!(given[0].1.as_str().is_some_and(|text| text.contains("offline pilot")));
}
