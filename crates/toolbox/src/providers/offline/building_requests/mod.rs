//! Sentences about building, changing, rehearsing and running agents. Most depend on the conversation before them: "the
//! agent" is the one that was saved last, and an answer continues the call that asked.

use serde_json::{Map, Value, json};

use super::building_history::{
    BUILDERS, BuilderCall, BuildingHistory, CREATE, EDIT, GUIDE, questions,
};
use super::command::PilotCommand;
use super::replies;
use crate::words::Words;

/// Words that may stand before "agent" in a sentence that asks for a new one.
const BEFORE_AGENT: &[&str] = &[
    "please", "can", "could", "would", "you", "hey", "hello", "hi", "now", "then", "ok", "okay",
    "let's", "i", "i'd", "we", "we'd", "me", "us", "to", "have", "for", "a", "an", "another",
    "new", "simple", "small", "little", "useful", "good", "help", "love", "really", "also", "up",
];
const BUILD_VERBS: &[&str] = &[
    "build", "create", "make", "design", "write", "generate", "develop", "set", "need", "want",
    "like",
];
const CHANGE_VERBS: &[&str] = &["change", "edit", "update", "modify", "adjust", "improve", "fix"];
/// Beginnings of sentences that change the agent that was saved last.
const CHANGES: &[&str] = &[
    "set",
    "change",
    "edit",
    "update",
    "modify",
    "adjust",
    "rename",
    "call it",
    "name it",
    "use",
    "replace",
    "add",
    "remove",
    "delete",
    "drop",
    "ask me",
    "don't ask",
    "do not ask",
    "let me approve",
    "also return",
    "make the",
    "make it",
    "send it",
    "send the",
    "post it",
    "post the",
    "raise",
    "lower",
    "increase",
    "decrease",
    "please change",
    "please set",
    "please add",
    "please remove",
    "please rename",
];
/// How far into a sentence "agent" may stand, in words.
const AGENT_WITHIN: usize = 10;
/// Longer messages are texts, not requests.
const MAX_WORDS_BYTES: usize = 10_000;

/// The calls for a sentence; `None` if it is about something else.
pub(crate) fn read(message: &str, history: &BuildingHistory) -> Option<Vec<PilotCommand>> {
    let message = message.trim();
    let words = Words::of(message);
    let command = card_request(message, history)
        .or_else(|| changed_by_name(message, &words, history))
        .or_else(|| build(message, &words))
        .or_else(|| run(&words, history))
        .or_else(|| answer(message, history))
        .or_else(|| changed(message, &words, history))?;
    Some(vec![command])
}

/// The calls with the guide before them, if one needs it and it was not read in this session.
pub(crate) fn with_guide(
    mut commands: Vec<PilotCommand>,
    history: impl FnOnce() -> BuildingHistory,
) -> Vec<PilotCommand> {
    let calls = |tools: &[&str]| {
        commands.iter().any(|command| {
            matches!(command, PilotCommand::Tool { name, .. } if tools.contains(&name.as_str()))
        })
    };
    if calls(&BUILDERS) && !calls(&[GUIDE]) && !history().guide_was_read {
        commands.insert(0, call(GUIDE, json!({})));
    }
    commands
}

/// Messages of the cards that need the conversation before them.
fn card_request(message: &str, history: &BuildingHistory) -> Option<PilotCommand> {
    if let Some(goal) = message.strip_prefix("Use this goal instead: ") {
        return Some(again(history.suggested()?, goal.trim()));
    }
    if let Some(rest) = message.strip_prefix("Keep my goal as it is") {
        let suggested = history.suggested()?;
        let original = suggested.response["original_goal"].as_str().unwrap_or_default();
        let goal = rest.strip_prefix(": ").map_or(original, str::trim);
        return (!goal.is_empty()).then(|| again(suggested, goal));
    }
    if let Some(rest) = message.strip_prefix("Try again") {
        let last = history.last.as_ref()?;
        let words = last.arguments.get(last.words_argument()).and_then(Value::as_str);
        let goal = rest.strip_prefix(": ").map(str::trim).or(words)?;
        return Some(again(last, goal));
    }
    if message.starts_with("Save the agent") || message.eq_ignore_ascii_case("save it") {
        let last = history.last.as_ref().filter(|last| last.response["type"] == "agent_preview")?;
        let mut arguments = last.arguments.clone();
        arguments.shift_remove("save");
        return Some(call(&last.tool, Value::Object(arguments)));
    }
    None
}

/// The same call with other words. What was answered before belonged to the old ones.
fn again(called: &BuilderCall, words: &str) -> PilotCommand {
    let mut arguments = called.arguments.clone();
    if arguments.get(called.words_argument()).and_then(Value::as_str) != Some(words) {
        arguments.shift_remove("context");
    }
    arguments.insert(called.words_argument().to_owned(), json!(words));
    call(&called.tool, Value::Object(arguments))
}

