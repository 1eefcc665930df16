//! Goals that are vague, impossible or not understood.

use ports::agent_generator::Decomposition;
use protocol::response::{GoalType, SuggestedGoal};

use super::{built, generator, goal};

async fn suggestion(description: &str) -> SuggestedGoal {
    match generator().decompose(&goal(description, None)).await.expect("an answer") {
        Decomposition::Suggestion(suggestion) => suggestion,
        other => panic!("{description}: {other:?}"),
    }
}

/// Only sends where the suggestion says so, so no question is asked twice.
const ANSWER: &str = "https://example.com/in";

#[tokio::test]
async fn a_goal_that_is_vague_gets_a_suggestion() {
    for description in [
        "make me an agent",
        "Build an agent",
        "help me with my business",
        "I need something useful",
        "automate my life",
        "an agent that helps me be more productive",
        "do stuff",
        "",
    ] {
        let suggested = suggestion(description).await;
        assert_eq!(suggested.goal_type, GoalType::Vague, "{description}");
        assert!(suggested.reason.starts_with("The goal does not say what"), "{suggested:?}");
        built(&goal(&suggested.suggested_goal, Some(ANSWER))).await;
    }
}

#[tokio::test]
async fn a_goal_that_is_impossible_gets_one_that_is_not() {
    for description in [
        "predict the lottery numbers",
        "read my neighbor's mail",
        "an agent that earns a million dollars",
        "build an agent that makes me rich: get rich quick",
        "hack a website",
        "predict the future",
        "read my mind",
        "cook dinner for me",
    ] {
        let suggested = suggestion(description).await;
        assert_eq!(suggested.goal_type, GoalType::Unachievable, "{description}");
        assert_eq!(suggested.original_goal.as_deref(), Some(description));
        built(&goal(&suggested.suggested_goal, Some(ANSWER))).await;
    }
}

#[tokio::test]
async fn a_goal_that_is_not_understood_is_told_what_is() {
    for description in
        ["translate poems into Dutch", "draw a picture of a ship", "book a flight to Brest"]
    {
        let suggested = suggestion(description).await;
        assert_eq!(suggested.goal_type, GoalType::Vague);
        for part in ["not understood", "total an invoice", "CSV", "CHAT_API_KEY"] {
            assert!(suggested.reason.contains(part), "{part} in {}", suggested.reason);
        }
        built(&goal(&suggested.suggested_goal, Some(ANSWER))).await;
    }
}
