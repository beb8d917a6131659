//! The curl commands of the specification's first document, run with the real curl, with ids filled in.

use crate::harness::{open, unique};
use serde_json::{Value, json};
use std::process::Command;

/// Runs curl with these arguments, and returns the status and the body.
fn curl(arguments: &[&str]) -> (u16, Value) {
    let output =
        Command::new("curl").args(["-sS", "-w", "\n%{http_code}"]).args(arguments).output().expect("curl runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap() };
    (status.parse().unwrap(), body)
}

#[test]
fn the_first_documents_lines_answer_as_it_says() {
    let url = open().url();
    let workspace_id = unique("ws");
    let header = &format!("X-Workspace-Id: {workspace_id}");
    let agent = open().client(&workspace_id).agent(json!({}));

    let (status, list) = curl(&["-X", "GET", &format!("{url}/api/tools?category=email"), "-H", header]);
    assert_eq!(status, 200);
    let ids = list["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids, ["email_search", "email_get"]);

    let (status, tool) = curl(&["-X", "GET", &format!("{url}/api/tools/email_search"), "-H", header]);
    assert_eq!((status, &tool["name"], &tool["handler_key"]), (200, &json!("Search Emails"), &json!("email_search")));
    assert!(tool["parameters_schema"].is_string());
    let (status, refused) = curl(&["-X", "GET", &format!("{url}/api/tools/unknown"), "-H", header]);
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("NOT_FOUND")));

    let tools = &format!("{url}/api/agents/{agent}/tools");
    let body = r#"{"tool_id": "email_search", "config": {"default_limit": 20}}"#;
    let attach = ["-X", "POST", tools, "-H", header, "-H", "Content-Type: application/json", "-d", body];
    let (status, attached) = curl(&attach);
    assert_eq!(
        (status, &attached["id"], &attached["config"]),
        (201, &json!("email_search"), &json!({"default_limit": 20}))
    );
    let (status, refused) = curl(&attach);
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("ALREADY_EXISTS")));
    let (status, refused) = curl(&["-X", "POST", tools, "-H", header, "-d", "{}"]);
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("VALIDATION_ERROR")));

    let (status, list) = curl(&["-X", "GET", tools, "-H", header]);
    // The response to an attachment also has warnings, which are about that moment.
    let mut listed = attached;
    listed.as_object_mut().unwrap().remove("warnings").unwrap();
    assert_eq!((status, &list["tools"]), (200, &json!([listed])));

    let detach = ["-X", "DELETE", &format!("{tools}/email_search"), "-H", header];
    assert_eq!(curl(&detach), (204, Value::Null));
    let (status, refused) = curl(&detach);
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("NOT_FOUND")));
}
