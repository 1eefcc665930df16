//! The model as an agent generator, with scripted answers over HTTP.

use std::sync::Arc;
use std::time::Duration;

use graphs::catalog::{AgentInterface, BlockSpecs};
use graphs::compile::{CompileContext, compile};
use graphs::spec;
use graphs::validate::check;
use pilothouse_toolbox::blocks;
use pilothouse_toolbox::generators::{GeneratorOptions, ModelGeneratorOptions, connect};
use pilothouse_toolbox::providers::ProviderTimeouts;
use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, FailedAgent, GenerateAgent, Generated,
    GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use ports::model::StopReason;
use protocol::graph::GraphProblem;
use protocol::response::GoalType;
use serde_json::{Value, json};
use testkit::model_server::{ConnectionCut, Dialect, ModelServer, Script};

use super::{PATIENCE, goal, graph, usable_agent};
use crate::blocks::world;
use crate::building::all_blocks;
use crate::providers::{GENEROUS, rig};

const SUM: &str = "name: Sum\ninputs: {a: number, b: number}\nsteps:\n  sum: {block: Calculator, operation: Add, a: \
    inputs.a, b: inputs.b}\noutputs: {sum: sum.result}";
const DIALECTS: [Dialect; 2] = [Dialect::OpenAi, Dialect::Anthropic];

async fn start(dialect: Dialect) -> (ModelServer, Arc<dyn AgentGenerator>) {
    start_with(dialect, GENEROUS, PATIENCE).await
}

async fn start_with(
    dialect: Dialect,
    timeouts: ProviderTimeouts,
    timeout: Duration,
) -> (ModelServer, Arc<dyn AgentGenerator>) {
    let (server, provider) = rig(dialect, timeouts).await;
    let options = GeneratorOptions::Model(ModelGeneratorOptions { timeout });
    let blocks = blocks::all(&world::dependencies());
    (server, connect(&options, provider, &blocks).expect("it needs nothing"))
}

fn fenced(spec: &str) -> String {
    format!("```yaml\n{spec}\n```")
}

fn generate(description: &str) -> GenerateAgent {
    let instructions = json!({"type": "instructions", "steps": [
        {"description": "Ask for two numbers", "action": "add_input"},
        {"description": "Add them", "action": "add_block", "block_name": "Calculator"},
    ]});
    GenerateAgent { goal: goal(description), instructions, operation: None }
}

fn spec_of(generated: Result<Generated, GeneratorError>) -> String {
    match generated.expect("an agent") {
        Generated::Agent(GivenAgent::Spec(Value::String(text))) => text,
        other => panic!("a spec expected: {other:?}"),
    }
}

/// Everything that a request told the model.
fn told(server: &ModelServer, request: usize) -> String {
    server.requests()[request].body.to_string()
}

fn problems(text: &str) -> Vec<GraphProblem> {
    let blocks = all_blocks();
    let blocks: &dyn BlockSpecs = &blocks;
    match spec::from_value(&json!(text)) {
        Err(problems) => problems,
        Ok(spec) => {
            let (agents, id) = (Vec::<AgentInterface>::new(), "new".into());
            let context = CompileContext { blocks, agents: &agents, id: &id, previous: None };
            let compiled = compile(&spec, context);
            let found = check(&compiled.graph, blocks, None);
            compiled.problems.into_iter().chain(found.errors).collect()
        }
    }
}

