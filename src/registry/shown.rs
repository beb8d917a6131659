//! Tools as responses show them, made directly from the rows of a query. SQLite has written the JSON of each tool, and
//! this file copies that JSON into the response. A list would otherwise spend most of its time on reading and writing
//! JSON.

use super::handler::Handler;
use super::store::columns::SHOWN_PARTS;
use crate::callers::Level;
use crate::db::Rows;
use crate::error::{Error, Result};
use crate::page::Page;

/// The number of texts in a row of [`super::ToolForm::Shown`].
const TEXTS: usize = 3 + SHOWN_PARTS;

/// The row of a tool.
pub struct ShownTool<'a> {
    pub id: &'a str,
    handler: &'a str,
    /// The fields of the tool without its handler, as JSON objects. Empty for a large tool that the query left out.
    parts: [&'a str; SHOWN_PARTS],
    /// Whether the query left out further tools, for which the page has no room.
    pub is_cut: bool,
}

impl<'a> ShownTool<'a> {
    pub fn read_all(rows: &'a Rows) -> Result<Vec<Self>> {
        let rows = rows.texts::<TEXTS>()?.into_iter();
        Ok(rows.map(|[id, handler, parts @ .., cut]| Self { id, handler, parts, is_cut: cut == "1" }).collect())
    }

    /// Whether the query left the tool out because the tool is large.
    pub fn is_left_out(&self) -> bool {
        self.parts[0].is_empty()
    }

    /// Writes the JSON of the tool as a caller of this level sees the tool. Only admins see the handler, and they see it
    /// without header values.
    fn write(&self, level: Level, out: &mut String) {
        for (part, json) in self.parts.into_iter().enumerate() {
            let fields = json.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or_default();
            out.extend([if part == 0 { "{" } else { "," }, fields]);
        }
        if level >= Level::Admin {
            out.extend([",\"handler\":", &self.masked_handler()]);
        }
        out.push('}');
    }

    /// Returns the handler without header values. A stored handler is always readable; an unreadable one would be shown
    /// as null.
    fn masked_handler(&self) -> String {
        serde_json::from_str::<Handler>(self.handler).map_or_else(|_| "null".to_owned(), |it| it.masked().to_string())
    }

    /// The JSON of one tool.
    pub fn to_json(&self, level: Level) -> String {
        let mut json = String::with_capacity(self.bytes());
        self.write(level, &mut json);
        json
    }

    /// About how many bytes the JSON has.
    fn bytes(&self) -> usize {
        self.parts.iter().map(|it| it.len()).sum::<usize>() + self.handler.len() + 32
    }
}

