//! The render plan of one call: the renderer, its configuration with the values of the call, and the error of a call that
//! failed.

use super::frame;
use super::renderer::{CUT, MISSING, REFUSED, Renderer, RendererKind};
use super::values::Filling;
use crate::ids::SessionId;
use crate::outgoing::UrlRules;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a plan is made of. Secrets have been redacted before.
pub struct PlanSources<'a> {
    pub arguments: &'a Value,
    /// The result of the call; null after a failure.
    pub result: &'a Value,
    pub failure: Option<PlanFailure<'a>>,
    pub session: &'a SessionId,
    /// The toolset that the tool belongs to.
    pub toolset: Option<&'a str>,
    pub url_rules: UrlRules<'a>,
}

impl PlanSources<'_> {
    /// The path of the toolset's files in the API.
    pub fn toolset_files(&self) -> Option<String> {
        self.toolset.map(|it| format!("/api/toolsets/{it}/files"))
    }
}

/// Why a call failed.
#[derive(Serialize)]
pub struct PlanFailure<'a> {
    pub code: &'a str,
    pub message: &'a str,
}

#[derive(Serialize)]
pub struct Plan<'a> {
    renderer: RendererKind,
    config: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a PlanFailure<'a>>,
}

impl Renderer {
    /// The plan of a call.
    pub fn plan<'a>(&self, sources: &'a PlanSources<'a>) -> Plan<'a> {
        let mut filling = Filling::new(sources);
        let mut config = filling.fields(self.config());
        match self.kind() {
            RendererKind::Code | RendererKind::Document => {}
            RendererKind::Html => place_artifact(&mut config, sources),
            RendererKind::Frame => {
                if let Some(fault) = settle_url(&mut config, sources.url_rules) {
                    config.insert(REFUSED.to_owned(), fault.into());
                }
            }
        }
        note(&mut config, MISSING, filling.missing);
        note(&mut config, CUT, filling.cut);
        Plan { renderer: self.kind(), config, error: sources.failure.as_ref() }
    }
}

fn note(config: &mut Map<String, Value>, name: &str, expressions: BTreeSet<String>) {
    if !expressions.is_empty() {
        config.insert(name.to_owned(), expressions.into_iter().collect());
    }
}

/// The artifact of a toolset's tool is the path at which the API has the file.
fn place_artifact(config: &mut Map<String, Value>, sources: &PlanSources<'_>) {
    if let (Some(Value::String(path)), Some(files)) = (config.get_mut("artifact"), sources.toolset_files()) {
        *path = format!("{files}/{}", path.strip_prefix("./").unwrap_or(path));
    }
}

