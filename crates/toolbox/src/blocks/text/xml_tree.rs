//! Parses XML into a tree of JSON values. Only the five predefined entities are expanded.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use serde_json::{Map, Value, json};

const MAX_XML_BYTES: usize = 10 * 1024 * 1024;
const MAX_DEPTH: usize = 64;

/// Returns the tree, or why the text could not be parsed.
pub(crate) fn parse(xml: &str) -> Result<Map<String, Value>, String> {
    if xml.len() > MAX_XML_BYTES {
        return Err(format!("it is longer than {} MiB", MAX_XML_BYTES / 1024 / 1024));
    }
    let mut reader = Reader::from_str(xml);
    let mut tree = XmlTree::default();
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
            Event::GeneralRef(reference) => tree.text(&resolve_reference(&reference)?)?,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => return tree.finish(),
        }
    }
}

#[derive(Default)]
struct XmlTree {
    open: Vec<XmlElement>,
    root: Option<(String, Value)>,
}

#[derive(Default)]
struct XmlElement {
    name: String,
    children: Map<String, Value>,
    text: String,
}

impl XmlTree {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        if self.open.is_empty() && self.root.is_some() {
            return Err("it has more than one root element".to_owned());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("its elements are nested more than {MAX_DEPTH} levels deep"));
        }
        let mut element = XmlElement { name: name(start.name().as_ref()), ..XmlElement::default() };
        // quick-xml's duplicate check is quadratic in the number of attributes; the map insertion below does it instead.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| error.to_string())?;
            let key = format!("@{}", name(attribute.key.as_ref()));
            if element.children.insert(key, json!(value)).is_some() {
                return Err(format!("the element `{}` has a duplicate attribute", element.name));
            }
        }
        self.open.push(element);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let element = self.open.pop().ok_or("it has an end tag without a start tag")?;
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
            None => return Err("it has text outside the root element".to_owned()),
        }
        Ok(())
    }

    fn finish(self) -> Result<Map<String, Value>, String> {
        match (self.open.last(), self.root) {
            (Some(element), _) => Err(format!("the element `{}` is not closed", element.name)),
            (None, Some(root)) => Ok(Map::from_iter([root])),
            (None, None) => Err("it has no elements".to_owned()),
        }
    }
}

impl XmlElement {
    /// Adds a child element; repeated names become a list.
    fn add(&mut self, name: String, value: Value) {
        match self.children.get_mut(&name) {
            Some(Value::Array(items)) => items.push(value),
            Some(first) => *first = json!([first.take(), value]),
            None => {
                self.children.insert(name, value);
            }
        }
    }

    /// Converts the element; one without attributes and children becomes its text.
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

fn resolve_reference(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    let name = reference.decode().map_err(|error| error.to_string())?;
    match quick_xml::escape::resolve_predefined_entity(&name) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("unknown entity `{name}`")),
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
    fn invalid_or_oversized_xml_is_rejected() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;</a>";
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        let long = format!("<a>{}</a>", " ".repeat(MAX_XML_BYTES));
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
