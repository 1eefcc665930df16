//! The client of an agent generator service.

use std::time::Duration;

use pilothouse_toolbox::generators::{GeneratorOptions, ServiceProbe, connect, probe_service};
use pilothouse_toolbox::providers::{self, CONTEXT_TOKENS, ProviderOptions};
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, FailedAgent, GenerateAgent, Generated,
    GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use ports::tool::OperationHandle;
use protocol::response::GoalType;
use serde_json::{Value, json};

use super::scripted_service::{ScriptedService, ServiceReply, generator, options};
use super::{PATIENCE, goal, graph, usable_agent};

/// What the service gets and gives back.
fn agent_json() -> Value {
    json!({"name": "Sum", "nodes": [], "links": []})
}

fn succeeds() -> ServiceReply {
    ServiceReply::Json(200, json!({"success": true, "agent_json": agent_json()}))
}

fn operation() -> OperationHandle {
    OperationHandle { operation_id: "op-1".into(), task_id: "task-1".into() }
}

fn asked_goal() -> AgentGoal {
    AgentGoal {
        description: "Add two numbers".into(),
        context: Some("Which? → prices".into()),
        library_agents: vec![usable_agent()],
    }
}

fn generate(operation: Option<OperationHandle>) -> GenerateAgent {
    let instructions = json!({"type": "instructions", "steps": [{"description": "Add"}]});
    GenerateAgent { goal: asked_goal(), instructions, operation }
}

fn update(operation: Option<OperationHandle>) -> UpdateAgent {
    let current = Box::new(graph());
    UpdateAgent { change: asked_goal(), current, current_spec: String::new(), operation }
}

fn customize() -> CustomizeAgent {
    CustomizeAgent {
        change: asked_goal(),
        template: Box::new(graph()),
        template_spec: String::new(),
    }
}

/// What the service answers to a request for a plan.
async fn decomposed(reply: ServiceReply) -> Result<Decomposition, GeneratorError> {
    let service = ScriptedService::start(vec![reply]).await;
    service.generator().decompose(&goal("Add two numbers")).await
}

/// What the service answers to a request for an agent.
async fn generated(reply: ServiceReply) -> Result<Generated, GeneratorError> {
    let service = ScriptedService::start(vec![reply]).await;
    service.generator().generate(&generate(Some(operation()))).await
}

#[tokio::test]
async fn each_request_has_the_path_and_the_fields_of_the_contract() {
    let plan = json!({"success": true, "type": "instructions", "steps": [{"description": "Add"}]});
    let replies = vec![ServiceReply::Json(200, plan), succeeds(), succeeds(), succeeds()];
    let service = ScriptedService::start(replies).await;
    let generator = service.generator();
    let planned = generator.decompose(&asked_goal()).await.expect("a plan");
    let Decomposition::Instructions(instructions) = planned else { panic!("{planned:?}") };
    let with_plan = GenerateAgent { instructions, ..generate(Some(operation())) };
    let expected = Generated::Agent(GivenAgent::Graph(agent_json()));
    assert_eq!(generator.generate(&with_plan).await, Ok(expected.clone()));
    assert_eq!(generator.update(&update(Some(operation()))).await, Ok(expected.clone()));
    assert_eq!(generator.customize(&customize()).await, Ok(expected));

    let description = "Add two numbers\n\nAdditional context from user:\nWhich? → prices";
    let library_agents = json!([{
        "graph_id": "g-1",
        "graph_version": 3,
        "name": "Tides",
        "description": "Looks up tides.",
        "input_schema": {"properties": {"harbor": {"type": "string"}}},
        "output_schema": {"properties": {"height": {"type": "number"}}},
    }]);
    let current = serde_json::to_value(graph()).expect("JSON");
    let expected = [
        (
            "POST /api/decompose-description",
            json!({"description": description, "library_agents": library_agents}),
        ),
        (
            "POST /api/generate-agent",
            json!({
                "instructions": {"type": "instructions", "steps": [{"description": "Add"}]},
                "library_agents": library_agents, "operation_id": "op-1", "task_id": "task-1",
            }),
        ),
        (
            "POST /api/update-agent",
            json!({
                "update_request": description, "current_agent_json": current,
                "library_agents": library_agents, "operation_id": "op-1", "task_id": "task-1",
            }),
        ),
        (
            "POST /api/template-modification",
            json!({"template_agent_json": current, "modification_request": description}),
        ),
    ];
    let sent = service.requests();
    assert_eq!(sent.len(), expected.len());
    for ((path, body), (expected_path, expected_body)) in sent.iter().zip(&expected) {
        assert_eq!((path.as_str(), body), (*expected_path, expected_body));
    }
}

#[tokio::test]
async fn optional_fields_are_left_out_when_there_is_nothing_to_say() {
    let replies = vec![succeeds()];
    let service = ScriptedService::start(replies).await;
    let plain = GenerateAgent { goal: goal("Add"), instructions: json!({}), operation: None };
    service.generator().generate(&plain).await.expect("an agent");
    assert_eq!(service.requests()[0].1, json!({"instructions": {}}));
}

