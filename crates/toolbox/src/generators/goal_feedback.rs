//! What a generator says about a goal instead of making an agent: questions, or another goal. Services and models use the
//! same JSON.

use ports::agent_generator::AgentGoal;
use protocol::response::{GoalType, SuggestedGoal, UserQuestion};
use serde_json::Value;

/// More would be a form, not a question.
const MAX_QUESTIONS: usize = 10;
const VAGUE: &str = "The goal leaves too much open.";
const UNACHIEVABLE: &str = "The goal cannot be achieved.";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GoalFeedback {
    Questions(Vec<UserQuestion>),
    Suggestion(SuggestedGoal),
}

/// `None`: the answer is something else. The error says what is wrong with it.
pub(crate) fn read(answer: &Value, goal: &AgentGoal) -> Result<Option<GoalFeedback>, String> {
    let suggest = |goal_type| suggestion(answer, goal, goal_type).map(GoalFeedback::Suggestion);
    match answer.get("type").and_then(Value::as_str) {
        Some("clarifying_questions") => questions(answer).map(GoalFeedback::Questions).map(Some),
        Some("vague_goal") => suggest(GoalType::Vague).map(Some),
        Some("unachievable_goal") => suggest(GoalType::Unachievable).map(Some),
        _ => Ok(None),
    }
}

fn questions(answer: &Value) -> Result<Vec<UserQuestion>, String> {
    let questions = answer.get("questions").and_then(Value::as_array).into_iter().flatten();
    let questions: Vec<UserQuestion> = questions
        .enumerate()
        .filter_map(|(index, question)| one_question(index, question))
        .take(MAX_QUESTIONS)
        .collect();
    if questions.is_empty() { Err("it has no questions".to_owned()) } else { Ok(questions) }
}

fn one_question(index: usize, given: &Value) -> Option<UserQuestion> {
    // Some write only the sentence.
    let question = given.as_str().map(str::to_owned).or_else(|| text(given.get("question")))?;
    let keyword = text(given.get("keyword")).unwrap_or_else(|| format!("answer_{}", index + 1));
    Some(UserQuestion { question, keyword, example: text(given.get("example")) })
}

fn suggestion(
    answer: &Value,
    goal: &AgentGoal,
    goal_type: GoalType,
) -> Result<SuggestedGoal, String> {
    let reason = text(answer.get("reason")).unwrap_or_else(|| match goal_type {
        GoalType::Vague => VAGUE.to_owned(),
        GoalType::Unachievable => UNACHIEVABLE.to_owned(),
    });
    let Some(suggested_goal) = text(answer.get("suggested_goal")) else {
        return Err(format!("it suggests no other goal. {reason}"));
    };
    let original_goal = Some(goal.description.clone());
    Ok(SuggestedGoal { suggested_goal, reason, original_goal, goal_type })
}

fn text(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => return None,
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn goal() -> AgentGoal {
        AgentGoal { description: "Do things".into(), ..AgentGoal::default() }
    }

    #[test]
    fn questions_get_a_keyword_where_they_have_none() {
        let answer = json!({"type": "clarifying_questions", "questions": [
            "Where?",
            {"question": " Which port? ", "keyword": "port", "example": 8000},
            {"question": ""},
            {"keyword": "lost"},
        ]});
        let Ok(Some(GoalFeedback::Questions(questions))) = read(&answer, &goal()) else {
            panic!("questions expected")
        };
        let read: Vec<_> = questions
            .iter()
            .map(|asked| {
                (asked.question.as_str(), asked.keyword.as_str(), asked.example.as_deref())
            })
            .collect();
        assert_eq!(read, [("Where?", "answer_1", None), ("Which port?", "port", Some("8000"))]);
    }

    #[test]
    fn a_suggestion_keeps_the_original_goal_and_always_has_a_reason() {
        for (answer, goal_type, reason) in [
            (json!({"type": "vague_goal", "suggested_goal": "Add"}), GoalType::Vague, VAGUE),
            (
                json!({"type": "unachievable_goal", "suggested_goal": "Add", "reason": "No ships."}),
                GoalType::Unachievable,
                "No ships.",
            ),
        ] {
            let Ok(Some(GoalFeedback::Suggestion(suggested))) = read(&answer, &goal()) else {
                panic!("a suggestion expected")
            };
            assert_eq!(suggested.original_goal.as_deref(), Some("Do things"));
            assert_eq!((suggested.goal_type, suggested.reason.as_str()), (goal_type, reason));
        }
        let without = json!({"type": "unachievable_goal", "reason": "No ships."});
        assert!(read(&without, &goal()).expect_err("no goal").contains("No ships."));
    }

    #[test]
    fn everything_else_is_not_about_the_goal() {
        for answer in [json!({}), json!({"type": "instructions"}), json!([1]), json!({"type": 3})] {
            assert_eq!(read(&answer, &goal()), Ok(None), "{answer}");
        }
    }
}