/// The JSON of a page of tools.
pub fn page_json(page: &Page<ShownTool<'_>>, level: Level) -> Result<String> {
    let cursor = serde_json::to_string(&page.next_cursor)
        .map_err(|cause| Error::Internal(format!("a cursor is not JSON: {cause}")))?;
    let bytes = page.items.iter().map(ShownTool::bytes).sum::<usize>();
    let mut json = String::with_capacity(bytes + cursor.len() + 32);
    json.push_str("{\"tools\":[");
    for (index, tool) in page.items.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        tool.write(level, &mut json);
    }
    json.extend(["],\"next_cursor\":", &cursor, "}"]);
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use crate::ids::{ToolId, WorkspaceId};
    use crate::page::PageRequest;
    use crate::registry::store::tools::{ToolForm, find_tool, list_active_tools, show_tool};
    use crate::registry::tool::Tool;
    use crate::registry::{SchemaForm, ToolOut, store};
    use rusqlite::Connection;
    use serde_json::{Value, json};

    /// A database with one tool, `notes`, whose columns are changed.
    fn database(change: &str) -> Connection {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(&format!(
                r#"INSERT INTO tools (workspace_id, id, source, created_at)
                     VALUES ('w', 'notes', 'registered', '2026-11-16T01:00:00.000Z');
                   INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
                     parameters_schema, handler_key, handler, examples, required_capabilities, rate_limit, registered_at,
                     registered_by, active)
                   SELECT 'w', key, 1, 2, 3, 'Notes "of" today', 'Tabs' || char(9, 1, 31, 127, 10, 13, 8, 12, 8232) || '\ / ä 🎈',
                     '{{ "type": "object"' || char(10) || ' }}', 'http',
                     '{{"type":"http","url":"https://example.com","headers":{{"X-Key":"secret"}}}}',
                     '[{{"description":"a\u0000\n","params":{{"x":[1.50,1e3]}},"expected_output":null}}]', '["mail"]', 5,
                     '2026-11-16T01:00:00.000Z', 'root', 1 FROM tools WHERE workspace_id = 'w';
                   {change}"#
            ))
            .unwrap();
        database
    }

    /// Checks that a tool from SQLite's JSON is the same, to the letter, as a tool that Rust has read and written.
    #[track_caller]
    fn check(change: &str) -> Value {
        check_tool("notes", change)
    }

    #[track_caller]
    fn check_tool(tool: &str, change: &str) -> Value {
        let (database, workspace) = (database(change), WorkspaceId::parse("w").unwrap());
        let id = ToolId::parse(tool).unwrap();
        let mut seen = Value::Null;
        for schemas in [SchemaForm::Text, SchemaForm::Object] {
            let [read, shown] = [find_tool(&workspace, &id), show_tool(&workspace, &id, None, schemas)]
                .map(|it| it.rows_of(&database).unwrap().remove(0));
            let columns = shown.as_object().unwrap().values();
            let texts = columns.flat_map(|it| it.as_str().unwrap().split('\u{1f}')).collect::<Vec<_>>();
            let [id, handler, parts @ .., _cut] = <[&str; TEXTS]>::try_from(texts).unwrap();
            let shown = ShownTool { id, handler, parts, is_cut: false };
            assert_eq!(id, tool);
            for level in [Level::User, Level::Admin] {
                let tool: Tool = serde_json::from_value(read.clone()).unwrap();
                let read = serde_json::to_string(&ToolOut::seen_by(level, tool).with_schemas(schemas)).unwrap();
                // Rust reads numbers, and SQLite copies them. SQLite leaves out the white space of a schema.
                let read = read.replace("[1.5,1000.0]", "[1.50,1e3]");
                assert_eq!(shown.to_json(level), read.replace("{ \"type\": \"object\"\n }", r#"{"type":"object"}"#));
                seen = serde_json::from_str(&read).unwrap();
            }
        }
        seen
    }

    #[test]
    fn sqlite_writes_a_tool_as_rust_does() {
        check("");
        check("UPDATE tool_versions SET rate_limit = NULL, returns_schema = '{}', requires_approval = 1");
        check(
            "UPDATE tool_versions SET active = 0, deactivated_at = '2026-11-16T02:00:00.000Z',
               deactivated_reason = 'security' WHERE workspace_id = 'w'",
        );
        for risk in ["safe", "medium", "high", "critical"] {
            check(&format!("UPDATE tool_versions SET risk_level = '{risk}'"));
        }
        check(r#"UPDATE tool_versions SET handler = '{"type":"builtin","key":"read_file"}'"#);
        for builtin in ["read_file", "list_files", "email_get"] {
            check_tool(builtin, "");
        }
    }

    /// The fields of a tool that do not come from its version.
    fn context(tool: &Value) -> Value {
        json!([tool["toolset_id"], tool["server_id"], tool["module"], tool["enabled"], tool["renderer"]])
    }

    #[test]
    fn a_tool_of_others_has_its_context() {
        let source = |id: &str, source: &str, more: &str| {
            check_tool(
                id,
                &format!("UPDATE tools SET id = '{id}', source = '{source}' WHERE workspace_id = 'w'; {more}"),
            )
        };
        let toolset = |enabled: u8| {
            format!(
                "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
                   manifest_version, decided_by)
                 VALUES ('w', 'kit', 'Kit', '1.0.0', '', {enabled}, '', '1', '');"
            )
        };
        let upstream = |source: &str, kind: &str, enabled: u8| {
            format!(
                "INSERT INTO upstreams (workspace_id, source, name, kind, url, headers, enabled, auto_accept, server, created_at,
                   revision, toolset_id)
                 VALUES ('w', '{source}', 'time', '{kind}', '', '{{}}', {enabled}, 0, iif('{kind}' = 'mcp', '{{}}', NULL), '', 1,
                   iif('{kind}' = 'mcp', 'kit', NULL));"
            )
        };
        // A tool whose toolset or upstream is gone is disabled.
        for enabled in [None, Some(0), Some(1)] {
            let is_on = enabled == Some(1);
            let tool = source("kit:notes", "toolset", &enabled.map(toolset).unwrap_or_default());
            assert_eq!(context(&tool), json!(["kit", null, null, is_on, null]));
            let tool = source(
                "time.notes",
                "module",
                &enabled.map(|it| upstream("module", "manifest", it)).unwrap_or_default(),
            );
            assert_eq!(context(&tool), json!([null, null, "time", is_on, null]));
            let tool = source("time:notes", "mcp", &enabled.map(|it| upstream("mcp", "mcp", it)).unwrap_or_default());
            let toolset = enabled.map(|_| "kit");
            assert_eq!(context(&tool), json!([toolset, "time", null, is_on, null]));
        }
        // An override holds for a toolset's tool and a server's tool, and for no other.
        let overridden = |values: &str| {
            format!(
                "{}{}INSERT INTO tool_overrides (workspace_id, tool_id, toolset_id, position, renderer, renderer_config,
                   name_override, description_override, requires_approval, enabled)
                 SELECT 'w', id, 'kit', 0, {values} FROM tools WHERE workspace_id = 'w';",
                toolset(1),
                upstream("mcp", "mcp", 1),
            )
        };
        let all = overridden(r#"'html', '{"artifact":"a.html","data":["$return",1.5,"ä"]}', 'N "2"', 'D', 1, 1"#);
        for (id, from) in [("kit:notes", "toolset"), ("time:notes", "mcp")] {
            let tool = source(id, from, &all);
            assert_eq!((&tool["name"], &tool["description"]), (&json!("N \"2\""), &json!("D")));
            assert_eq!((&tool["requires_approval"], &tool["needs_approval"]), (&json!(false), &json!(true)));
            assert_eq!((&tool["renderer"], &tool["enabled"]), (&json!("html"), &json!(true)));
            let off = source(id, from, &overridden("NULL, NULL, NULL, NULL, NULL, 0"));
            assert_eq!((&off["enabled"], &off["renderer"]), (&json!(false), &Value::Null));
            let lowered = overridden("NULL, NULL, NULL, NULL, 0, NULL");
            let asks = "UPDATE tool_versions SET requires_approval = 1;";
            assert_eq!(source(id, from, &format!("{asks}{lowered}"))["needs_approval"], false);
            let risky = "UPDATE tool_versions SET risk_level = 'high';";
            assert_eq!(source(id, from, &format!("{risky}{lowered}"))["needs_approval"], true);
        }
        assert_eq!(context(&source("notes", "registered", &all)), json!([null, null, null, true, null]));
    }

    #[test]
    fn an_override_is_one_seek() {
        let (database, workspace) = (database("ANALYZE"), WorkspaceId::parse("w").unwrap());
        for form in [ToolForm::Shown(SchemaForm::Text), ToolForm::Read] {
            let plan = list_active_tools(form, &workspace, &PageRequest::new(None, None).unwrap()).plan_of(&database);
            let seek = "SEARCH o USING PRIMARY KEY (workspace_id=? AND tool_id=?) LEFT-JOIN";
            assert!(plan.contains(seek) && !plan.contains("SCAN o") && !plan.contains("SCAN u"), "{plan}");
        }
    }

    #[test]
    fn texts_for_responses_have_no_control_characters() {
        let (database, workspace) = (database(""), WorkspaceId::parse("w").unwrap());
        for schemas in [SchemaForm::Text, SchemaForm::Object] {
            let rows = list_active_tools(ToolForm::Shown(schemas), &workspace, &PageRequest::new(None, None).unwrap());
            let rows = rows.rows_of(&database).unwrap();
            assert_eq!(rows.len(), 1 + store::tools::find_builtins().rows_of(&database).unwrap().len());
            for row in rows {
                let texts = row.as_object().unwrap().values().flat_map(|it| it.as_str().unwrap().split('\u{1f}'));
                for text in texts {
                    assert!(!text.contains(|it| it < ' '), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_page_is_one_object() {
        let tool = |json, id| ShownTool {
            id,
            handler: r#"{"type":"builtin","key":"read_file"}"#,
            parts: [json, r#"{"active":true}"#, r#"{"enabled":true}"#],
            is_cut: false,
        };
        let items = vec![tool(r#"{"id":"a"}"#, "a"), tool(r#"{"id":"b"}"#, "b")];
        let page = Page { items, next_cursor: Some("62".into()) };
        let read = |level| serde_json::from_str::<Value>(&page_json(&page, level).unwrap()).unwrap();
        assert_eq!(
            read(Level::User),
            json!({
                "tools": [{"id": "a", "active": true, "enabled": true}, {"id": "b", "active": true, "enabled": true}],
                "next_cursor": "62",
            })
        );
        assert_eq!(read(Level::Admin)["tools"][1]["handler"], json!({"type": "builtin", "key": "read_file"}));
        let none = Page { items: Vec::new(), next_cursor: None };
        assert_eq!(page_json(&none, Level::Owner).unwrap(), r#"{"tools":[],"next_cursor":null}"#);
    }
}
