//! Builds `multipart/form-data` bodies.

use rand::RngExt;
use serde_json::{Map, Value};

use crate::blocks::files::FileContent;
use crate::values::into_text;

/// The content type, which includes the boundary, and the body.
pub(crate) fn form(
    fields: &Map<String, Value>,
    files_name: &str,
    files: &[FileContent],
) -> (String, Vec<u8>) {
    // Random, so that a field cannot contain it.
    let boundary = format!("pilothouse{:032x}", rand::rng().random::<u128>());
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n",
            escape_name(name)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(into_text(value.clone()).as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    for file in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            escape_name(files_name),
            escape_name(&file.name),
            escape_name(&file.media_type)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&file.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Escapes quotes and line breaks in names, as browsers do.
fn escape_name(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_contains_fields_and_files_and_escapes_names() {
        let fields = Map::from_iter([("na\"me\r\nX: y".to_owned(), json!(7))]);
        let file = FileContent {
            name: "a.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: "hello".into(),
        };
        let (kind, body) = form(&fields, "upload", &[file]);
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
        let body = String::from_utf8(body).expect("text");
        let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
        assert_eq!(parts.len(), 4);
        assert_eq!(
            parts[1],
            "\r\nContent-Disposition: form-data; name=\"na%22me%0D%0AX: y\"\r\n\r\n7\r\n"
        );
        assert!(
            parts[2].contains("name=\"upload\"; filename=\"a.txt\"\r\nContent-Type: text/plain")
        );
        assert!(parts[2].ends_with("\r\n\r\nhello\r\n") && parts[3] == "--\r\n");
    }
}
