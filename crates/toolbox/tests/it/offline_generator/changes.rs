//! Changes in words: what each changes, and what is said about those that cannot be made.

use graphs::spec::{self, AgentSpec};
use ports::agent_generator::Generated;
use ports::call_services::GivenAgent;
use serde_json::{Value, json};

use super::{built, checked, default, goal, updated};

const ANSWER: &str = "https://example.com/in";

async fn invoice() -> AgentSpec {
    built(&goal("total an invoice with 21 % tax and ask me before sending it", Some(ANSWER))).await
}

async fn changed(spec: &AgentSpec, change: &str) -> AgentSpec {
    match updated(spec, change, None).await {
        Generated::Agent(GivenAgent::Spec(changed)) => checked(&changed).0,
        other => panic!("{change}: {other:?}"),
    }
}

#[tokio::test]
async fn a_default_is_set_in_many_wordings() {
    let before = invoice().await;
    for change in [
        "set the tax to 19 %",
        "Set tax_percent to 19",
        "use 19 instead of 21",
        "replace 21 with 19",
        "Change the tax to 19%.",
        "change 21 to 19",
        "the tax should be 19",
        "Make the tax 19 %",
        "Please change the agent so that the tax is now 19 percent",
        "lower the tax to 19",
        "use 19 % as the tax",
    ] {
        let after = changed(&before, change).await;
        assert_eq!(default(&after, "tax_percent"), &json!(19), "{change}");
        let mut same = after.clone();
        same.inputs = before.inputs.clone();
        assert_eq!(same, before, "{change}: nothing else changes");
    }
    let after = changed(&before, "set the customer to “Ann & Sons”").await;
    assert_eq!(default(&after, "customer"), &json!("Ann & Sons"));
    let after = changed(&before, "send it to https://example.org/new").await;
    assert_eq!(default(&after, "send_to"), &json!("https://example.org/new"));
}

#[tokio::test]
async fn an_agent_gets_another_name_or_description() {
    let before = invoice().await;
    for change in
        ["rename it to Harbor dues", "Call it “Harbor dues”", "change the name to Harbor dues"]
    {
        assert_eq!(changed(&before, change).await.name, "Harbor dues", "{change}");
    }
    let after = changed(&before, "change the description to “Dues of a ship, with tax.”").await;
    assert_eq!(after.description, "Dues of a ship, with tax.");
}

#[tokio::test]
async fn an_approval_is_added_and_removed() {
    let before = built(&goal("total an invoice and post it to https://example.com/in", None)).await;
    for change in [
        "ask me before sending",
        "ask me before it is sent",
        "add an approval before send",
        "let me approve the sending",
        "Ask me first",
        "add an approval",
    ] {
        let after = changed(&before, change).await;
        let review =
            after.step("approve_send").unwrap_or_else(|| panic!("{change}: {:?}", after.steps));
        assert_eq!(review.pins["data"], json!({"invoice": "invoice.output"}), "{change}");
        let body = after.step("send").map(|step| &step.pins["body"]);
        assert_eq!(body, Some(&json!("approve_send.approved_data")), "{change}");
        // Without the approval, it is as before.
        assert_eq!(changed(&after, "don't ask me").await, before, "{change}");
    }
    let reviewed = invoice().await;
    let after = changed(&reviewed, "remove the approval").await;
    assert!(after.step("review").is_none() && after.step("rejected").is_none(), "{after:?}");
    assert_eq!(
        after.step("send").map(|step| &step.pins["body"]),
        Some(&json!({"invoice": "invoice.output"}))
    );
    // A text that is returned can be approved as well.
    let text = built(&goal("convert a text to upper case", None)).await;
    let after = changed(&text, "ask me before returning the text").await;
    assert!(after.step("approve_text").is_some(), "{after:?}");
}

#[tokio::test]
async fn outputs_and_inputs_are_added_and_removed() {
    let before = invoice().await;
    let after = changed(&before, "add an output net_amount from net").await;
    assert_eq!(
        after.output("net_amount").and_then(|output| output.from.clone()),
        Some(json!("net.value"))
    );
    let after = changed(&before, "also return the customer").await;
    assert_eq!(
        after.output("customer").and_then(|output| output.from.clone()),
        Some(json!("inputs.customer"))
    );
    let after = changed(&before, "remove the output total").await;
    assert!(after.output("total").is_none() && after.output("invoice").is_some());

    let added = updated(&before, "add an input discount with default 5", None).await;
    let Generated::Agent(GivenAgent::Spec(added)) = added else { panic!("{added:?}") };
    let added = spec::from_value(&added).expect("a spec");
    assert_eq!(default(&added, "discount"), &json!(5));
    let after = changed(&added, "remove the input discount").await;
    assert_eq!(after, before);
}

#[tokio::test]
async fn only_a_step_that_nothing_needs_is_removed() {
    let text = r#"
name: Note
inputs: {note: {type: string, default: Ahoy}, copy_to: {type: string, default: "https://example.com/in"}}
steps:
  loud: {block: Fill Text Template, format: "{{note | upper}}"}
  copy: {block: Send Web Request, label: Send a copy, url: inputs.copy_to, body: {note: loud.output}}
outputs: {note: loud.output}
"#;
    let before = spec::parse(text).expect("a spec");
    for change in ["remove the step copy", "Delete the copy step", "drop send a copy"] {
        let after = changed(&before, change).await;
        assert!(after.step("copy").is_none() && after.step("loud").is_some(), "{change}");
        assert!(after.input("copy_to").is_none(), "{change}: only the step used it");
    }
    let refused = updated(&before, "remove the step loud", None).await;
    let Generated::Suggestion(refused) = refused else { panic!("{refused:?}") };
    assert!(refused.reason.contains("“loud” is needed by copy, the output note"), "{refused:?}");

    // An output takes along the steps that only computed it.
    let invoice = built(&goal("total an invoice", None)).await;
    let after = changed(&invoice, "remove the output invoice").await;
    assert!(after.step("invoice").is_none() && after.input("customer").is_none(), "{after:?}");
}

