//! Agents made from words, with a scripted generator: the order of the work, and the answer of every branch.

use ports::agent_generator::{AgentGoal, Decomposition, Generated, GeneratorError};
use ports::call_services::{AgentBuilt, BuildAgent, BuildTarget};
use ports::tool::{OperationHandle, ToolContext};
use protocol::graph::{Graph, GraphProblem};
use protocol::rehearsal::AgentState;
use protocol::response::{AgentSaved, BuiltAgent, GoalType, SuggestedGoal, UserQuestion};
use serde_json::{Value, json};

use super::scripted_generator::{Asked, spec};
use super::{AgentTools, FakeServices, message_of};

/// The three tools with their words.
pub(crate) fn calls() -> [(&'static str, Value); 3] {
    [
        ("create_agent", json!({"description": "Count words"})),
        ("edit_agent", json!({"agent_id": "own", "changes": "Count lines"})),
        ("customize_agent", json!({"agent_id": "helm/letters", "modifications": "Shorter"})),
    ]
}

fn own_agent() -> Graph {
    Graph { id: "own".into(), version: 3, name: "Counter".into(), ..Graph::default() }
}

pub(crate) fn tools() -> AgentTools {
    let fake = FakeServices { guide_was_read: true, own: vec![own_agent()], ..Default::default() };
    AgentTools::with_agents_in(fake)
}

fn operation() -> OperationHandle {
    OperationHandle { operation_id: "operation".into(), task_id: "task".into() }
}

pub(crate) fn in_operation(tools: &AgentTools) -> ToolContext {
    ToolContext { operation: Some(operation()), ..tools.context() }
}

fn saved() -> AgentBuilt {
    AgentBuilt::Saved(Box::new(AgentSaved {
        agent_id: "graph".into(),
        graph_version: 1,
        library_agent_id: "entry".into(),
        library_agent_link: "/library/agents/entry".into(),
        agent_page_link: "/build?flowID=graph".into(),
        summary: BuiltAgent {
            agent_name: "Made".into(),
            description: "Counts.".into(),
            node_count: 2,
            link_count: 1,
            state: AgentState::Verified,
            warnings: Vec::new(),
            diff: None,
        },
    }))
}

fn invalid(codes: &[&str]) -> AgentBuilt {
    let problem = |code: &&str| GraphProblem {
        code: (*code).to_owned(),
        path: Some("steps.a".to_owned()),
        message: "Wrong.".to_owned(),
        ..GraphProblem::default()
    };
    AgentBuilt::Invalid(codes.iter().map(problem).collect())
}

impl AgentTools {
    pub(crate) fn will_build(&self, built: impl IntoIterator<Item = AgentBuilt>) {
        self.fake.next_built.lock().expect("not poisoned").extend(built);
    }

    pub(crate) fn builds(&self) -> Vec<BuildAgent> {
        std::mem::take(&mut *self.fake.builds.lock().expect("not poisoned"))
    }

    /// The stages that were shown, each with its round.
    fn stages(&self) -> Vec<(String, Value)> {
        let shown = std::mem::take(&mut *self.fake.shown.lock().expect("not poisoned"));
        let stage = |shown: &Value| {
            assert_eq!(shown["type"], "agent_progress");
            (shown["stage"].as_str().expect("a stage").to_owned(), shown["round"].clone())
        };
        shown.iter().map(stage).collect()
    }
}

#[tokio::test]
async fn an_agent_is_planned_made_built_and_saved() {
    let tools = tools();
    tools.generator.plans(Ok(Decomposition::Instructions(json!({"steps": [
        {"description": "Count the words of a text"}, {"description": "Show the number"},
    ]}))));
    tools.will_build([saved()]);
    let arguments = json!({
        "description": "Count words", "context": "In English", "folder_id": "letters",
        "library_agent_ids": ["graph-mine", "mine", "nobody"],
    });
    let response = tools.call_in(in_operation(&tools), "create_agent", arguments).await;
    assert_eq!(
        (&response["type"], &response["agent_id"]),
        (&json!("agent_saved"), &json!("graph"))
    );
    let stages: Vec<String> = tools.stages().into_iter().map(|(stage, _)| stage).collect();
    assert_eq!(stages, ["understanding", "planning", "writing"]);
    let asked = tools.generator.asked();
    let [Asked::Decompose(goal), Asked::Generate(request)] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (goal.description.as_str(), goal.context.as_deref()),
        ("Count words", Some("In English"))
    );
    let usable: Vec<&str> = goal.library_agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(usable, ["Word counter"], "by either id, once; unknown ones are skipped");
    assert_eq!(goal.library_agents[0].input_schema["required"], json!(["text"]));
    assert_eq!(request.operation, Some(operation()));
    assert_eq!(request.instructions["steps"][1]["description"], "Show the number");
    let build = BuildAgent {
        agent: spec("Made"),
        target: BuildTarget::NewAgent { folder: Some("letters".into()), template: None },
        save: true,
    };
    assert_eq!(tools.builds(), [build]);
}

