//! Tools as responses show them, made directly from the rows of a query. Most columns are not parsed: their JSON is
//! copied from D1's response into the response of Pegboard. This halves the time of a list, because a list spends its
//! time on reading and writing JSON.

use super::fields::version_fields;
use super::handler::Handler;
use super::stored::{ColumnValue, ShownAs};
use super::tool::{DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect};
use crate::callers::Level;
use crate::db::Rows;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::time::Timestamp;
use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::marker::PhantomData;

/// The unparsed JSON of a column of type `T`, as D1 returned it.
struct Column<'a, T> {
    json: &'a RawValue,
    of: PhantomData<T>,
}

impl<'de: 'a, 'a, T> Deserialize<'de> for Column<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(Self { json: Deserialize::deserialize(deserializer)?, of: PhantomData })
    }
}

impl<T: ColumnValue> Serialize for Column<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match T::SHOWN_AS {
            ShownAs::Unchanged => self.json.serialize(serializer),
            ShownAs::Boolean => serializer.serialize_bool(self.json.get() != "0"),
            ShownAs::JsonOfText => {
                let text = text(self.json).map_err(S::Error::custom)?;
                let json: &RawValue = serde_json::from_str(&text).map_err(S::Error::custom)?;
                json.serialize(serializer)
            }
        }
    }
}

fn text(json: &RawValue) -> serde_json::Result<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(json.get()).map(|it| it.0)
}

macro_rules! shown_tool {
    (own { $($own:ident: ($($own_type:tt)*);)* }
     shared { $($shared:ident: ($($type:tt)*), given $attributes:tt $given:tt $decide:expr, shown $shown:tt;)* }) => {
        /// The row of a tool. Its JSON has the same fields in the same order as the JSON of [`super::ToolOut`].
        #[derive(Deserialize, Serialize)]
        #[serde(bound(deserialize = ""))]
        pub struct ShownTool<'a> {
            #[serde(borrow)]
            id: Column<'a, String>,
            #[serde(borrow)]
            name: Column<'a, String>,
            #[serde(borrow)]
            description: Column<'a, String>,
            #[serde(borrow)]
            parameters_schema: Column<'a, String>,
            #[serde(borrow)]
            handler_key: Column<'a, String>,
            #[serde(borrow)]
            category: Column<'a, String>,
            #[serde(borrow)]
            created_at: Column<'a, Timestamp>,
            #[serde(borrow)]
            version: Column<'a, String>,
            #[serde(borrow)]
            active: Column<'a, bool>,
            #[serde(borrow)]
            source: Column<'a, String>,
            #[serde(borrow)]
            returns_schema: Column<'a, Option<String>>,
            $(#[serde(borrow)] $shared: Column<'a, $($type)*>,)*
            #[serde(borrow)]
            registered_at: Column<'a, Timestamp>,
            #[serde(borrow)]
            registered_by: Column<'a, String>,
            #[serde(borrow)]
            deactivated_at: Column<'a, Option<Timestamp>>,
            #[serde(borrow)]
            deactivated_reason: Column<'a, Option<DeactivationReason>>,
            /// Only admins see the handler, and they see it without header values: [`SeenTool`].
            #[serde(borrow, skip_serializing)]
            handler: &'a RawValue,
        }
    };
}

version_fields!(shown_tool);

/// A tool as a caller of some level sees it.
#[derive(Serialize)]
struct SeenTool<'a> {
    #[serde(flatten)]
    tool: &'a ShownTool<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handler: Option<Value>,
}

impl ShownTool<'_> {
    pub fn read_all(rows: &Rows) -> Result<Vec<ShownTool<'_>>> {
        rows.all()
    }

    /// The id, for a cursor.
    pub fn id(&self) -> String {
        text(self.id.json).unwrap_or_default().into_owned()
    }

    fn seen_by(&self, level: Level) -> SeenTool<'_> {
        SeenTool { tool: self, handler: (level >= Level::Admin).then(|| self.masked_handler()) }
    }

    /// Returns the handler without header values. A stored handler is always readable; an unreadable one would be shown
    /// as null.
    fn masked_handler(&self) -> Value {
        let handler = text(self.handler).and_then(|it| serde_json::from_str::<Handler>(&it));
        handler.map_or(Value::Null, |it| it.masked())
    }

    /// The JSON of one tool.
    pub fn to_json(&self, level: Level) -> Result<String> {
        to_json(&self.seen_by(level))
    }
}

/// The JSON of a page of tools.
pub fn page_json(page: &Page<ShownTool<'_>>, level: Level) -> Result<String> {
    #[derive(Serialize)]
    struct ShownPage<'a> {
        tools: Vec<SeenTool<'a>>,
        next_cursor: Option<&'a str>,
    }
    let tools = page.items.iter().map(|it| it.seen_by(level)).collect();
    to_json(&ShownPage { tools, next_cursor: page.next_cursor.as_deref() })
}

fn to_json(shown: &impl Serialize) -> Result<String> {
    serde_json::to_string(shown).map_err(|cause| Error::Internal(format!("a tool has a broken column: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ToolOut;
    use crate::registry::tool::Tool;
    use serde_json::json;

    /// A row as D1 returns it: lists and handlers are texts, and booleans are numbers.
    fn row(change: Value) -> String {
        let mut row = json!({
            "key": 7, "id": "notes", "source": "registered", "created_at": "2026-11-16T01:00:00.000Z", "version": "1.2.3",
            "handler_key": "http",
            "handler": r#"{"type":"http","url":"https://example.com","headers":{"X-Key":"secret"}}"#,
            "name": "Notes \"of\" today", "description": "Tabs\tand\u{1}lines\nand ä", "category": "general",
            "parameters_schema": r#"{ "type": "object" }"#, "returns_schema": null,
            "registered_at": "2026-11-16T01:00:00.000Z", "registered_by": "root", "active": 1,
            "deactivated_at": null, "deactivated_reason": null,
            "examples": r#"[{"description":"a","params":{"x":[1.5]},"expected_output":null}]"#,
            "risk_level": "low", "required_permission": "guest", "required_capabilities": r#"["mail"]"#,
            "requires_approval": 0, "rate_limit": 5, "timeout_seconds": 30, "execution_mode": "local",
            "resource_class": "control", "rollback_strategy": "none", "credentials_required": "[]", "side_effects": "[]",
        });
        row.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        row.to_string()
    }

    #[track_caller]
    fn check(change: Value) {
        let row = row(change);
        for level in [Level::User, Level::Admin] {
            let tool: Tool = serde_json::from_str(&row).unwrap();
            let read = serde_json::to_string(&ToolOut::seen_by(level, tool)).unwrap();
            let unread = serde_json::from_str::<ShownTool<'_>>(&row).unwrap().to_json(level).unwrap();
            assert_eq!(unread, read);
        }
    }

    #[test]
    fn an_unread_tool_is_shown_as_a_read_one() {
        check(json!({}));
        check(json!({"rate_limit": null, "returns_schema": "{}", "requires_approval": 1}));
        check(json!({"active": 0, "deactivated_at": "2026-11-16T02:00:00.000Z", "deactivated_reason": "security"}));
        check(json!({"handler": r#"{"type":"builtin","key":"read_file"}"#, "missing_credentials": null}));
    }

    #[test]
    fn a_broken_column_is_an_error() {
        let row = row(json!({"examples": "["}));
        let tool = serde_json::from_str::<ShownTool<'_>>(&row).unwrap();
        assert!(tool.to_json(Level::User).is_err());
        assert_eq!(tool.id(), "notes");
    }
}
