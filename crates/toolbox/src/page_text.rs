//! Converts an HTML page to readable text: title, text, headings, lists and links. Works on the token stream without
//! building a tree, so that a deeply nested or malformed page takes hardly longer than any other.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::{Duration, Instant};

use encoding_rs::{Encoding, UTF_8};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer,
};
use url::Url;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageText {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The time limit was reached; `text` holds what was read until then.
    pub(crate) unfinished: bool,
}

/// An ordinary page takes milliseconds. One tag with a hundred thousand attributes takes longer, because the tokenizer
/// compares each attribute with all before it.
const READING_TIME: Duration = Duration::from_secs(2);
/// Bytes read between two checks of the clock.
const PIECE_BYTES: usize = 16 * 1024;

/// Decodes by the server's charset, else as UTF-8; a byte order mark overrides both.
pub(crate) fn decode<'a>(body: &'a [u8], content_type: &str) -> Cow<'a, str> {
    let named = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    let encoding = named.and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(body).0
}

pub(crate) fn from_html(html: &str, address: &Url) -> PageText {
    let sink = HtmlTextSink { address: address.clone(), page: RefCell::default() };
    let tokenizer = Tokenizer::new(sink, Default::default());
    let queue = BufferQueue::default();
    let (started, mut rest) = (Instant::now(), html);
    while !rest.is_empty() && started.elapsed() < READING_TIME {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = after;
        queue.push_back(StrTendril::from(piece));
        // The tokenizer pauses where a browser would run a script; feeding again continues.
        while !queue.is_empty() {
            let _ = tokenizer.feed(&queue);
        }
    }
    tokenizer.end();
    let page = tokenizer.sink.page.take();
    let title = one_line(&page.title);
    PageText {
        title: (!title.is_empty()).then_some(title),
        text: page.text.trim().to_owned(),
        unfinished: !rest.is_empty(),
    }
}

