//! Goals that are understood: many wordings of each kind, and the values that they name.

use std::path::Path;

use ports::agent_generator::Decomposition;
use serde_json::{Value, json};

use super::{built, default, generator, goal};

/// The answer to the question for an address, where a goal asks for one.
const ANSWER: &str = "To which web address should it be sent? https://example.com/in";

const INVOICES: [&str; 10] = [
    "Build an agent that totals an invoice and asks me before sending it",
    "I need an agent which adds up an invoice with 21% tax",
    "Calculate the total of a bill",
    "make me an agent to sum up the line items of an order",
    "an agent that computes an invoice including 19 percent VAT and posts it to https://example.com/invoices",
    "Create an agent that writes a receipt",
    "Prepare a quote with tax, let me check it and send it",
    "Please build an agent for invoices",
    "Total my invoices and e-mail them after I approve",
    "Work out what a customer owes from the line items",
];
const TEXTS: [&str; 9] = [
    "Build an agent that summarizes a text in numbers",
    "Count the words of a text",
    "an agent that tells me how many sentences an essay has",
    "Create an agent that finds the longest word in an article",
    "I want statistics about a text",
    "Measure the reading time of a blog post",
    "Analyze a document: words, characters, sentences",
    "How long is my speech? Build an agent that tells me the word count",
    "Make an agent that counts characters and posts the summary to https://example.com/x",
];
const PAGES: [&str; 10] = [
    "Build an agent that reads a web page and raises an alarm if it contains a word",
    "Watch https://example.com/shop and alert me if it says “sold out”",
    "Check the website https://example.com for the word storm",
    "an agent that monitors a site and warns me when it mentions flooding",
    "Read a web page and report",
    "Look at https://example.org/news and tell me if the word strike appears",
    "Fetch a page and summarize how long it is",
    "Create an agent that visits my homepage and checks that it contains the phrase “open today”",
    "Scan a webpage for a keyword",
    "Check https://example.com/tides and post an alarm to https://example.com/hook if it contains danger",
];
const TABLES: [&str; 10] = [
    "Build an agent that totals a column of a CSV",
    "Sum up the column price of a spreadsheet",
    "an agent that adds up the amount column in a CSV file",
    "Total the hours column of a table where project is Harbor",
    "Filter a CSV: only rows where status is open",
    "Read a CSV and total the column “net weight”",
    "I need the total of a column in an Excel sheet",
    "Add up a column of the table for rows with amount over 50",
    "Create an agent that totals the invoice column of a CSV and sends the report",
    "How much is in the CSV? Sum the cost column",
];
const LETTERS: [&str; 10] = [
    "Build an agent that writes a letter for each row of a table",
    "Write a payment reminder for every customer",
    "an agent that drafts invitations for all guests",
    "Create thank-you letters for a list of people",
    "Fill a letter template for each row of a CSV",
    "Make a mail merge that writes letters for members",
    "Write reminders for each row and let me approve them before sending",
    "Generate an email for everyone in a table",
    "Congratulate every member of the crew with a letter",
    "Remind each client of an overdue bill with a note",
];
const LIMITS: [&str; 10] = [
    "Build an agent that compares a number with a limit and alerts me",
    "Warn me when the temperature is above 30",
    "an agent that raises an alarm if the water level exceeds 3.5 meters",
    "Tell me if my balance falls below 100",
    "Check whether the price is under 20 euros",
    "Alert me when expenses are over the budget of 1,000",
    "Compare a value with a threshold",
    "Notify me when the stock drops below 5",
    "I want a warning if the speed is higher than 50",
    "Make an agent that checks that the pressure is at most 2.5",
];
const CLEANING: [&str; 10] = [
    "Build an agent that cleans a text",
    "Convert a text to upper case",
    "Remove HTML tags from a text",
    "an agent that trims extra spaces and sorts the lines",
    "Replace “colour” with “color” in a text",
    "Make a list unique and sort it alphabetically",
    "Turn a title into a slug",
    "Create an agent that lowercases names and removes duplicates",
    "replace cat with dog",
    "Tidy up my notes and post them to https://example.com/notes",
];

#[tokio::test]
async fn many_wordings_of_each_kind_lead_to_a_valid_agent() {
    let kinds: [(&[&str], &str); 7] = [
        (&INVOICES, "lines"),
        (&TEXTS, "text"),
        (&PAGES, "page"),
        (&TABLES, "table"),
        (&LETTERS, "letter_text"),
        (&LIMITS, "limit"),
        (&CLEANING, "text"),
    ];
    for (wordings, input) in kinds {
        assert!(wordings.len() >= 8);
        for wording in wordings {
            let agent = built(&goal(wording, Some(ANSWER))).await;
            assert!(agent.input(input).is_some(), "{wording}: {} {:?}", agent.name, agent.inputs);
            assert!(!agent.name.is_empty() && !agent.description.is_empty(), "{wording}");
            assert!(agent.steps.iter().all(|(_, step)| step.label.is_some()), "{wording}");
        }
    }
    let texts = built(&goal(TEXTS[0], None)).await;
    assert!(texts.output("longest_word").is_some(), "{texts:?}");
}

