//! Random configurations, arguments and results. They are the same in every run.

use super::expression::{Expression, pieces};
use super::plan::{PlanFailure, PlanSources};
use super::renderer::{Renderer, RendererKind};
use crate::dice::Dice;
use crate::ids::SessionId;
use crate::outgoing::UrlRules;
use crate::text_enum::TextEnum;
use serde_json::{Map, Value, json};

/// Parts of texts that often break readers of expressions.
const PARTS: [&str; 32] = [
    "$",
    "$$",
    "$args",
    "$return",
    "$chat_id",
    "$workspace",
    "$toolset",
    "args",
    ".",
    "..",
    "[",
    "]",
    "[0]",
    "[1]",
    ".a",
    ".b",
    ".0",
    "-",
    "_",
    "ä",
    "🎈",
    "\0",
    "\n",
    "\"",
    "\\",
    " ",
    "[999999999]",
    "[99999999999999999999]",
    "://",
    "https",
    "localhost",
    "8787",
];

const NAMES: [&str; 8] = ["a", "b", "0", "a-b", "", "ä", "$args", "a/b"];

fn text(dice: &mut Dice) -> String {
    (0..dice.below(12)).map(|_| dice.pick(&PARTS)).collect()
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(dice.below(70_000)),
        3 => json!(dice.below(100) as f64 / 8.0),
        4 => Value::String(text(dice)),
        5 => (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        6 if dice.once_in(200) => Value::String("\u{1}x".repeat(60_000)),
        _ => {
            Value::Object((0..dice.below(5)).map(|_| (dice.pick(&NAMES).to_owned(), value(dice, depth - 1))).collect())
        }
    }
}

fn config(dice: &mut Dice) -> Map<String, Value> {
    const FIELDS: [&str; 10] =
        ["file", "content", "language", "editable", "artifact", "data", "url", "port", "more", "missing"];
    (0..dice.below(4) + 1).map(|_| (dice.pick(&FIELDS).to_owned(), value(dice, 3))).collect()
}

/// No input makes a plan fail or grow without bounds. A text without `$` stays as it is, and a text that is one expression
/// takes its value with its type.
#[test]
fn any_configuration_is_refused_or_gives_a_small_plan() {
    let mut dice = Dice(8);
    let session = SessionId::parse("s").unwrap();
    let (mut refused, mut planned) = (0, 0);
    for round in 0..60_000 {
        let kind = dice.pick(RendererKind::ALL);
        let Ok(renderer) = Renderer::new(kind, config(&mut dice)) else {
            refused += 1;
            continue;
        };
        planned += 1;
        let (arguments, result) = (value(&mut dice, 4), value(&mut dice, 4));
        let sources = PlanSources {
            arguments: &arguments,
            result: &result,
            failure: dice.once_in(3).then_some(PlanFailure { code: "TIMEOUT", message: "late" }),
            session: &session,
            toolset: dice.once_in(2).then_some("t"),
            url_rules: UrlRules { private: false, open: dice.once_in(2), own_host: Some("localhost:8787") },
        };
        let json = serde_json::to_string(&renderer.plan(&sources)).unwrap();
        assert!(json.len() <= 256 * 1024, "{round}: {} bytes", json.len());
        let plan: Value = serde_json::from_str(&json).unwrap();
        let config = plan["config"].as_object().unwrap();
        for (name, before) in renderer.config() {
            if kind == RendererKind::Frame || name == "artifact" {
                continue;
            }
            let Some(text) = before.as_str() else { continue };
            match Expression::whole(text) {
                _ if !text.contains('$') => assert_eq!(config[name], *before, "{round}"),
                None => assert!(config[name].is_string(), "{round}: {text}"),
                Some(it) => {
                    let root = [("$args", &arguments), ("$return", &result)];
                    let root = root.iter().find(|(name, _)| it.written.starts_with(name));
                    let is_cut = plan["config"]["cut"].as_array().is_some_and(|cut| cut.contains(before));
                    if let Some((_, root)) = root.filter(|_| !is_cut) {
                        assert_eq!(config[name], *it.find(root).unwrap_or(&Value::Null), "{round}: {text}");
                    }
                }
            }
        }
        let is_shown = |url: &Value| url.as_str().is_none_or(|it| !it.contains("8787") || it.starts_with("https"));
        assert!(kind != RendererKind::Frame || is_shown(&config["url"]), "{round}: {json}");
    }
    assert!(refused > 1_000 && planned > 1_000, "{refused} refused, {planned} planned");
}

/// Every text has its pieces in the time that its length asks for, and loses nothing but one `$` of each `$$`.
#[test]
fn pieces_are_the_whole_text() {
    use super::expression::Piece;
    let mut dice = Dice(9);
    for _ in 0..50_000 {
        let text = text(&mut dice);
        let written = pieces(&text).map(|it| match it {
            Piece::Text("$") => "$",
            Piece::Text(it) | Piece::Unknown(it) => it,
            Piece::Expression(it) => it.written,
        });
        let written = written.collect::<String>();
        assert!(written.len() <= text.len() && text.len() <= written.len() * 2, "{text:?}");
        assert_eq!(written.replace('$', ""), text.replace('$', ""));
    }
    for hostile in ["$", "$a", "$args[", "$args.", "$args.-", "$args.a-", "$args[0]", "$args.a", "-", "$args.a--------"]
    {
        assert!(pieces(&hostile.repeat(100_000)).count() <= 1_000_000);
    }
    assert!(pieces(&format!("$args.a{}", "-".repeat(1_000_000))).count() <= 2);
    assert!(pieces(&format!("$args{}", "[0]".repeat(300_000))).count() == 1);
}
