//! The user guide, compiled into the program so that the copilot explains the version that is running.

use std::sync::Arc;

use protocol::response::DocHit;

/// Path and content of each page.
const GUIDE: &[(&str, &str)] = &[
    ("agents.md", include_str!("../../../../docs/guide/agents.md")),
    ("blocks.md", include_str!("../../../../docs/guide/blocks.md")),
    ("building-agents.md", include_str!("../../../../docs/guide/building-agents.md")),
    ("errors.md", include_str!("../../../../docs/guide/errors.md")),
    ("files-and-shell.md", include_str!("../../../../docs/guide/files-and-shell.md")),
    ("getting-started.md", include_str!("../../../../docs/guide/getting-started.md")),
    ("long-running-work.md", include_str!("../../../../docs/guide/long-running-work.md")),
    ("models-and-providers.md", include_str!("../../../../docs/guide/models-and-providers.md")),
    ("operations.md", include_str!("../../../../docs/guide/operations.md")),
    ("security.md", include_str!("../../../../docs/guide/security.md")),
    ("sessions-and-turns.md", include_str!("../../../../docs/guide/sessions-and-turns.md")),
    ("streaming-and-resume.md", include_str!("../../../../docs/guide/streaming-and-resume.md")),
    ("tools.md", include_str!("../../../../docs/guide/tools.md")),
    ("web.md", include_str!("../../../../docs/guide/web.md")),
];

const SNIPPET_CHARS: usize = 240;
const TITLE_WEIGHT: f64 = 8.0;
const HEADING_WEIGHT: f64 = 4.0;
/// Occurrences of a word in the body that add to the score; more do not make a page more relevant.
const COUNTED_OCCURRENCES: usize = 5;

#[derive(Clone)]
pub struct UserGuide {
    pages: Arc<[GuidePage]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidePage {
    pub path: String,
    pub title: String,
    pub content: String,
}

impl UserGuide {
    /// The guide of the running version.
    pub fn bundled() -> Self {
        Self::new(GUIDE.iter().map(|(path, content)| (*path, *content)))
    }

    fn new<'a>(pages: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let pages = pages.map(|(path, content)| GuidePage {
            path: path.to_owned(),
            title: headings(content).next().unwrap_or(path).to_owned(),
            content: content.to_owned(),
        });
        Self { pages: pages.collect() }
    }

    /// The pages that match the query best, best match first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<DocHit> {
        let terms = terms(query);
        let mut hits: Vec<DocHit> = self
            .pages
            .iter()
            .map(|page| (score(page, &terms), page))
            .filter(|(score, _)| *score > 0.0)
            .map(|(score, page)| DocHit {
                title: page.title.clone(),
                path: page.path.clone(),
                snippet: snippet(&page.content, &terms),
                score: (score * 100.0).round() / 100.0,
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        hits.truncate(limit);
        hits
    }

    /// Finds a page by its path; folder, case and `.md` are ignored.
    pub fn page(&self, path: &str) -> Option<&GuidePage> {
        let wanted = bare(path);
        self.pages.iter().find(|page| bare(&page.path) == wanted)
    }

    /// Paths that share a word with a path that does not exist; all paths when none does.
    pub fn similar_paths(&self, path: &str) -> Vec<&str> {
        let words = terms(&bare(path));
        let shares = |page: &&GuidePage| words.iter().any(|word| page.path.contains(word.as_str()));
        let near: Vec<&str> =
            self.pages.iter().filter(shares).map(|page| page.path.as_str()).collect();
        if near.is_empty() {
            self.pages.iter().map(|page| page.path.as_str()).collect()
        } else {
            near
        }
    }
}

fn bare(path: &str) -> String {
    let path = path.trim().to_ascii_lowercase();
    let path = path.rsplit('/').next().unwrap_or_default();
    path.strip_suffix(".md").unwrap_or(path).to_owned()
}

fn headings(content: &str) -> impl Iterator<Item = &str> {
    content
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
}

/// The distinct words of a text in lower case, without stop words.
fn terms(text: &str) -> Vec<String> {
    const STOP_WORDS: &[&str] = &[
        "a", "an", "and", "are", "can", "do", "does", "for", "how", "i", "in", "is", "it", "of",
        "on", "or", "that", "the", "to", "what", "when", "where", "with",
    ];
    let mut terms: Vec<String> = Vec::new();
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_') {
        // Terms match beginnings of words, so without its "s" a plural also finds the singular.
        let word = word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word);
        if !word.is_empty()
            && !STOP_WORDS.contains(&word)
            && !terms.iter().any(|known| known == word)
        {
            terms.push(word.to_owned());
        }
    }
    terms
}