#[tokio::test]
async fn a_goal_leads_to_a_plan_to_questions_or_to_another_goal() {
    let step = json!({"description": "Add", "action": "add_block", "block_name": "Calculator",
        "tool": null, "name": null});
    let answer = json!({"success": true, "type": "instructions", "steps": [step]});
    let planned = decomposed(ServiceReply::Json(200, answer)).await.expect("a plan");
    let expected = json!({"type": "instructions", "steps": [step]});
    assert_eq!(planned, Decomposition::Instructions(expected));

    let answer = json!({"success": true, "type": "clarifying_questions", "questions": [
        {"question": "Which?", "keyword": "which", "example": "prices"}]});
    let asked = decomposed(ServiceReply::Json(200, answer)).await.expect("questions");
    let Decomposition::Questions(questions) = asked else { panic!("{asked:?}") };
    assert_eq!((questions.len(), questions[0].keyword.as_str()), (1, "which"));

    for (kind, goal_type) in
        [("vague_goal", GoalType::Vague), ("unachievable_goal", GoalType::Unachievable)]
    {
        let answer = json!({"success": true, "type": kind, "suggested_goal": "Add prices",
            "reason": "Numbers of what?"});
        let suggested = decomposed(ServiceReply::Json(200, answer)).await.expect("a goal");
        let Decomposition::Suggestion(suggestion) = suggested else { panic!("{suggested:?}") };
        assert_eq!(suggestion.goal_type, goal_type);
        assert_eq!(suggestion.suggested_goal, "Add prices");
        assert_eq!(suggestion.original_goal.as_deref(), Some("Add two numbers"));
    }
}

#[tokio::test]
async fn a_change_may_lead_to_questions() {
    let answer = json!({"success": true, "type": "clarifying_questions", "questions": ["Which?"]});
    let service = ScriptedService::start(vec![ServiceReply::Json(200, answer)]).await;
    let asked = service.generator().update(&update(None)).await.expect("questions");
    let Generated::Questions(questions) = asked else { panic!("{asked:?}") };
    assert_eq!(questions[0].question, "Which?");
}

#[tokio::test]
async fn work_is_accepted_only_where_its_result_can_come_later() {
    let accepts = || ServiceReply::Json(202, json!({"status": "accepted"}));
    assert_eq!(generated(accepts()).await, Ok(Generated::Accepted));
    let replies = vec![accepts(), accepts(), accepts(), accepts()];
    let service = ScriptedService::start(replies).await;
    let generator = service.generator();
    assert_eq!(generator.update(&update(Some(operation()))).await, Ok(Generated::Accepted));
    let outside = [
        generator.generate(&generate(None)).await.expect_err("no operation"),
        generator.customize(&customize()).await.expect_err("never accepted"),
        generator.decompose(&goal("Add")).await.expect_err("a plan is needed now"),
    ];
    for error in outside {
        assert_eq!(error.kind, "invalid_response", "{error}");
        assert!(error.message.contains("202"), "{error}");
    }
}

#[tokio::test]
async fn a_failure_that_the_service_reports_keeps_its_type_and_its_reason() {
    let failed = json!({"success": false, "error": "The model broke.", "error_type": "llm_error"});
    let table = [
        (failed.clone(), "llm_error", "The model broke."),
        (
            json!({"success": true, "type": "error", "error": "No.", "error_type": "patch_error"}),
            "patch_error",
            "No.",
        ),
        (json!({"success": false}), "unknown", "without giving a reason"),
        (json!({"error": "Broken."}), "unknown", "Broken."),
    ];
    for (answer, kind, says) in table {
        for error in [
            decomposed(ServiceReply::Json(200, answer.clone())).await.expect_err("failed"),
            generated(ServiceReply::Json(200, answer.clone())).await.expect_err("failed"),
        ] {
            assert_eq!(error.kind, kind, "{answer}");
            assert!(error.message.contains(says), "{answer}: {error}");
        }
    }
}

