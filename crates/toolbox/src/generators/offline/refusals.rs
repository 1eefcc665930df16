//! Goals that are vague, cannot be achieved, or are not understood: each gets a goal that could be built.

use protocol::response::{GoalType, SuggestedGoal};

use super::goal::Goal;
use super::kinds::{KINDS, MOST_USEFUL};

/// Goals that no agent can achieve, with why and with one that could be.
struct Unachievable {
    words: &'static [&'static str],
    reason: &'static str,
    instead: &'static str,
}

const UNACHIEVABLE: [Unachievable; 5] = [
    Unachievable {
        words: &["lottery", "lotto", "roulette", "winning numbers", "jackpot"],
        reason: "Lottery numbers are random, so nothing can predict them.",
        instead: "An agent that totals the column amount of a CSV with what I spent on tickets",
    },
    Unachievable {
        words: &[
            "neighbor's",
            "neighbour's",
            "someone else's",
            "somebody else's",
            "my wife's",
            "my husband's",
            "my boss's",
            "her messages",
            "his messages",
            "hack",
            "hacks",
            "hacking",
            "passwords of",
            "spy",
            "spies",
            "spying",
            "steal",
            "steals",
            "without permission",
            "without their knowledge",
        ],
        reason: "An agent may only use what belongs to you, or what is public.",
        instead: "An agent that reads a public web page and raises an alarm if it contains a word",
    },
    Unachievable {
        words: &[
            "million dollars",
            "million euros",
            "a million",
            "get rich",
            "gets rich",
            "make me rich",
            "makes me rich",
            "billionaire",
            "millionaire",
            "free money",
            "money from nothing",
        ],
        reason: "An agent cannot make money out of nothing.",
        instead: "An agent that totals an invoice and asks me before sending it",
    },
    Unachievable {
        words: &[
            "predict* the future",
            "predict* stock*",
            "stock prices tomorrow",
            "tell* the future",
            "see* the future",
            "read* minds",
            "read* my mind",
            "time travel*",
            "travel* in time",
            "guarantee*",
            "predict* when i",
        ],
        reason: "Nothing can know the future or what a person thinks.",
        instead: "An agent that warns me when a price is above a limit of 100",
    },
    Unachievable {
        words: &[
            "cook* dinner",
            "cook*",
            "wash* my",
            "clean* my house",
            "drive* my car",
            "drives me",
            "walk* the dog",
            "walk* my dog",
            "live forever",
            "immortal*",
            "teleport*",
            "world peace",
            "cure*",
        ],
        reason: "An agent works with texts, numbers, tables and web requests; it cannot act in the physical world.",
        instead: "An agent that writes a reminder for each row of a table",
    },
];

/// Words that say little about what an agent should do.
const VAGUE: &[&str] = &[
    "agent",
    "agents",
    "something",
    "anything",
    "stuff",
    "things",
    "thing",
    "business",
    "work",
    "life",
    "job",
    "day",
    "automate",
    "automates",
    "automation",
    "help",
    "helps",
    "helpful",
    "useful",
    "cool",
    "nice",
    "great",
    "amazing",
    "everything",
    "more",
    "productive",
    "better",
    "improve",
    "improves",
    "make",
    "makes",
    "do",
    "does",
    "with",
    "my",
    "me",
    "the",
    "a",
    "an",
    "and",
    "to",
    "for",
    "in",
    "is",
    "it",
    "some",
    "of",
    "that",
    "can",
    "please",
    "company",
    "task",
    "tasks",
    "all",
    "us",
    "our",
    "be",
    "smart",
    "money",
    "save",
    "saves",
    "time",
    "run",
    "runs",
    "organize",
    "organizes",
    "manage",
    "manages",
    "support",
    "supports",
    "assistant",
    "bot",
    "ai",
    "on",
    "what",
    "i",
    "want",
    "need",
    "whatever",
    "you",
    "like",
    "grow",
    "grows",
    "optimize",
    "optimizes",
    "easier",
];

/// A goal that could be built, instead of one that cannot be achieved.
pub(crate) fn unachievable(goal: &Goal<'_>) -> Option<SuggestedGoal> {
    let known = UNACHIEVABLE.iter().find(|known| goal.has(known.words))?;
    Some(SuggestedGoal {
        suggested_goal: known.instead.to_owned(),
        reason: known.reason.to_owned(),
        original_goal: Some(goal.text.to_owned()),
        goal_type: GoalType::Unachievable,
    })
}

/// A goal that could be built, instead of one that is vague or not understood.
pub(crate) fn not_understood(goal: &Goal<'_>) -> SuggestedGoal {
    let can_build: Vec<&str> = KINDS.iter().map(|kind| kind.does).collect();
    let can_build = format!(
        "Without a model, only these agents can be built: {}. A model key (CHAT_API_KEY or ANTHROPIC_API_KEY) lifts \
         this limit.",
        can_build.join("; ")
    );
    let mut content = goal.words.plain_words().skip(goal.content_from());
    let reason = match content.all(|word| VAGUE.contains(&word)) {
        true => format!("The goal does not say what the agent should do. {can_build}"),
        false => format!("The goal was not understood. {can_build}"),
    };
    SuggestedGoal {
        suggested_goal: closest_example(goal).to_owned(),
        reason,
        original_goal: Some(goal.text.to_owned()),
        goal_type: GoalType::Vague,
    }
}

/// The example that shares the most words with the goal.
fn closest_example(goal: &Goal<'_>) -> &'static str {
    let shared = |example: &str| {
        let words = crate::words::Words::of(example);
        let said =
            |word: &&str| word.len() > 3 && goal.words.plain_words().any(|said| said == *word);
        words.plain_words().filter(said).count()
    };
    let ranked = KINDS.iter().map(|kind| (shared(kind.example), kind.example));
    // One shared word is a coincidence.
    let best =
        ranked.fold((1, MOST_USEFUL.example), |best, one| if one.0 > best.0 { one } else { best });
    best.1
}
