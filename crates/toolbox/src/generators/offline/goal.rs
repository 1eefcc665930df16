//! A goal in words, and what it says about approval and sending.

use ports::agent_generator::AgentGoal;

use crate::words::{Words, quoted};

/// Words that introduce an agent and say nothing about it: "Please build me an agent that …".
const LEADING: &[&str] = &[
    "please", "can", "could", "would", "you", "i", "i'd", "we", "need", "want", "like", "to",
    "have", "help", "me", "us", "build", "create", "make", "design", "write", "generate",
    "develop", "set", "up", "a", "an", "another", "my", "our", "new", "simple", "small", "little",
    "useful", "good", "agent", "agents", "that", "which", "who", "for", "so", "it", "can",
    "should", "will", "is", "able",
];

/// Phrases that ask for a person's approval.
const APPROVAL: &[&str] = &[
    "approv*",
    "ask* before",
    "ask* first",
    "ask* me before",
    "ask* me first",
    "ask* me whether",
    "ask* me if",
    "ask* me to confirm",
    "ask* me to check",
    "ask* for my",
    "asking me",
    "confirm*",
    "my ok",
    "my okay",
    "my permission",
    "my consent",
    "let* me check",
    "let* me review",
    "let* me look",
    "let* me decide",
    "let* me read",
    "check* with me",
    "wait* for me",
    "sign* off",
    "i review",
    "i check",
    "i decide",
    "i have checked",
    "i have seen",
    "i say yes",
    "i agree",
    "reviewed by",
    "for review",
    "for my review",
    "human review",
    "a person checks",
    "show* it to me before",
];

/// Phrases that ask for something to be sent.
const SENDING: &[&str] = &[
    "send",
    "sends",
    "sending",
    "sent",
    "post",
    "posts",
    "posting",
    "posted",
    "notify",
    "notifies",
    "notifying",
    "forward",
    "forwards",
    "forwarding",
    "submit",
    "submits",
    "submitting",
    "deliver",
    "delivers",
    "delivering",
    "email it",
    "emails it",
    "email them",
    "emails them",
    "emailing",
    "e-mail it",
    "e-mails it",
    "e-mail them",
    "e-mails them",
    "e-mailing",
    "mail it",
    "mails it",
    "mail them",
    "mails them",
    "mailing",
    "by email",
    "by e-mail",
    "by mail",
    "call* a webhook",
    "call* the webhook",
    "publish it",
    "publishes it",
    "uploads it",
    "upload it",
];

const NOT_SENDING: &[&str] = &[
    "without sending",
    "don't send",
    "do not send",
    "doesn't send",
    "does not send",
    "not send*",
    "never send*",
    "without posting",
    "no sending",
];

/// Answers to the question for an address that mean: do not send.
const DECLINED: &[&str] = &[
    "nowhere",
    "none",
    "no",
    "nothing",
    "skip",
    "don't",
    "not yet",
    "do not",
    "no address",
    "n/a",
    "never mind",
    "nevermind",
    "leave it out",
    "without sending",
];

pub(crate) struct Goal<'a> {
    pub(crate) text: &'a str,
    pub(crate) words: Words<'a>,
    context: &'a str,
}

/// Where the result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    No,
    To(String),
    /// The goal asks for it and names no address. `answered`: the context has one that is none.
    Unknown {
        answered: bool,
    },
}

impl<'a> Goal<'a> {
    pub(crate) fn of(goal: &'a AgentGoal) -> Self {
        let text = goal.description.trim();
        let context = goal.context.as_deref().unwrap_or_default().trim();
        Self { text, words: Words::of(text), context }
    }

    /// The index of the first word that says something about the agent.
    pub(crate) fn content_from(&self) -> usize {
        let is_leading = |word: &str| LEADING.contains(&word);
        self.words.plain_words().position(|word| !is_leading(word)).unwrap_or(self.words.len())
    }

    pub(crate) fn has(&self, phrases: &[&str]) -> bool {
        self.words.has(phrases)
    }

