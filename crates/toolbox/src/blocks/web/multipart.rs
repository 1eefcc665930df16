//! Forms that carry files.

use rand::RngExt;
use serde_json::{Map, Value};

use super::super::files::Content;
use crate::values::into_text;

/// The type of the body, which names the border between the parts, and the body.
pub(super) fn form(
    fields: &Map<String, Value>,
    files_name: &str,
    files: &[Content],
) -> (String, Vec<u8>) {
    // Nobody can guess it, so nobody can put it into a field.
    let border = format!("pilothouse{:032x}", rand::rng().random::<u128>());
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!(
            "--{border}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n",
            quoted(name)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(into_text(value.clone()).as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    for file in files {
        let head = format!(
            "--{border}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            quoted(files_name),
            quoted(&file.name),
            quoted(&file.media_type)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&file.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{border}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={border}"), body)
}

/// As browsers write names that hold what would end them.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_has_its_fields_and_files_and_cannot_be_broken_out_of() {
        let fields = Map::from_iter([("na\"me\r\nX: y".to_owned(), json!(7))]);
        let file = Content {
            name: "a.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: "hello".into(),
        };
        let (kind, body) = form(&fields, "upload", &[file]);
        let border = kind.strip_prefix("multipart/form-data; boundary=").expect("a border");
        let body = String::from_utf8(body).expect("text");
        let parts: Vec<&str> = body.split(&format!("--{border}")).collect();
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