#[tokio::test]
async fn library_agents_that_fit_the_first_steps_are_given_to_the_generator() {
    let tools = tools();
    let plan = |at: usize| {
        let mut steps = vec![json!({"description": "Nothing that fits"}); 4];
        steps[at] = json!({"description": "Run the word counter"});
        Ok(Decomposition::Instructions(json!({"steps": steps})))
    };
    for (at, expected) in [(0, 1), (2, 1), (3, 0)] {
        tools.generator.plans(plan(at));
        tools.call_in(in_operation(&tools), "create_agent", json!({"description": "x"})).await;
        let asked = tools.generator.asked();
        let Asked::Generate(request) = &asked[1] else { panic!("{asked:?}") };
        assert_eq!(request.goal.library_agents.len(), expected, "step {at}");
    }
}

#[tokio::test]
async fn a_change_is_made_on_the_newest_version_and_a_template_becomes_an_own_agent() {
    let tools = tools();
    let [_, (edit, edits), (customize, modifications)] = calls();
    tools.will_build([saved(), saved()]);
    for (name, arguments) in [(edit, edits), (customize, modifications)] {
        let response = tools.call_in(in_operation(&tools), name, arguments).await;
        assert_eq!(response["type"], "agent_saved", "{response}");
    }
    let asked = tools.generator.asked();
    let [Asked::Update(update), Asked::Customize(customized)] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!((&*update.current, update.current_spec.as_str()), (&own_agent(), "name: Counter"));
    assert_eq!(
        (update.operation.clone(), update.change.description.as_str()),
        (Some(operation()), "Count lines")
    );
    assert_eq!(customized.template.id.as_str(), "graph-letters");
    let targets: Vec<BuildTarget> = tools.builds().into_iter().map(|build| build.target).collect();
    assert_eq!(
        targets,
        [
            BuildTarget::NewVersion { of: "own".into(), base_version: Some(3) },
            BuildTarget::NewAgent { folder: None, template: Some(("graph-letters".into(), 2)) },
        ]
    );
}

#[tokio::test]
async fn questions_and_suggestions_are_answers() {
    let questions =
        vec![UserQuestion { question: "Which?".into(), keyword: "which".into(), example: None }];
    let suggestion = SuggestedGoal {
        suggested_goal: "Count the words of a text".into(),
        reason: "It does not say what to count.".into(),
        original_goal: None,
        goal_type: GoalType::Vague,
    };
    let tools = tools();
    let check = |response: Value, goal: &str| match response["type"].as_str() {
        Some("clarification_needed") => assert_eq!(response["questions"][0]["keyword"], "which"),
        Some("suggested_goal") => {
            assert_eq!(
                (&response["goal_type"], &response["original_goal"]),
                (&json!("vague"), &json!(goal))
            );
        }
        _ => panic!("{response}"),
    };
    for plan in
        [Decomposition::Questions(questions.clone()), Decomposition::Suggestion(suggestion.clone())]
    {
        tools.generator.plans(Ok(plan));
        let response = tools.call("create_agent", json!({"description": "Count"})).await;
        check(response, "Count");
    }
    assert_eq!(tools.generator.asked().len(), 2, "nothing is generated");
    tools.generator.plans(Ok(Decomposition::Instructions(json!({}))));
    for made in [Generated::Questions(questions), Generated::Suggestion(suggestion)] {
        tools.generator.makes(Ok(made));
        for ((name, arguments), goal) in
            calls().into_iter().zip(["Count words", "Count lines", "Shorter"])
        {
            check(tools.call(name, arguments).await, goal);
        }
    }
    assert!(tools.builds().is_empty());
}