/// Turns a port into a URL. A URL that must not be shown becomes null; the reason is returned.
fn settle_url(config: &mut Map<String, Value>, rules: UrlRules<'_>) -> Option<&'static str> {
    let url = match config.shift_remove("port") {
        Some(port) => match (frame::port_of(&port), port) {
            (Some(port), _) => Value::String(frame::url_of_port(port)),
            (None, Value::Null) => Value::Null,
            (None, _) => {
                config.insert("url".to_owned(), Value::Null);
                return Some("the port must be a number from 1 to 65535");
            }
        },
        None => config.get("url").cloned().unwrap_or_default(),
    };
    let fault = match &url {
        Value::Null => None,
        Value::String(url) => frame::fault_of_url(url, rules),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some("must be a text"),
    };
    config.insert("url".to_owned(), if fault.is_none() { url } else { Value::Null });
    fault
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rendering::values::MAX_VALUES_BYTES;
    use crate::text_enum::TextEnum;
    use serde_json::json;

    const RULES: UrlRules<'_> = UrlRules { private: false, open: true, own_host: Some("localhost:8787") };

    /// The plan of a call with these arguments and this result.
    fn plan_of(kind: &str, config: Value, arguments: &Value, result: &Value) -> Value {
        let Value::Object(config) = config else { unreachable!("a configuration") };
        let renderer = Renderer::new(RendererKind::parse(kind).unwrap(), config).unwrap();
        let sources = PlanSources {
            arguments,
            result,
            failure: None,
            session: &SessionId::parse("chat-1").unwrap(),
            toolset: Some("charts"),
            url_rules: RULES,
        };
        let plan = serde_json::to_value(renderer.plan(&sources)).unwrap();
        assert_eq!(plan["renderer"], kind);
        plan["config"].clone()
    }

    /// Checks the value that a text of a configuration becomes, and the expressions that are missing.
    #[track_caller]
    fn check(text: &str, expected: Value, missing: &[&str]) {
        let arguments = json!({"path": "/a.py", "n": 1.5, "list": [{"x": "y"}], "flag": true, "none": null});
        let result = json!({"a": {"b": [1, 2]}, "text": "done"});
        let config = plan_of("html", json!({"content": "x", "data": text}), &arguments, &result);
        assert_eq!(config["data"], expected, "{text}");
        let named = config.get("missing").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(named, json!(missing), "{text}");
    }

    #[test]
    fn one_expression_takes_its_value_with_its_type() {
        check("$args.path", json!("/a.py"), &[]);
        check("$args.n", json!(1.5), &[]);
        check("$args.flag", json!(true), &[]);
        check("$args.none", json!(null), &[]);
        check("$args.list", json!([{"x": "y"}]), &[]);
        check("$args.list[0].x", json!("y"), &[]);
        check("$return.a.b", json!([1, 2]), &[]);
        check("$return", json!({"a": {"b": [1, 2]}, "text": "done"}), &[]);
        check("$chat_id", json!("chat-1"), &[]);
        check("$workspace", json!("/api/sessions/chat-1/files"), &[]);
        check("$toolset", json!("/api/toolsets/charts/files"), &[]);
        check("$return.none", json!(null), &["$return.none"]);
        check("$args.list[1]", json!(null), &["$args.list[1]"]);
    }

    #[test]
    fn other_texts_take_the_text() {
        check("$workspace$args.path", json!("/api/sessions/chat-1/files/a.py"), &[]);
        check("$args.n times $args.list, $args.flag.", json!("1.5 times [{\"x\":\"y\"}], true."), &[]);
        check("<$args.none>", json!("<>"), &[]);
        check("$return.text!", json!("done!"), &[]);
        check("$args.b $args.a $args.b", json!("  "), &["$args.a", "$args.b"]);
        check("$$args.path costs $5", json!("$args.path costs $5"), &[]);
    }

    #[test]
    fn values_are_filled_in_at_every_depth_and_names_are_not() {
        let config =
            json!({"content": "x", "data": {"$args": ["$args.x", {"y": "<$args.x>"}, 1, null]}, "more": "$args.x"});
        let filled = plan_of("html", config, &json!({"x": 2}), &Value::Null);
        let expected = json!({"content": "x", "data": {"$args": [2, {"y": "<2>"}, 1, null]}, "more": 2});
        assert_eq!(filled, expected);
    }

    #[test]
    fn a_value_that_was_filled_in_is_not_looked_into() {
        let filled =
            plan_of("code", json!({"content": "$args.x", "more": "a$args.x"}), &json!({"x": "$args.y $$"}), &json!(0));
        assert_eq!(filled, json!({"content": "$args.y $$", "more": "a$args.y $$"}));
    }

    #[test]
    fn after_a_failure_there_is_no_result() {
        let renderer = Renderer::new(
            RendererKind::Document,
            json!({"content": "$return", "more": ["$return.text", "a $return.text", "$args.x"]})
                .as_object()
                .unwrap()
                .clone(),
        )
        .unwrap();
        let sources = PlanSources {
            arguments: &json!({"x": 1}),
            result: &Value::Null,
            failure: Some(PlanFailure { code: "TOOL_ERROR", message: "It broke" }),
            session: &SessionId::parse("s").unwrap(),
            toolset: None,
            url_rules: RULES,
        };
        assert_eq!(
            json!(renderer.plan(&sources)),
            json!({
                "renderer": "document",
                "config": {"content": null, "more": [null, "a ", 1], "missing": ["$return.text"]},
                "error": {"code": "TOOL_ERROR", "message": "It broke"},
            })
        );
    }

    #[test]
    fn a_large_value_is_cut_and_named() {
        let long = "ä\n".repeat(100_000);
        let arguments = json!({"long": long, "small": "py"});
        let config = json!({"content": "$args.long", "language": "$args.small"});
        let filled = plan_of("code", config, &arguments, &Value::Null);
        let content = filled["content"].as_str().unwrap();
        let (begin, notice) = content.rsplit_once('\n').unwrap();
        assert!(long.starts_with(begin) && notice.starts_with("[cut: "), "{notice}");
        assert!((131_000..=131_074).contains(&json!(content).to_string().len()));
        assert_eq!((&filled["language"], &filled["cut"]), (&json!("py"), &json!(["$args.long"])));

        let result = json!({"rows": vec![1; 100_000], "few": [1]});
        let data =
            json!({"all": "$return.rows", "few": "$return.few", "text": "<$return.rows>", "again": "$return.rows"});
        let filled = plan_of("html", json!({"content": "x", "data": data}), &Value::Null, &result);
        assert_eq!((&filled["data"]["all"], &filled["data"]["few"]), (&Value::Null, &json!([1])));
        assert!(filled["data"]["text"].as_str().unwrap().starts_with("<[1,1,1,"));
        assert!(filled["data"]["text"].as_str().unwrap().ends_with("the whole]>"));
        assert_eq!(filled["cut"], json!(["$return.rows"]));
    }

    #[test]
    fn values_share_the_room_of_a_plan() {
        let texts = (0..90).map(|_| json!("$args.x")).collect::<Vec<_>>();
        let arguments = json!({"x": "\u{1}".repeat(10_000)});
        let filled = plan_of("html", json!({"content": "x", "data": texts}), &arguments, &Value::Null);
        let bytes = filled.to_string().len();
        assert!((180_000..=MAX_VALUES_BYTES + 1_000).contains(&bytes), "{bytes}");
        assert_eq!(filled["data"][0], arguments["x"]);
        assert_eq!(filled["data"][89], "");
        assert_eq!(filled["cut"], json!(["$args.x"]));
    }

    #[test]
    fn an_artifact_is_a_file_of_the_toolset() {
        let filled = plan_of("html", json!({"artifact": "./artifacts/viz.html"}), &Value::Null, &Value::Null);
        assert_eq!(filled, json!({"artifact": "/api/toolsets/charts/files/artifacts/viz.html"}));
    }

    #[test]
    fn a_frame_shows_what_it_may() {
        let frame = |config: Value, port: Value| plan_of("frame", config, &json!({"port": port}), &Value::Null);
        let port = json!({"port": "$args.port", "height": 5});
        assert_eq!(frame(port.clone(), json!(3000)), json!({"url": "http://localhost:3000", "height": 5}));
        assert_eq!(frame(port.clone(), json!("3000")), json!({"url": "http://localhost:3000", "height": 5}));
        let own = json!({"url": null, "height": 5, "refused": "is Pegboard's own address"});
        assert_eq!(frame(port.clone(), json!(8787)), own);
        assert_eq!(frame(port.clone(), json!("80/x"))["url"], Value::Null);
        assert_eq!(frame(port, json!(null)), json!({"url": null, "height": 5}));
        let url = json!({"url": "http://localhost:$args.port/a"});
        assert_eq!(frame(url.clone(), json!(3000)), json!({"url": "http://localhost:3000/a"}));
        assert_eq!(frame(url, json!("8787"))["url"], Value::Null);
        let evil = frame(json!({"url": "https://good.example$args.port"}), json!("@localhost:8787/"));
        assert_eq!((&evil["url"], evil["refused"].is_string()), (&Value::Null, true));
        assert_eq!(frame(json!({"url": "$args.port"}), json!(["https://a.example"]))["refused"], "must be a text");
        let missing = frame(json!({"url": "$args.none"}), json!(1));
        assert_eq!(missing, json!({"url": null, "missing": ["$args.none"]}));
    }
}
