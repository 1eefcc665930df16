//! Sentences that the offline pilot understands, so that new users can try everything without learning its commands.
//! Each stands for one or more commands; no other sentences are known.

/// A group of sentences.
pub struct SentenceTheme {
    pub name: &'static str,
    pub sentences: &'static [KnownSentence],
}

pub struct KnownSentence {
    pub words: &'static str,
    commands: &'static str,
}

pub const THEMES: &[SentenceTheme] = &[
    SentenceTheme {
        name: "Try it out",
        sentences: &[
            KnownSentence { words: "What can you do?", commands: "/help" },
            KnownSentence {
                words: "Show me what your tools can do",
                commands: r##"/tool todo_write {"todos": [{"content": "Look something up", "status": "in_progress", "activeForm": "Looking something up"}, {"content": "Write it down", "status": "pending"}]}
/tool search_docs {"query": "resume a stream"}
/tool write_workspace_file {"filename": "notes.md", "overwrite": true, "content": "# Notes\n\nEvery connection is a reader of one log."}"##,
            },
            KnownSentence {
                words: "Write a long answer",
                commands: "/stream count=300 size=12 delay_ms=50",
            },
            KnownSentence {
                words: "Ask me a question",
                commands: r#"/tool ask_question {"questions": [{"question": "Where is the ship going?", "keyword": "port", "example": "Vlissingen"}, {"question": "What is it carrying?", "keyword": "cargo", "example": "Herring"}]}"#,
            },
        ],
    },
    SentenceTheme {
        name: "Agents",
        sentences: &[
            KnownSentence {
                words: "Build an agent that totals an invoice and asks me before sending it",
                commands: r#"/tool get_agent_building_guide
/tool create_agent {"description": "Build an agent that totals an invoice and asks me before sending it"}"#,
            },
            KnownSentence {
                words: "Build an agent that writes a payment reminder for each row of a table",
                commands: r#"/tool get_agent_building_guide
/tool create_agent {"description": "Build an agent that writes a payment reminder for each row of a table"}"#,
            },
            KnownSentence {
                words: "Find an agent for invoices",
                commands: r#"/tool find_agent {"query": "invoice"}"#,
            },
            KnownSentence {
                words: "Run the invoice calculator",
                commands: r#"/tool run_agent {"username_agent_slug": "pilothouse/invoice-calculator", "use_defaults": true, "wait_for_result": 30}"#,
            },
            KnownSentence {
                words: "Write a letter for me to approve",
                commands: r#"/tool run_agent {"username_agent_slug": "pilothouse/approval-letter", "use_defaults": true, "wait_for_result": 5}"#,
            },
        ],
    },
    SentenceTheme {
        name: "Long-running tasks",
        sentences: &[
            KnownSentence {
                words: "Delegate a task",
                commands: r#"/tool run_sub_session {"prompt": "/stream count=100 size=12 delay_ms=60"}"#,
            },
            KnownSentence {
                words: "Run a slow command",
                commands: r#"/tool bash_exec {"command": "for i in 1 2 3 4 5; do echo mile $i; sleep 1; done"}"#,
            },
        ],
    },
];

/// The commands of a sentence. Case, spaces and final punctuation do not matter.
pub(crate) fn commands_for(message: &str) -> Option<&'static str> {
    let text = plain(message);
    let sentences = THEMES.iter().flat_map(|theme| theme.sentences);
    sentences.into_iter().find(|sentence| plain(sentence.words) == text).map(|known| known.commands)
}

fn plain(text: &str) -> String {
    let words = text.trim().trim_end_matches(['.', '?', '!']).split_whitespace();
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::offline::command::{self, PilotCommand};

    #[test]
    fn every_sentence_stands_for_valid_commands() {
        for sentence in THEMES.iter().flat_map(|theme| theme.sentences) {
            let commands = command::parse(sentence.commands);
            assert!(!commands.is_empty(), "{}", sentence.words);
            for command in commands {
                match command {
                    PilotCommand::Mistake(what) => panic!("{}: {what}", sentence.words),
                    PilotCommand::Tool { arguments, .. } => {
                        serde_json::from_str::<serde_json::Value>(&arguments)
                            .expect(sentence.words);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_sentence_is_recognized_in_any_spelling() {
        for text in
            ["What can you do?", "what can you do", " What  can you\ndo ?", "WHAT CAN YOU DO!"]
        {
            assert_eq!(commands_for(text), Some("/help"), "{text}");
        }
        assert_eq!(commands_for("What can you do for me?"), None);
        assert_eq!(commands_for(""), None);
    }
}