#[tokio::test]
async fn work_that_a_service_accepted_is_completed_later() {
    let tools = tools();
    tools.generator.makes(Ok(Generated::Accepted));
    for (name, arguments) in calls() {
        let response = tools.call_in(in_operation(&tools), name, arguments.clone()).await;
        if name == "customize_agent" {
            assert_eq!(response["error"], "unexpected_response_type", "{response}");
            continue;
        }
        assert_eq!(response["type"], "operation_started", "{response}");
        assert_eq!(
            (&response["operation_id"], &response["tool_name"]),
            (&json!("operation"), &json!(name))
        );
        // A completion would save the agent.
        let dry = ToolContext { dry_run: true, ..in_operation(&tools) };
        let response = tools.call_in(dry, name, arguments).await;
        assert_eq!(response["error"], "unexpected_response_type", "{response}");
    }
}

#[tokio::test]
async fn failures_of_the_generator_have_the_code_of_the_stage_and_the_kind() {
    let tools = tools();
    let error = GeneratorError::new("timeout", "no answer from http://bob:pw@generator:8000");
    tools.generator.makes(Err(error.clone()));
    let codes = [
        "generation_failed:timeout",
        "update_generation_failed:timeout",
        "customization_failed:timeout",
    ];
    for ((name, arguments), code) in calls().into_iter().zip(codes) {
        let response = tools.call(name, arguments).await;
        assert_eq!(response["error"], code);
        assert_eq!(response["details"]["service_error"], "no answer from http://generator:8000");
        assert_eq!(response["details"]["error_type"], "timeout");
        assert!(message_of(&response).contains("took too long"), "{response}");
    }
    tools.generator.plans(Err(error));
    let response = tools.call("create_agent", json!({"description": "Count"})).await;
    assert_eq!(response["error"], "decomposition_failed:timeout");
    assert_eq!(response["details"]["description"], "Count");
}

#[tokio::test]
async fn errors_are_repaired_until_the_agent_is_valid() {
    let tools = tools();
    tools.will_build([invalid(&["a"]), invalid(&["a", "b"]), invalid(&["b"]), saved()]);
    for name in ["Second", "Third", "Fourth"] {
        tools.generator.repairs(Ok(Some(Generated::Agent(spec(name)))));
    }
    let response = tools.call("edit_agent", calls()[1].1.clone()).await;
    assert_eq!(response["type"], "agent_saved", "{response}");
    let agents: Vec<_> = tools.builds().into_iter().map(|build| build.agent).collect();
    assert_eq!(agents, [spec("Made"), spec("Second"), spec("Third"), spec("Fourth")]);
    let rounds: Vec<Value> = tools.stages().into_iter().skip(2).map(|(_, round)| round).collect();
    assert_eq!(rounds, [json!(1), json!(2), json!(3)]);
    let asked = tools.generator.asked();
    let Asked::Repair(failed) = &asked[2] else { panic!("{asked:?}") };
    assert_eq!((&failed.agent, failed.problems.len()), (&spec("Second"), 2));
    assert_eq!(failed.current_spec.as_deref(), Some("name: Counter"));
    assert_eq!(
        failed.goal,
        AgentGoal { description: "Count lines".into(), ..AgentGoal::default() }
    );
}

#[tokio::test]
async fn a_repair_that_does_not_help_ends_with_the_errors() {
    let repaired = || Ok(Some(Generated::Agent(spec("Again"))));
    let failed = Err(GeneratorError::new("rate_limit", "slow down"));
    for (built, repairs, expected_repairs, why) in [
        (vec![invalid(&["a"])], vec![Ok(None)], 0, "it cannot repair"),
        (vec![invalid(&["a"])], vec![failed], 0, "the repair failed"),
        (vec![invalid(&["a"]); 2], vec![repaired(); 3], 1, "the same errors again"),
        (
            vec![invalid(&["a"]), invalid(&["b"]), invalid(&["a"])],
            vec![repaired(); 3],
            2,
            "errors of an earlier round",
        ),
        (
            vec![invalid(&["a"]), invalid(&["b"]), invalid(&["c"]), invalid(&["d"])],
            vec![repaired(); 4],
            3,
            "three rounds",
        ),
    ] {
        let tools = tools();
        let builds = built.len();
        tools.will_build(built);
        repairs.into_iter().for_each(|repair| tools.generator.repairs(repair));
        let response = tools.call("create_agent", json!({"description": "Count"})).await;
        assert_eq!(response["error"], "validation_failed", "{why}: {response}");
        let details = &response["details"];
        assert_eq!(
            (&details["state"], &details["repairs"]),
            (&json!("blocked"), &json!(expected_repairs)),
            "{why}"
        );
        assert_eq!((&details["error_count"], tools.builds().len()), (&json!(1), builds), "{why}");
        let has_error = details.get("service_error").is_some();
        assert_eq!(has_error, why == "the repair failed", "{response}");
    }
}