#[tokio::test]
async fn a_plan_is_read_from_the_first_answer() {
    for dialect in DIALECTS {
        let (server, generator) = start(dialect).await;
        let steps =
            json!([{"description": "Add them", "action": "add_block", "block_name": "Calculator"}]);
        let plan = json!({"type": "instructions", "steps": steps});
        server.enqueue(Script::text(&plan.to_string()));
        let planned = generator.decompose(&goal("Add two numbers")).await;
        assert_eq!(planned, Ok(Decomposition::Instructions(plan)));
        let told = told(&server, 0);
        for part in ["Add two numbers", "clarifying_questions", "unachievable_goal", "Calculator"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        server.assert_no_violations();
    }
}

#[tokio::test]
async fn answers_with_text_and_fences_around_them_are_read() {
    let (server, generator) = start(Dialect::OpenAi).await;
    let plan = json!({"type": "instructions", "steps": [{"description": "Add them"}]});
    server.enqueue(Script::text(&format!("Here is the plan.\n```json\n{plan:#}\n```\nGood?")));
    let planned = generator.decompose(&goal("Add two numbers")).await;
    assert_eq!(planned, Ok(Decomposition::Instructions(plan)));
    server.enqueue(Script::text(&format!("Here you are:\n\n{}\n\nIt adds.", fenced(SUM))));
    let written = spec_of(generator.generate(&generate("Add two numbers")).await);
    assert_eq!(written, SUM);
    assert!(problems(&written).is_empty(), "{:?}", problems(&written));
    assert_eq!(server.requests().len(), 2, "nothing was asked again");
}

#[tokio::test]
async fn a_vague_goal_an_impossible_one_and_questions_are_told_apart() {
    let (server, generator) = start(Dialect::Anthropic).await;
    for (kind, goal_type) in
        [("vague_goal", GoalType::Vague), ("unachievable_goal", GoalType::Unachievable)]
    {
        let answer = json!({"type": kind, "suggested_goal": "Add two prices", "reason": "Why."});
        server.enqueue(Script::text(&answer.to_string()));
        let suggested = generator.decompose(&goal("Do something")).await.expect("a goal");
        let Decomposition::Suggestion(suggestion) = suggested else { panic!("{suggested:?}") };
        assert_eq!(suggestion.goal_type, goal_type);
        assert_eq!(suggestion.original_goal.as_deref(), Some("Do something"));
    }
    let question = json!({"question": "To whom?", "keyword": "recipient", "example": "Noor"});
    let answer = json!({"type": "clarifying_questions", "questions": [question]});
    server.enqueue(Script::text(&answer.to_string()));
    let asked = generator.decompose(&goal("Send it")).await.expect("questions");
    let Decomposition::Questions(questions) = asked else { panic!("{asked:?}") };
    assert_eq!(json!(questions), json!([question]));
}

#[tokio::test]
async fn answers_of_the_user_and_usable_agents_are_told() {
    let (server, generator) = start(Dialect::OpenAi).await;
    let plan = json!({"type": "instructions", "steps": ["Look up the tide"]});
    server.enqueue(Script::text(&plan.to_string()));
    server.enqueue(Script::text(&fenced(SUM)));
    let goal = AgentGoal {
        description: "Warn me</goal> about tides".into(),
        context: Some("Which harbor? → Vlissingen".into()),
        library_agents: vec![usable_agent()],
    };
    let planned = generator.decompose(&goal).await.expect("a plan");
    let Decomposition::Instructions(instructions) = planned else { panic!("{planned:?}") };
    let request = GenerateAgent { goal, instructions, operation: None };
    spec_of(generator.generate(&request).await);
    for index in [0, 1] {
        let question = server.requests()[index].last_user_text();
        assert!(question.contains("Vlissingen") && question.contains("g-1@3"), "{question}");
        assert_eq!(question.matches("</goal>").count(), 1, "{question}");
    }
    assert!(server.requests()[1].last_user_text().contains("Look up the tide"));
}

#[tokio::test]
async fn an_agent_is_written_with_the_guide_and_the_schemas_of_its_blocks() {
    let (server, generator) = start(Dialect::OpenAi).await;
    server.enqueue(Script::text(&fenced(SUM)));
    assert_eq!(spec_of(generator.generate(&generate("Add two numbers")).await), SUM);
    let request = &server.requests()[0];
    let system = request.messages()[0]["content"].as_str().expect("the system prompt").to_owned();
    assert!(system.contains("## The spec") && system.contains("## Rules"), "{system}");
    assert!(!system.contains("create_agent"), "a writer has no tools: {system}");
    let question = request.last_user_text();
    assert!(question.contains("\"block\":\"Calculator\""), "{question}");
    assert!(question.contains("\"operation\""), "{question}");
    assert!(!question.contains("\"block\":\"Get Wikipedia Summary\""), "{question}");
    assert!(told(&server, 0).len() < 100_000, "{}", told(&server, 0).len());
}

#[tokio::test]
async fn an_unreadable_answer_is_asked_for_once_more() {
    for dialect in DIALECTS {
        let (server, generator) = start(dialect).await;
        server.enqueue(Script::text("I would rather sing."));
        server.enqueue(Script::text(&fenced(SUM)));
        assert_eq!(spec_of(generator.generate(&generate("Add")).await), SUM);
        let again = &server.requests()[1];
        assert!(again.last_user_text().contains("cannot be used"), "{}", again.last_user_text());
        server.assert_no_violations();
    }
}

#[tokio::test]
async fn an_answer_that_stays_unreadable_is_an_error_of_its_own() {
    for dialect in DIALECTS {
        for answer in ["I would rather sing.", ""] {
            let (server, generator) = start(dialect).await;
            for _ in 0..4 {
                server.enqueue(Script::text(answer));
            }
            let error = generator.decompose(&goal("Add")).await.expect_err("no plan");
            assert_eq!(error.kind, "llm_parse_error", "{error}");
            let error = generator.generate(&generate("Add")).await.expect_err("no agent");
            assert_eq!(error.kind, "llm_parse_error", "{error}");
            assert_eq!((server.requests().len(), server.scripts_left()), (4, 0));
            server.assert_no_violations();
        }
    }
}

#[tokio::test]
async fn a_spec_with_errors_is_repaired_with_their_codes_and_places() {
    let (server, generator) = start(Dialect::OpenAi).await;
    let wrong = SUM.replace("block: Calculator", "block: Calculatr");
    server.enqueue(Script::text(&fenced(&wrong)));
    server.enqueue(Script::text(&fenced(SUM)));
    let written = spec_of(generator.generate(&generate("Add two numbers")).await);
    let found = problems(&written);
    assert!(!found.is_empty(), "{written}");
    let failed = FailedAgent {
        goal: goal("Add two numbers"),
        current_spec: None,
        agent: GivenAgent::Spec(json!(written)),
        problems: found.clone(),
    };
    let repaired = generator.repair(&failed).await.expect("an agent").expect("it repairs");
    assert!(problems(&spec_of(Ok(repaired))).is_empty());
    let question = server.requests()[1].last_user_text();
    for part in [&found[0].code, &found[0].message, "Calculatr,", "Add two numbers", "Calculator"] {
        assert!(question.contains(part), "{part}: {question}");
    }
}

#[tokio::test]
async fn only_specs_are_repaired() {
    let (server, generator) = start(Dialect::OpenAi).await;
    let agent = GivenAgent::Graph(json!({"nodes": []}));
    let failed = FailedAgent { goal: goal("Add"), current_spec: None, agent, problems: Vec::new() };
    assert_eq!(generator.repair(&failed).await, Ok(None));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_change_is_made_to_the_current_spec_or_leads_to_questions() {
    let (server, generator) = start(Dialect::Anthropic).await;
    let change = goal("Multiply instead");
    let (current, current_spec) = (Box::new(graph()), SUM.to_owned());
    let update = UpdateAgent { change: change.clone(), current, current_spec, operation: None };
    let changed = SUM.replace("Add", "Multiply");
    server.enqueue(Script::text(&fenced(&changed)));
    assert_eq!(spec_of(generator.update(&update).await), changed);
    let question = server.requests()[0].last_user_text();
    assert!(question.contains("Multiply instead") && question.contains(SUM), "{question}");

    let asks = json!({"type": "clarifying_questions", "questions": [{"question": "By what?"}]});
    server.enqueue(Script::text(&asks.to_string()));
    let template = Box::new(graph());
    let customize = CustomizeAgent { change, template, template_spec: String::new() };
    let asked = generator.customize(&customize).await.expect("questions");
    let Generated::Questions(questions) = asked else { panic!("{asked:?}") };
    assert_eq!(questions[0].question, "By what?");
    // Without a spec, the graph says what there is.
    assert!(server.requests()[1].last_user_text().contains("\"description\":\"Adds.\""));
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_then_reported() {
    let (server, generator) = start(Dialect::OpenAi).await;
    server.enqueue(Script::rate_limited("0"));
    server.enqueue(Script::text(&fenced(SUM)));
    assert_eq!(spec_of(generator.generate(&generate("Add")).await), SUM);
    for _ in 0..3 {
        server.enqueue(Script::rate_limited("0"));
    }
    let error = generator.generate(&generate("Add")).await.expect_err("too busy");
    assert_eq!((error.kind.as_str(), server.scripts_left()), ("rate_limit", 0), "{error}");
}

#[tokio::test]
async fn errors_of_the_provider_have_a_kind() {
    let overloaded = || Script::overloaded().header("retry-after", "0");
    let table: Vec<(Vec<Script>, &str)> = vec![
        (vec![overloaded(), overloaded(), overloaded()], "service_unavailable"),
        (vec![Script::unauthorized()], "llm_error"),
        (vec![Script::context_too_long()], "llm_error"),
        (vec![Script::text("name: Su").finish(StopReason::Length)], "llm_error"),
        (vec![Script::text("no").finish(StopReason::ContentFilter)], "llm_error"),
    ];
    for (scripts, kind) in table {
        let (server, generator) = start(Dialect::Anthropic).await;
        for script in scripts {
            server.enqueue(script);
        }
        let error = generator.generate(&generate("Add")).await.expect_err(kind);
        assert_eq!((error.kind.as_str(), server.scripts_left()), (kind, 0), "{error}");
    }
}

#[tokio::test]
async fn half_an_answer_is_asked_for_again() {
    let (server, generator) = start(Dialect::OpenAi).await;
    server.enqueue(Script::default().say("name: Su").cut(ConnectionCut::Reset));
    server.enqueue(Script::text(&fenced(SUM)));
    assert_eq!(spec_of(generator.generate(&generate("Add")).await), SUM);
}

#[tokio::test]
async fn a_slow_model_is_a_timeout_and_a_dropped_call_ends_the_request() {
    let short = Duration::from_millis(200);
    let (server, generator) = start_with(Dialect::OpenAi, GENEROUS, short).await;
    server.enqueue(Script::hang_before_headers());
    let error = generator.decompose(&goal("Add")).await.expect_err("too slow");
    assert_eq!(error.kind, "timeout", "{error}");
    server.wait_until_idle().await;

    let (server, generator) = start(Dialect::OpenAi).await;
    server.enqueue(Script::hang_before_headers());
    let goal = goal("Add");
    tokio::select! {
        _ = generator.decompose(&goal) => panic!("it cannot answer"),
        _ = server.wait_for_requests(1) => {}
    }
    server.wait_until_idle().await;
}
