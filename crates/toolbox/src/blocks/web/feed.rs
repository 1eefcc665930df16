//! Parses RSS and Atom feeds into entries.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;
use serde_json::{Value, json};

/// Limit on the entries of a feed.
const MAX_ENTRIES: usize = 1_000;
/// Limit on the nesting of elements. Feeds need few levels.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FeedEntry {
    pub(crate) title: String,
    pub(crate) link: String,
    pub(crate) description: String,
    /// `None` if the feed has no valid date.
    pub(crate) published: Option<Timestamp>,
    pub(crate) author: String,
    pub(crate) categories: Vec<String>,
    content: String,
    updated: Option<Timestamp>,
}

impl FeedEntry {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "title": self.title,
            "link": self.link,
            "description": self.description,
            "pub_date": self.published,
            "author": self.author,
            "categories": self.categories,
        })
    }

    fn set_field(&mut self, element: &str, parent: &str, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let set_once = |field: &mut String| {
            if field.is_empty() {
                text.clone_into(field);
            }
        };
        match (parent, element) {
            ("author" | "atom:author", "name" | "atom:name") => set_once(&mut self.author),
            ("item" | "entry", element) => match element {
                "title" => set_once(&mut self.title),
                "link" | "guid" if text.starts_with("http") => set_once(&mut self.link),
                "description" | "summary" => set_once(&mut self.description),
                "content" | "content:encoded" => set_once(&mut self.content),
                "author" | "dc:creator" => set_once(&mut self.author),
                "category" => self.categories.push(text.to_owned()),
                "pubDate" | "published" | "dc:date" => {
                    self.published = self.published.or(time(text))
                }
                "updated" => self.updated = self.updated.or(time(text)),
                _ => {}
            },
            _ => {}
        }
    }

    /// Reads the fields that Atom keeps in attributes.
    fn set_attributes(&mut self, element: &BytesStart<'_>, parent: &str) {
        let attribute = |name: &str| {
            let found = element.try_get_attribute(name).ok().flatten()?;
            Some(String::from_utf8_lossy(&found.value).replace("&amp;", "&"))
        };
        match (parent, element.name().as_ref()) {
            ("item" | "entry", b"link") => {
                let is_page_link = attribute("rel").is_none_or(|rel| rel == "alternate");
                if let (true, true, Some(link)) =
                    (self.link.is_empty(), is_page_link, attribute("href"))
                {
                    self.link = link;
                }
            }
            ("item" | "entry", b"category") => self.categories.extend(attribute("term")),
            _ => {}
        }
    }

    fn finished(mut self) -> Self {
        if self.description.is_empty() {
            self.description = std::mem::take(&mut self.content);
        }
        self.published = self.published.or(self.updated);
        self
    }
}

/// `None` if the text is not a feed.
pub(crate) fn read(feed: &str) -> Option<Vec<FeedEntry>> {
    let mut reader = Reader::from_str(feed);
    reader.config_mut().check_end_names = false;
    let mut parser = FeedParser::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                parser.begin(&element);
                if parser.open.len() > MAX_DEPTH {
                    return None;
                }
            }
            Ok(Event::Empty(element)) => {
                parser.begin(&element);
                parser.end();
            }
            Ok(Event::End(_)) => parser.end(),
            Ok(Event::Text(text)) => parser.text.push_str(&text.decode().unwrap_or_default()),
            Ok(Event::CData(text)) => parser.text.push_str(&text.decode().unwrap_or_default()),
            Ok(Event::GeneralRef(reference)) => {
                parser.text.push_str(&resolve_reference(&reference))
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            // Entries before a syntax error are kept.
            Err(_) => break,
        }
        if parser.entries.len() == MAX_ENTRIES {
            break;
        }
    }
    parser.is_feed.then_some(parser.entries)
}

#[derive(Default)]
struct FeedParser {
    open: Vec<String>,
    text: String,
    entry: Option<FeedEntry>,
    entries: Vec<FeedEntry>,
    is_feed: bool,
}