#[tokio::test]
async fn an_error_status_has_a_kind_and_the_start_of_the_reason() {
    for (status, kind) in [
        (429, "rate_limit"),
        (503, "service_unavailable"),
        (504, "timeout"),
        (408, "timeout"),
        (500, "http_error"),
        (401, "http_error"),
        (404, "http_error"),
        (307, "http_error"),
    ] {
        let reply = ServiceReply::Text(status, "so sorry ".repeat(10_000));
        let service = ScriptedService::start(vec![reply]).await;
        let error = service.generator().decompose(&goal("Add")).await.expect_err("refused");
        assert_eq!(error.kind, kind, "{status}");
        let message = &error.message;
        assert!(message.contains(&format!("status {status}: so sorry")), "{message}");
        assert!(message.chars().count() < 600, "{message}");
        assert_eq!(service.requests().len(), 1, "nothing was followed or repeated");
    }
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_an_invalid_response() {
    for answer in [
        json!([1]),
        json!({"success": true}),
        json!({"success": true, "type": "song"}),
        json!({"success": true, "type": "instructions"}),
        json!({"success": true, "type": "clarifying_questions", "questions": []}),
        json!({"success": true, "type": "unachievable_goal", "reason": "No ships."}),
    ] {
        let error = decomposed(ServiceReply::Json(200, answer.clone())).await.expect_err("no plan");
        assert_eq!(error.kind, "invalid_response", "{answer}: {error}");
    }
    for answer in [
        json!(null),
        json!({"success": true}),
        json!({"success": true, "agent_json": "{}"}),
        json!({"success": true, "type": "instructions", "steps": []}),
    ] {
        let error = generated(ServiceReply::Json(200, answer.clone())).await.expect_err("no agent");
        assert_eq!(error.kind, "invalid_response", "{answer}: {error}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_unexpected_error() {
    let nested = "[".repeat(100_000);
    for (reply, says) in [
        (ServiceReply::Text(200, "<html>".into()), "no JSON"),
        (ServiceReply::Text(200, String::new()), "no JSON"),
        (ServiceReply::Text(200, nested), "no JSON"),
        (ServiceReply::Flood, "more than"),
    ] {
        let error = generated(reply).await.expect_err("unreadable");
        assert_eq!(error.kind, "unexpected_error", "{error}");
        assert!(error.message.contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_fails_has_a_kind() {
    let error = generated(ServiceReply::CutOff).await.expect_err("cut off");
    assert_eq!(error.kind, "request_error", "{error}");
    let port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let away = generator(&format!("http://127.0.0.1:{port}"), PATIENCE);
    let error = away.decompose(&goal("Add")).await.expect_err("nobody listens");
    assert_eq!(error.kind, "connection_error", "{error}");
    assert!(!error.message.contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn a_slow_service_is_a_timeout_and_its_connection_is_closed() {
    let mut service = ScriptedService::start(vec![ServiceReply::Never]).await;
    let impatient = generator(&service.url, Duration::from_millis(200));
    let error = impatient.decompose(&goal("Add")).await.expect_err("too slow");
    assert_eq!(error.kind, "timeout", "{error}");
    assert_eq!((service.hears().await, service.hears().await), ("began", "ended"));
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let mut service = ScriptedService::start(vec![ServiceReply::Never]).await;
    let generator = service.generator();
    let goal = goal("Add");
    tokio::select! {
        _ = generator.decompose(&goal) => panic!("it cannot answer"),
        began = service.hears() => assert_eq!(began, "began"),
    }
    assert_eq!(service.hears().await, "ended");
}

#[tokio::test]
async fn a_service_does_not_repair_agents() {
    let service = ScriptedService::start(Vec::new()).await;
    let agent = GivenAgent::Graph(agent_json());
    let failed = FailedAgent { goal: goal("Add"), current_spec: None, agent, problems: Vec::new() };
    assert_eq!(service.generator().repair(&failed).await, Ok(None));
    assert!(service.requests().is_empty());
}

#[tokio::test]
async fn a_probe_tells_a_healthy_service_from_others() {
    let healthy = |loaded: Value| {
        ServiceReply::Json(200, json!({"status": "healthy", "blocks_loaded": loaded}))
    };
    let blocks = json!({"success": true, "blocks": [{"id": "1"}, {"id": "2"}]});
    let with_blocks = vec![healthy(json!(true)), ServiceReply::Json(200, blocks)];
    let service = ScriptedService::start(with_blocks).await;
    let probe = probe_service(&options(&service.url, PATIENCE)).await;
    assert_eq!(probe, ServiceProbe::Healthy { blocks: Some(2) });
    let paths: Vec<String> = service.requests().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["GET /health", "GET /api/blocks"]);

    let no_list = ServiceReply::Text(404, String::new());
    let service = ScriptedService::start(vec![healthy(json!(554)), no_list]).await;
    let probe = probe_service(&options(&service.url, PATIENCE)).await;
    assert_eq!(probe, ServiceProbe::Healthy { blocks: None });

    for (reply, says) in [
        (healthy(json!(false)), "not loaded"),
        (healthy(json!(null)), "not loaded"),
        (healthy(json!(0)), "not loaded"),
        (ServiceReply::Json(200, json!({"status": "starting"})), "starting"),
        (ServiceReply::Json(200, json!({})), "unknown"),
    ] {
        let service = ScriptedService::start(vec![reply]).await;
        let probe = probe_service(&options(&service.url, PATIENCE)).await;
        let ServiceProbe::Unhealthy(reason) = probe else { panic!("{says}: {probe:?}") };
        assert!(reason.contains(says), "{reason}");
    }
    for reply in [ServiceReply::Text(500, "oh".into()), ServiceReply::Text(200, "oh".into())] {
        let service = ScriptedService::start(vec![reply]).await;
        let probe = probe_service(&options(&service.url, PATIENCE)).await;
        assert!(matches!(probe, ServiceProbe::Failed(_)), "{probe:?}");
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_the_start() {
    let offline = ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS };
    for address in ["ftp://generator", "nonsense", "http://me:word@generator"] {
        let provider = providers::connect(&offline).expect("the offline pilot");
        let options = GeneratorOptions::Service(options(address, PATIENCE));
        assert!(connect(&options, provider, &[]).is_err(), "{address}");
    }
}