    pub(crate) fn quoted(&self) -> Vec<&'a str> {
        quoted(self.text)
    }

    pub(crate) fn wants_approval(&self) -> bool {
        self.has(APPROVAL)
    }

    /// The page that the agent reads, if the goal names one.
    pub(crate) fn page(&self) -> Option<String> {
        let addresses = self.words.addresses();
        addresses.into_iter().find(|(before, _)| !is_destination(*before)).map(|(_, page)| page)
    }

    /// `reads_page`: an address in the goal may be that of the page that the agent reads.
    pub(crate) fn sending(&self, reads_page: bool) -> Sending {
        if !self.has(SENDING) || self.has(NOT_SENDING) {
            return Sending::No;
        }
        let is_for_sending = |before: Option<&str>| !reads_page || is_destination(before);
        let in_goal =
            self.words.addresses().into_iter().find(|(before, _)| is_for_sending(*before));
        if let Some((_, address)) = in_goal {
            return Sending::To(address);
        }
        if self.context.is_empty() {
            return Sending::Unknown { answered: false };
        }
        match answered_address(self.context) {
            Some(address) => Sending::To(address),
            None if is_declined(self.context) => Sending::No,
            None => Sending::Unknown { answered: true },
        }
    }
}

fn is_destination(before: Option<&str>) -> bool {
    matches!(before, Some("to" | "into" | "via" | "using" | "webhook"))
}

/// The last web address in the context: a later answer counts. The scheme may be missing.
fn answered_address(context: &str) -> Option<String> {
    let words = Words::of(context);
    if let Some((_, address)) = words.addresses().pop() {
        return Some(address);
    }
    let is_host = |word: &&str| {
        let host = word.split('/').next().unwrap_or_default();
        let is_name = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        host.split('.').count() > 1
            && host.split('.').all(is_name)
            && host
                .rsplit('.')
                .next()
                .is_some_and(|last| last.len() > 1 && !last.chars().all(|c| c.is_ascii_digit()))
    };
    let found = words.plain_words().filter(is_host).last();
    found.map(|host| format!("https://{host}"))
}

fn is_declined(context: &str) -> bool {
    // An answer stands after its question.
    let answer = context.rsplit(['?', '\n']).find(|part| !part.trim().is_empty());
    let answer = answer.unwrap_or(context).trim_start_matches([':', ' ']);
    Words::of(answer).has(DECLINED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(description: &str, context: Option<&str>) -> Sending {
        let goal = AgentGoal {
            description: description.to_owned(),
            context: context.map(str::to_owned),
            ..AgentGoal::default()
        };
        Goal::of(&goal).sending(false)
    }

    #[test]
    fn the_address_comes_from_the_goal_or_from_the_answer() {
        let asked = "To which web address should the invoice be sent?";
        let to = |address: &str| Sending::To(address.to_owned());
        for (goal, context, expected) in [
            ("totals an invoice", None, Sending::No),
            ("totals an invoice without sending it", None, Sending::No),
            ("totals an invoice and sends it", None, Sending::Unknown { answered: false }),
            ("posts it to https://a.example/in.", None, to("https://a.example/in")),
            ("sends it", Some("https://b.example"), to("https://b.example")),
            ("sends it", Some(": b.example/in"), to("https://b.example/in")),
            ("sends it", Some("whatever you like"), Sending::Unknown { answered: true }),
        ] {
            assert_eq!(sending(goal, context), expected, "{goal} {context:?}");
        }
        for (answer, expected) in [
            ("https://c.example/x", to("https://c.example/x")),
            ("Nowhere yet", Sending::No),
            ("skip it", Sending::No),
            ("the moon", Sending::Unknown { answered: true }),
        ] {
            let context = format!("{asked}: {answer}");
            assert_eq!(sending("sends it", Some(&context)), expected, "{answer}");
            let context = format!("{asked}\n{answer}");
            assert_eq!(sending("sends it", Some(&context)), expected, "{answer}");
        }
    }

    #[test]
    fn approval_is_asked_for_in_many_ways() {
        for text in [
            "asks me before sending it",
            "waits for my approval",
            "lets me check it first",
            "sends it only after I have checked it",
            "asks for my OK",
            "I approve every letter",
            "checks with me",
            "needs my permission to post",
        ] {
            let goal = AgentGoal { description: text.to_owned(), ..AgentGoal::default() };
            assert!(Goal::of(&goal).wants_approval(), "{text}");
        }
        let goal =
            AgentGoal { description: "asks me for a text".to_owned(), ..AgentGoal::default() };
        assert!(!Goal::of(&goal).wants_approval());
    }
}