#[tokio::test]
async fn values_in_the_sentence_become_defaults() {
    let cases: [(&str, &str, Value); 22] = [
        ("total an invoice with 21 % tax", "tax_percent", json!(21)),
        ("total an invoice with 7.5% tax", "tax_percent", json!(7.5)),
        ("total an invoice", "tax_percent", json!(0)),
        (
            "total an invoice and post it to https://a.example/in",
            "send_to",
            json!("https://a.example/in"),
        ),
        (PAGES[1], "page", json!("https://example.com/shop")),
        (PAGES[1], "word", json!("sold out")),
        (PAGES[2], "word", json!("storm")),
        (PAGES[3], "word", json!("flooding")),
        (PAGES[5], "word", json!("strike")),
        (PAGES[9], "page", json!("https://example.com/tides")),
        (PAGES[9], "send_to", json!("https://example.com/hook")),
        (PAGES[9], "word", json!("danger")),
        (TABLES[1], "column", json!("price")),
        (TABLES[2], "column", json!("amount")),
        (TABLES[3], "column", json!("hours")),
        (TABLES[3], "filter_column", json!("project")),
        (TABLES[3], "filter_value", json!("Harbor")),
        (TABLES[5], "column", json!("net weight")),
        (TABLES[7], "filter_value", json!(50)),
        (LIMITS[1], "limit", json!(30)),
        (LIMITS[2], "limit", json!(3.5)),
        (CLEANING[8], "new", json!("dog")),
    ];
    for (sentence, input, expected) in cases {
        let agent = built(&goal(sentence, None)).await;
        assert_eq!(default(&agent, input), &expected, "{sentence}: {input}");
    }
    let warned = built(&goal(LIMITS[1], None)).await;
    let title = warned.input("value").and_then(|input| input.settings.get("title"));
    assert_eq!(title, Some(&json!("Temperature")));
}

#[tokio::test]
async fn sending_without_an_address_is_the_one_question() {
    let generator = generator();
    for (wording, noun) in [
        (INVOICES[0], "invoice"),
        ("Write reminders for each row and send them", "reminder"),
        ("Count the words of a text and submit the result", "summary"),
        ("Notify me when the stock drops below 5", "alarm"),
    ] {
        let asked = generator.decompose(&goal(wording, None)).await.expect("an answer");
        let Decomposition::Questions(questions) = asked else { panic!("{wording}: {asked:?}") };
        let [question] = &questions[..] else { panic!("{questions:?}") };
        assert!(question.question.contains(noun), "{question:?}");
        assert_eq!(question.keyword, "address");
        assert!(question.example.as_ref().is_some_and(|example| example.starts_with("https://")));

        let answered = format!("{}: https://example.com/box", question.question);
        let agent = built(&goal(wording, Some(&answered))).await;
        assert_eq!(default(&agent, "send_to"), &json!("https://example.com/box"), "{wording}");
        assert!(agent.step("send").is_some() && agent.output("result").is_some(), "{wording}");

        let declined = format!("{}: nowhere", question.question);
        let agent = built(&goal(wording, Some(&declined))).await;
        assert!(agent.step("send").is_none(), "{wording}");

        let odd = format!("{}: the moon", question.question);
        let again = generator.decompose(&goal(wording, Some(&odd))).await.expect("an answer");
        let Decomposition::Questions(again) = again else { panic!("{again:?}") };
        assert!(again[0].question.starts_with("That is not a web address."), "{again:?}");
    }
}

#[tokio::test]
async fn approval_comes_before_sending() {
    let agent = built(&goal(INVOICES[0], Some(ANSWER))).await;
    let body = agent.step("send").and_then(|step| step.pins.get("body"));
    assert_eq!(body, Some(&json!({"invoice": "review.approved_data"})));
    let without = built(&goal("total an invoice and let me approve it", None)).await;
    assert!(without.step("send").is_none() && without.step("review").is_some());
}

#[tokio::test]
async fn the_same_words_give_the_same_agent() {
    for wording in INVOICES.iter().chain(&TABLES) {
        let goal = goal(wording, Some(ANSWER));
        assert_eq!(built(&goal).await, built(&goal).await);
    }
}

/// The first table of the section "Without a model" has a goal in each row, between backticks.
#[tokio::test]
async fn the_examples_of_the_guide_are_understood() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/building-agents.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (_, section) = page.split_once("## Without a model").expect("the section");
    let goals: Vec<&str> =
        section.split('`').filter(|part| part.starts_with("Build an agent")).collect();
    assert_eq!(goals.len(), 7);
    for wording in goals {
        built(&goal(wording, Some(ANSWER))).await;
    }
}