fn score(page: &GuidePage, terms: &[String]) -> f64 {
    let (title, body) = (page.title.to_lowercase(), page.content.to_lowercase());
    let headings: Vec<String> = headings(&page.content).map(str::to_lowercase).collect();
    let of_term = |term: &String| {
        let in_title = f64::from(u8::from(begins_a_word(&title, term)));
        let in_headings = headings.iter().filter(|heading| begins_a_word(heading, term)).count();
        let in_body = occurrences(&body, term).take(COUNTED_OCCURRENCES).count();
        in_title * TITLE_WEIGHT + in_headings as f64 * HEADING_WEIGHT + in_body as f64
    };
    let scores: Vec<f64> = terms.iter().map(of_term).collect();
    let found = scores.iter().filter(|score| **score > 0.0).count();
    // A page with all the words ranks above one that has a single word often.
    scores.iter().sum::<f64>() * found as f64 / terms.len().max(1) as f64
}

fn begins_a_word(text: &str, term: &str) -> bool {
    occurrences(text, term).next().is_some()
}

fn occurrences<'a>(text: &'a str, term: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(term).map(|(at, _)| at).filter(|at| {
        !text[..*at].chars().next_back().is_some_and(|before| before.is_alphanumeric())
    })
}

/// The paragraph with most of the terms, on one line; the first of equals, because introductions come first.
fn snippet(content: &str, terms: &[String]) -> String {
    let weight = |paragraph: &str| {
        let small = paragraph.to_lowercase();
        terms.iter().filter(|term| begins_a_word(&small, term)).count()
    };
    let best = content
        .split("\n\n")
        .filter(|paragraph| !paragraph.starts_with('#'))
        .map(|paragraph| (weight(paragraph), paragraph))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or("", |(_, paragraph)| paragraph);
    let line = best.split_whitespace().collect::<Vec<_>>().join(" ");
    protocol::text::cut_end(&line, SNIPPET_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_matching_page_comes_first() {
        let guide = UserGuide::bundled();
        for (query, path) in [
            ("How do I resume a stream?", "streaming-and-resume.md"),
            ("bash sandbox limits", "files-and-shell.md"),
            ("which error codes are there", "errors.md"),
            ("choose an anthropic model", "models-and-providers.md"),
            ("health and metrics", "operations.md"),
        ] {
            let hits = guide.search(query, 5);
            assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some(path), "{query}: {hits:?}");
            assert!(hits.len() <= 5 && hits.iter().all(|hit| !hit.snippet.is_empty()));
        }
        assert!(guide.search("xylophone", 5).is_empty());
        assert!(guide.search("the of and", 5).is_empty());
    }

    #[test]
    fn a_page_is_found_by_any_form_of_its_path() {
        let guide = UserGuide::bundled();
        for path in ["tools.md", "tools", "guide/tools.md", "/docs/guide/Tools.md"] {
            assert_eq!(guide.page(path).map(|page| page.path.as_str()), Some("tools.md"), "{path}");
        }
        assert_eq!(guide.page("no-such-page"), None);
        assert_eq!(guide.similar_paths("stream"), ["streaming-and-resume.md"]);
        assert_eq!(guide.similar_paths("qqq").len(), GUIDE.len());
    }

    #[test]
    fn the_guide_names_every_code_and_every_page() {
        let guide = UserGuide::bundled();
        let errors = &guide.page("errors.md").expect("the page").content;
        for code in protocol::problem::ProblemCode::ALL {
            assert!(errors.contains(&format!("`{}`", code.as_str())), "{}", code.as_str());
        }
        for code in graphs::problem::ProblemCode::ALL {
            assert!(errors.contains(&format!("`{}`", code.as_str())), "{}", code.as_str());
        }
        for code in protocol::turn::FailureCode::ALL {
            assert!(errors.contains(&format!("`{}`", code.as_str())), "{}", code.as_str());
        }
        let start = &guide.page("getting-started.md").expect("the page").content;
        for (path, content) in GUIDE {
            assert!(content.starts_with("# "), "{path}");
            assert!(*path == "getting-started.md" || start.contains(path), "{path} is not linked");
        }
    }
}