#[tokio::test]
async fn several_changes_are_made_at_once() {
    let before = invoice().await;
    let after = changed(&before, "set the tax to 19 % and rename it to Harbor dues").await;
    assert_eq!((default(&after, "tax_percent"), after.name.as_str()), (&json!(19), "Harbor dues"));
    let after = changed(&before, "set the tax to 9; don't ask me; also return the customer").await;
    assert_eq!(default(&after, "tax_percent"), &json!(9));
    assert!(after.step("review").is_none() && after.output("customer").is_some());
}

#[tokio::test]
async fn an_agent_begins_to_send_its_result() {
    let before = built(&goal("count the words of a text", None)).await;
    let after = changed(&before, "post the summary to https://example.com/in").await;
    assert_eq!(
        after.step("send").map(|step| &step.pins["body"]),
        Some(&json!({"summary": "summary.output"}))
    );
    assert!(after.output("delivery").is_some());
}

#[tokio::test]
async fn what_is_unclear_is_asked_and_the_answer_completes_it() {
    let before = invoice().await;
    let Generated::Questions(questions) = updated(&before, "set the rebate to 7", None).await
    else {
        panic!("it has no such value")
    };
    assert!(questions[0].question.contains("tax_percent"), "{questions:?}");
    let context = format!("{}: tax_percent", questions[0].question);
    let Generated::Agent(GivenAgent::Spec(after)) =
        updated(&before, "set the rebate to 7", Some(&context)).await
    else {
        panic!("it was answered")
    };
    assert_eq!(default(&checked(&after).0, "tax_percent"), &json!(7));
}

#[tokio::test]
async fn a_change_that_is_not_understood_is_told_what_is() {
    let before = invoice().await;
    for (change, reason) in [
        ("make it more beautiful", "not understood"),
        ("translate it", "not understood"),
        ("set the tax to many", "takes a number"),
        ("set the tax to 19 and sing", "takes a number"),
        ("don't ask me and sing", "not understood"),
        ("send it to https://example.org/new and sing", "not understood"),
        ("use 5 instead of 77", "has no value"),
        ("set the tax to 21", "already"),
        ("ask me before sending", "already asks"),
        ("remove the parrot", "has no"),
        ("add an output mood from parrot", "has no step"),
    ] {
        let answer = updated(&before, change, None).await;
        let Generated::Suggestion(suggestion) = answer else { panic!("{change}: {answer:?}") };
        assert!(suggestion.reason.contains(reason), "{change}: {}", suggestion.reason);
        // The suggested change works.
        let suggested = updated(&before, &suggestion.suggested_goal, None).await;
        assert!(matches!(suggested, Generated::Agent(_)), "{suggestion:?}");
    }
}

#[tokio::test]
async fn a_text_of_many_clauses_is_given_up_in_time() {
    let before = invoice().await;
    let many = "don't ask me and ".repeat(60) + "sing";
    for change in [many.as_str(), &"x".repeat(5_000), &" and ".repeat(300)] {
        let answer = updated(&before, change, None).await;
        assert!(matches!(answer, Generated::Suggestion(_)), "{answer:?}");
    }
}

#[tokio::test]
async fn any_agent_can_be_changed() {
    let text = r#"
name: Morning tides
inputs:
  harbor: {type: string, default: Vlissingen}
  height: {type: number, default: 4}
steps:
  high: {block: Calculator, operation: Add, a: inputs.height, b: 1}
  check: {block: Condition, value1: high.result, operator: ">", value2: 3, yes_value: "Alarm in {{harbor}}"}
outputs: {report: "{{harbor}}: {{high.result}} m", alarm: check.yes_output}
"#;
    let before = spec::parse(text).expect("a spec");
    let after = changed(&before, "set the harbor to Brest").await;
    assert_eq!(default(&after, "harbor"), &json!("Brest"));
    let after = changed(&before, "set value2 of check to 5").await;
    assert_eq!(after.step("check").map(|step| &step.pins["value2"]), Some(&json!(5)));
    let after = changed(&before, "ask me before the alarm").await;
    assert_eq!(
        after.output("alarm").and_then(|output| output.from.clone()),
        Some(json!("approve_alarm.approved_data"))
    );
    let nothing: Value = json!({"name": "Empty"});
    let empty = spec::from_value(&nothing).expect("a spec");
    let request = ports::agent_generator::CustomizeAgent {
        change: goal("rename it to Full", None),
        template: Box::new(checked(&spec::to_value(&before)).1),
        template_spec: String::new(),
    };
    let made = super::generator().customize(&request).await.expect("an answer");
    let Generated::Agent(GivenAgent::Spec(made)) = made else { panic!("{made:?}") };
    assert_eq!((made["name"].as_str(), empty.steps.len()), (Some("Full"), 0));
    assert!(made["steps"]["high"].is_object(), "the graph is read where there is no spec: {made}");
}