impl FeedParser {
    fn begin(&mut self, element: &BytesStart<'_>) {
        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        if self.open.is_empty() {
            self.is_feed = matches!(name.as_str(), "rss" | "feed" | "rdf:RDF");
        }
        let parent = self.open.last().map_or("", String::as_str);
        match &mut self.entry {
            Some(entry) => entry.set_attributes(element, parent),
            None if self.is_feed && matches!(name.as_str(), "item" | "entry") => {
                self.entry = Some(FeedEntry::default());
            }
            None => {}
        }
        self.open.push(name);
        // Nested markup inside a field keeps the text before it.
        if self.open.len() <= 1 || self.is_field() {
            self.text.clear();
        }
    }

    fn end(&mut self) {
        let is_field = self.is_field();
        let Some(name) = self.open.pop() else { return };
        let parent = self.open.last().map_or("", String::as_str);
        match (&mut self.entry, name.as_str()) {
            (Some(_), "item" | "entry") => {
                self.entries.extend(self.entry.take().map(FeedEntry::finished))
            }
            (Some(entry), name) => entry.set_field(name, parent, &self.text),
            (None, _) => {}
        }
        if is_field {
            self.text.clear();
        }
    }

    /// Whether the innermost element is a direct child of an entry or its author.
    fn is_field(&self) -> bool {
        let parent = self.open.len().checked_sub(2).and_then(|at| self.open.get(at));
        parent.is_some_and(|parent| matches!(parent.as_str(), "item" | "entry" | "author"))
    }
}

/// Resolves a character reference or one of the five XML entities; unknown (HTML) entities become a space.
fn resolve_reference(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_predefined_entity(&name).unwrap_or(" ").to_owned()
}

fn time(text: &str) -> Option<Timestamp> {
    let as_rfc2822 = || rfc2822::parse(text).ok().map(|zoned| zoned.timestamp());
    text.parse().ok().or_else(as_rfc2822)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSS: &str = r#"<?xml version="1.0"?><rss version="2.0" xmlns:dc="x"><channel><title>News</title>
        <link>https://a.example/</link>
        <item><title>Rain &amp; wind &#8211; again</title><link>https://a.example/1</link>
          <description><![CDATA[<b>Wet.</b>]]></description><pubDate>Fri, 23 Jun 2023 12:30:00 GMT</pubDate>
          <dc:creator>Ada</dc:creator><category>Weather</category><category>Sea</category></item>
        <item><title>Sun</title><guid>https://a.example/2</guid></item></channel></rss>"#;

    const ATOM: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
        <entry><title type="html">Tide</title><link rel="self" href="https://b.example/x"/>
          <link href="https://b.example/1?a=1&amp;b=2"/><author><name>Bo</name><email>b@b.example</email></author>
          <updated>2024-01-02T03:04:05Z</updated><category term="Sea"/>
          <content type="xhtml"><div>High <b>tide</b> today</div></content></entry></feed>"#;

    #[test]
    fn an_rss_feed_is_parsed() {
        let entries = read(RSS).expect("a feed");
        assert_eq!(
            entries[0].to_json(),
            json!({
                "title": "Rain & wind – again", "link": "https://a.example/1", "description": "<b>Wet.</b>",
                "pub_date": "2023-06-23T12:30:00Z", "author": "Ada", "categories": ["Weather", "Sea"],
            })
        );
        assert_eq!((entries.len(), entries[1].link.as_str()), (2, "https://a.example/2"));
        assert_eq!(entries[1].published, None);
    }

    #[test]
    fn an_atom_feed_is_parsed() {
        let entries = read(ATOM).expect("a feed");
        assert_eq!(
            entries[0].to_json(),
            json!({
                "title": "Tide", "link": "https://b.example/1?a=1&b=2", "description": "High tide today",
                "pub_date": "2024-01-02T03:04:05Z", "author": "Bo", "categories": ["Sea"],
            })
        );
    }

    #[test]
    fn non_feeds_are_rejected_and_truncated_feeds_keep_their_first_entries() {
        for text in ["", "{}", "<html><item><title>x</title></item></html>", &"<rss>".repeat(1000)]
        {
            assert!(read(text).is_none(), "{text}");
        }
        let cut = &RSS[..RSS.find("<item><title>Sun").expect("the second entry") + 10];
        assert_eq!(read(cut).map(|entries| entries.len()), Some(1));
    }
}
