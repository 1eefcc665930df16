//! From XML to a tree of values. Entities are not expanded, except the five that every XML text knows.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use serde_json::{Map, Value, json};

const LONGEST_TEXT: usize = 10 * 1024 * 1024;
const DEEPEST: usize = 64;

/// The tree, or what is wrong with the text.
pub(super) fn parse(xml: &str) -> Result<Map<String, Value>, String> {
    if xml.len() > LONGEST_TEXT {
        return Err(format!("it is longer than {} MiB", LONGEST_TEXT / 1024 / 1024));
    }
    let mut reader = Reader::from_str(xml);
    let mut tree = Tree::default();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => tree.open(&start)?,
            Event::Empty(start) => {
                tree.open(&start)?;
                tree.close()?;
            }
            Event::End(_) => tree.close()?,
            Event::Text(text) => {
                tree.text(&text.xml10_content().map_err(|error| error.to_string())?)?;
            }
            Event::CData(text) => {
                tree.text(&text.xml10_content().map_err(|error| error.to_string())?)?;
            }
            Event::GeneralRef(reference) => tree.text(&letter(&reference)?)?,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => return tree.finish(),
        }
    }
}

#[derive(Default)]
struct Tree {
    open: Vec<Element>,
    root: Option<(String, Value)>,
}

#[derive(Default)]
struct Element {
    name: String,
    children: Map<String, Value>,
    text: String,
}

impl Tree {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        if self.open.is_empty() && self.root.is_some() {
            return Err("it has more than one outermost element".to_owned());
        }
        if self.open.len() == DEEPEST {
            return Err(format!("its elements are nested deeper than {DEEPEST} levels"));
        }
        let mut element = Element { name: name(start.name().as_ref()), ..Element::default() };
        // The library compares every attribute with all before it, which takes for ever where there are many.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| error.to_string())?;
            let key = format!("@{}", name(attribute.key.as_ref()));
            if element.children.insert(key, json!(value)).is_some() {
                return Err(format!("an element `{}` has an attribute twice", element.name));
            }
        }
        self.open.push(element);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let element = self.open.pop().ok_or("an element ends that did not begin")?;
        let (name, value) = (element.name.clone(), element.into_value());
        match self.open.last_mut() {
            Some(parent) => parent.add(name, value),
            None => self.root = Some((name, value)),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err("it has text outside of the outermost element".to_owned()),
        }
        Ok(())
    }

    fn finish(self) -> Result<Map<String, Value>, String> {
        match (self.open.last(), self.root) {
            (Some(element), _) => Err(format!("the element `{}` does not end", element.name)),
            (None, Some(root)) => Ok(Map::from_iter([root])),
            (None, None) => Err("it has no element".to_owned()),
        }
    }
}

impl Element {
    /// The second element of a name makes a list of it.
    fn add(&mut self, name: String, value: Value) {
        match self.children.get_mut(&name) {
            Some(Value::Array(items)) => items.push(value),
            Some(first) => *first = json!([first.take(), value]),
            None => {
                self.children.insert(name, value);
            }
        }
    }

    /// An element with nothing but text is the text.
    fn into_value(mut self) -> Value {
        let text = self.text.trim();
        if self.children.is_empty() {
            return text.into();
        }
        if !text.is_empty() {
            self.children.insert("#text".to_owned(), text.into());
        }
        self.children.into()
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn letter(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(letter) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(letter.to_string());
    }
    let name = reference.decode().map_err(|error| error.to_string())?;
    match quick_xml::escape::resolve_predefined_entity(&name) {
        Some(letter) => Ok(letter.to_owned()),
        None => Err(format!("there is no entity `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_values() {
        let table = [
            ("<a/>", json!({ "a": "" })),
            (
                "<?xml version='1.0'?><!-- note --><a> x <b>1</b> y </a>",
                json!({ "a": { "b": "1", "#text": "x  y" } }),
            ),
            ("<a x='1 &lt; 2'>t</a>", json!({ "a": { "@x": "1 < 2", "#text": "t" } })),
            ("<a><![CDATA[<raw>]]>&#65;&gt;</a>", json!({ "a": "<raw>A>" })),
            ("<a><b/><b>2</b><b><c/></b></a>", json!({ "a": { "b": ["", "2", { "c": "" }] } })),
        ];
        for (xml, tree) in table {
            assert_eq!(parse(xml).map(Value::Object), Ok(tree), "{xml}");
        }
    }

    #[test]
    fn what_is_no_xml_or_too_much_is_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;</a>";
        let deep = "<a>".repeat(DEEPEST + 1);
        let long = format!("<a>{}</a>", " ".repeat(LONGEST_TEXT));
        for xml in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "<a x=1/>",
            "<a b='1' b='2'/>",
            "&lt;",
            bomb,
            &deep,
            &long,
        ] {
            let shown: String = xml.chars().take(40).collect();
            assert!(parse(xml).is_err(), "{shown}");
        }
    }
}