/// "Build me an agent that …", "I need an agent that …": the whole sentence is the goal.
fn build(message: &str, words: &Words<'_>) -> Option<PilotCommand> {
    let at = agent_at(words)?;
    let before: Vec<&str> = words.plain_words().take(at).collect();
    let is_request = before.iter().any(|word| BUILD_VERBS.contains(word));
    let is_known = |word: &&str| BEFORE_AGENT.contains(word) || BUILD_VERBS.contains(word);
    (is_request && before.iter().all(is_known) && message.len() <= MAX_WORDS_BYTES)
        .then(|| call(CREATE, json!({ "description": message })))
}

/// The index of "agent" near the beginning.
fn agent_at(words: &Words<'_>) -> Option<usize> {
    (0..AGENT_WITHIN).find(|at| matches!(words.word(*at), Some("agent" | "agents")))
}

/// "Change the agent “NAME” (ID): …", "Edit my agent so that …".
fn changed_by_name(
    message: &str,
    words: &Words<'_>,
    history: &BuildingHistory,
) -> Option<PilotCommand> {
    let at = agent_at(words)?;
    let verb = words.plain_words().take(at).any(|word| CHANGE_VERBS.contains(&word));
    let article = at.checked_sub(1).and_then(|before| words.word(before));
    if !verb || !matches!(article, Some("the" | "my" | "this" | "our")) {
        return None;
    }
    let position =
        message.as_bytes().windows(5).position(|word| word.eq_ignore_ascii_case(b"agent"))?;
    let mut rest = message[position + 5..].trim_start();
    if let Some((_, after)) = rest.strip_prefix('“').and_then(|inner| inner.split_once('”')) {
        rest = after.trim_start();
    } else if let Some((_, after)) = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'))
    {
        rest = after.trim_start();
    }
    let mut id = None;
    if let Some((named, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        id = Some(named.trim()).filter(|id| !id.is_empty() && !id.contains(char::is_whitespace));
        rest = after;
    }
    let mut changes = rest.trim_start_matches([':', ',', '.', ' ']).trim();
    for lead in ["so that it", "so that", "such that", "as follows:", "and"] {
        if let Some(after) =
            changes.strip_prefix(lead).filter(|after| after.starts_with(char::is_whitespace))
        {
            changes = after.trim_start();
            break;
        }
    }
    let Some(id) = id.or_else(|| history.saved_text("agent_id")) else {
        return Some(PilotCommand::Say(replies::WHICH_AGENT));
    };
    Some(match changes.is_empty() {
        true => PilotCommand::Say(replies::WHICH_CHANGE),
        false => edit(id, changes),
    })
}

/// A change of the agent that was saved last, without naming it.
fn changed(message: &str, words: &Words<'_>, history: &BuildingHistory) -> Option<PilotCommand> {
    let id = history.saved_text("agent_id")?;
    let begins = |phrase: &&str| words.find(phrase).is_some_and(|(at, _)| at == 0);
    let is_wish = ["should be", "must be", "instead of"].iter().any(|phrase| words.has(&[phrase]));
    let is_change = CHANGES.iter().any(begins) || is_wish;
    (is_change && message.len() <= MAX_WORDS_BYTES).then(|| edit(id, message))
}

fn edit(id: &str, changes: &str) -> PilotCommand {
    call(EDIT, json!({"agent_id": id, "changes": changes}))
}

/// The answer to a question of a call that builds an agent: the same call, with the answer in its context.
fn answer(message: &str, history: &BuildingHistory) -> Option<PilotCommand> {
    let asked = history.asked()?;
    let questions = questions(&asked.response);
    // Several answers are sent with their questions.
    let answer = match &questions[..] {
        [only] if !message.starts_with(only) => format!("{only}: {message}"),
        _ => message.to_owned(),
    };
    let mut arguments = asked.arguments.clone();
    let before = arguments.get("context").and_then(Value::as_str).filter(|text| !text.is_empty());
    let context = before.map_or_else(|| answer.clone(), |before| format!("{before}\n{answer}"));
    arguments.insert("context".to_owned(), json!(context));
    Some(call(&asked.tool, Value::Object(arguments)))
}

/// "Rehearse the agent", "Run it": the agent that was saved last.
fn run(words: &Words<'_>, history: &BuildingHistory) -> Option<PilotCommand> {
    let text: Vec<&str> = words.plain_words().filter(|word| *word != "please").collect();
    let dry_run = match text[..] {
        ["rehearse" | "test" | "try", "it" | "this"]
        | ["rehearse" | "test" | "try", "the" | "this" | "my", "agent"]
        | ["try", "it", "out"] => true,
        ["run" | "start", "it" | "this"] | ["run" | "start", "the" | "this" | "my", "agent"] => {
            false
        }
        _ => return None,
    };
    let Some(id) = history.saved_text("library_agent_id") else {
        return Some(PilotCommand::Say(replies::WHICH_AGENT));
    };
    let mut arguments = Map::from_iter([("library_agent_id".to_owned(), json!(id))]);
    if dry_run {
        arguments.insert("dry_run".to_owned(), json!(true));
    }
    arguments.insert("use_defaults".to_owned(), json!(true));
    arguments.insert("wait_for_result".to_owned(), json!(30));
    Some(call("run_agent", Value::Object(arguments)))
}

fn call(name: &str, arguments: Value) -> PilotCommand {
    PilotCommand::Tool { name: name.to_owned(), arguments: arguments.to_string() }
}

#[cfg(test)]
mod tests;
