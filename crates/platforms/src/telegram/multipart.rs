//! A request with a file in it, as `multipart/form-data` (RFC 7578).

use serde_json::{Map, Value as Json};

use super::api::Upload;

/// Content type and body.
pub(super) fn body(parameters: &Map<String, Json>, files: &[Upload]) -> (String, Vec<u8>) {
    let boundary = boundary(parameters, files);
    let size: usize = files.iter().map(|file| file.bytes.len()).sum();
    let mut body = Vec::with_capacity(size + 1_024);
    for (name, value) in parameters {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n",
            quoted(name)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(text(value).as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    for file in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            quoted(&file.field),
            quoted(&file.name)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&file.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// One that nothing inside has.
fn boundary(parameters: &Map<String, Json>, files: &[Upload]) -> String {
    let has = |bytes: &[u8], part: &str| {
        let part = part.as_bytes();
        bytes.windows(part.len()).any(|window| window == part)
    };
    let texts: Vec<String> = parameters.values().map(text).collect();
    let mut number = 0_u32;
    loop {
        let boundary = format!("callgate-{number:08x}");
        let is_inside = texts.iter().any(|text| text.contains(&boundary));
        let in_file = |file: &Upload| has(&file.bytes, &boundary);
        if !is_inside && !files.iter().any(in_file) {
            return boundary;
        }
        number += 1;
    }
}

fn quoted(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '_' } else { c };
    name.chars()
        .map(plain)
        .collect::<String>()
        .replace('"', "%22")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sent_cannot_end_its_part() {
        let file = Upload {
            field: "photo".to_owned(),
            name: "a\"\r\nb.png".to_owned(),
            bytes: b"\r\n--callgate-00000000--\r\n".to_vec(),
        };
        let Json::Object(parameters) = json!({"chat_id": 7, "caption": "hi"}) else {
            unreachable!()
        };
        let (kind, body) = body(&parameters, &[file]);
        assert_eq!(kind, "multipart/form-data; boundary=callgate-00000001");
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("name=\"chat_id\"\r\n\r\n7\r\n"), "{body}");
        assert!(body.contains("filename=\"a%22__b.png\""), "{body}");
        assert!(body.ends_with("--callgate-00000000--\r\n\r\n--callgate-00000001--\r\n"));
    }
}