/// Elements whose content is dropped.
const SKIPPED: &[&str] = &["iframe", "noscript", "object", "script", "style", "svg", "template"];
/// Elements set off by empty lines.
const PARAGRAPHS: &[&str] =
    &["blockquote", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"];
/// Elements that start on a new line.
const LINES: &[&str] = &[
    "address",
    "article",
    "aside",
    "br",
    "dd",
    "div",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "option",
    "section",
    "tr",
];

struct HtmlTextSink {
    address: Url,
    page: RefCell<PageBuilder>,
}

#[derive(Default)]
struct PageBuilder {
    text: String,
    title: String,
    /// The element being skipped, and its nesting depth.
    skipping: Option<(String, usize)>,
    in_title: bool,
    preformatted: usize,
    /// Text offset at which the open link starts, and its target.
    link: Option<(usize, String)>,
}

impl TokenSink for HtmlTextSink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.page.borrow_mut();
        match token {
            Token::CharacterTokens(words) => page.words(&words),
            Token::TagToken(tag) => return page.tag(&tag, &self.address),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl PageBuilder {
    fn tag(&mut self, tag: &Tag, address: &Url) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        match (&mut self.skipping, tag.kind) {
            (Some((skipped, depth)), TagKind::StartTag) if skipped == name => *depth += 1,
            (Some((skipped, depth)), TagKind::EndTag) if skipped == name => {
                *depth -= 1;
                if *depth == 0 {
                    self.skipping = None;
                }
            }
            (Some(_), _) => {}
            (None, TagKind::StartTag) if SKIPPED.contains(&name) && !tag.self_closing => {
                self.skipping = Some((name.to_owned(), 1));
            }
            (None, TagKind::StartTag) => self.open(tag, address),
            (None, TagKind::EndTag) => self.close(name),
        }
        match (tag.kind, name) {
            // In these elements `<` does not start a tag; without the hint a script would be tokenized as markup.
            (TagKind::StartTag, "script") => TokenSinkResult::RawData(RawKind::ScriptData),
            (TagKind::StartTag, "style" | "iframe") => TokenSinkResult::RawData(RawKind::Rawtext),
            (TagKind::StartTag, "title" | "textarea") => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }

    fn open(&mut self, tag: &Tag, address: &Url) {
        let name: &str = &tag.name;
        self.separate(name);
        match name {
            "title" => self.in_title = true,
            "pre" => self.preformatted += 1,
            "li" => self.text.push_str("- "),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.text.push_str(&"#".repeat(level));
                self.text.push(' ');
            }
            "a" => {
                self.close_link();
                let href = tag.attrs.iter().find(|attribute| &*attribute.name.local == "href");
                let target = href.and_then(|href| address.join(&href.value).ok());
                let target = target.filter(|url| matches!(url.scheme(), "http" | "https"));
                self.link = target.map(|url| (self.text.len(), url.to_string()));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "a" => self.close_link(),
            "td" | "th" => self.text.push_str(" | "),
            _ => {}
        }
        self.separate(name);
    }

    fn close_link(&mut self) {
        let Some((start, target)) = self.link.take() else { return };
        // Spaces before the link may have been trimmed since, which makes its offset invalid.
        let Some(inside) = self.text.get(start..) else { return };
        let words = one_line(inside);
        if !words.is_empty() {
            let space = if inside.starts_with(' ') { " " } else { "" };
            self.text.truncate(start);
            self.text.push_str(&format!("{space}[{words}]({target})"));
        }
    }

    fn words(&mut self, words: &str) {
        if self.skipping.is_some() {
            return;
        }
        let into = if self.in_title { &mut self.title } else { &mut self.text };
        if self.preformatted > 0 {
            into.push_str(words);
            return;
        }
        for c in words.chars() {
            match c.is_whitespace() {
                false => into.push(c),
                true if into.is_empty() || into.ends_with([' ', '\n']) => {}
                true => into.push(' '),
            }
        }
    }

    /// Ends the line; paragraphs get an empty line before and after.
    fn separate(&mut self, name: &str) {
        let wanted = match () {
            () if PARAGRAPHS.contains(&name) => "\n\n",
            () if LINES.contains(&name) => "\n",
            () => return,
        };
        self.text.truncate(self.text.trim_end_matches(' ').len());
        while !self.text.is_empty() && !self.text.ends_with(wanted) {
            self.text.push('\n');
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> PageText {
        from_html(html, &Url::parse("https://site.example/a/").expect("a URL"))
    }

    #[test]
    fn a_page_becomes_readable_text() {
        let page = read(
            "<!doctype html><html><head><title> The &amp; Title </title><style>p { color: red }</style>
            <script>if (1 < 2) document.write('<p>no</p>')</script></head>
            <body><h1>Top</h1><p>One   two<br>three <a href='../b'>a <b>link</b></a>, <a href='javascript:x'>not</a>.</p>
            <ul><li>first<li>second</ul><table><tr><td>1</td><td>2</td></tr></table>
            <pre>a  b\n  c</pre><svg><svg><text>no</text></svg></svg><noscript>no</noscript>&lt;end&gt;</body></html>",
        );
        assert_eq!(page.title.as_deref(), Some("The & Title"));
        assert_eq!(
            page.text,
            "# Top\n\nOne two\nthree [a link](https://site.example/b), not.\n\n- first\n- second\n\n1 | 2 |\n\na  b\n  c\n\n<end>"
        );
    }

    #[test]
    fn text_is_decoded_by_the_charset_of_the_server() {
        assert_eq!(decode(b"\xe4", "text/plain; charset=ISO-8859-1"), "ä");
        assert_eq!(decode("ä".as_bytes(), "text/plain; charset=\"utf-8\""), "ä");
        assert_eq!(decode("ä".as_bytes(), "text/plain"), "ä");
        assert_eq!(decode(b"\xff", "text/plain; charset=nonsense"), "\u{FFFD}");
    }

    #[test]
    fn a_hostile_page_is_read_in_bounded_time() {
        let repeated = [
            "<div>",
            "<ul><li>x",
            "<table><tr><td colspan=1000000>x",
            "<a href=x>",
            "<pre>x",
            "<!--",
            "&",
        ]
        .map(|unit| unit.repeat(200_000 / unit.len()));
        let attributes: String = (0..100_000).map(|number| format!(" a{number}")).collect();
        for html in repeated.into_iter().chain([format!("<p{attributes}>x")]) {
            let started = Instant::now();
            let page = read(&html);
            // Generous for a slow machine and a debug build; building a tree of the same page takes minutes.
            let elapsed = started.elapsed();
            assert!(elapsed < Duration::from_secs(10), "{} took {elapsed:?}", &html[..10]);
            assert!(page.text.len() < 2_000_000, "{} became {}", &html[..10], page.text.len());
        }
    }
}
