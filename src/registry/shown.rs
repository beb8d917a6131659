//! Tools as responses show them, made directly from the rows of a query. SQLite has written the JSON of each tool, and
//! this file copies that JSON into the response. A list would otherwise spend most of its time on reading and writing
//! JSON.

use super::handler::Handler;
use crate::callers::Level;
use crate::db::Rows;
use crate::error::{Error, Result};
use crate::page::Page;

/// The row of a tool ([`super::ToolForm::Shown`]).
pub struct ShownTool<'a> {
    /// The JSON of the tool without its handler. Empty for a large tool that the query left out.
    json: &'a str,
    handler: &'a str,
    pub id: &'a str,
}

impl<'a> ShownTool<'a> {
    pub fn read_all(rows: &'a Rows) -> Result<Vec<Self>> {
        let rows = rows.texts()?.into_iter();
        Ok(rows.map(|[json, handler, id, _cut]| Self { json, handler, id }).collect())
    }

    /// Whether the query left a tool out because the tool is large.
    pub fn misses_large(rows: &Rows) -> Result<bool> {
        Ok(rows.texts::<4>()?.iter().any(|[json, ..]| json.is_empty()))
    }

    /// Whether the query left out tools that the page has no room for.
    pub fn is_cut(rows: &Rows) -> Result<bool> {
        Ok(rows.texts::<4>()?.first().is_some_and(|[_, _, _, cut]| *cut == "1"))
    }

    /// Writes the JSON of the tool as a caller of this level sees the tool. Only admins see the handler, and they see it
    /// without header values.
    fn write(&self, level: Level, out: &mut String) {
        match self.json.strip_suffix('}').filter(|_| level >= Level::Admin) {
            None => out.push_str(self.json),
            Some(fields) => out.extend([fields, ",\"handler\":", &self.masked_handler(), "}"]),
        }
    }

    /// Returns the handler without header values. A stored handler is always readable; an unreadable one would be shown
    /// as null.
    fn masked_handler(&self) -> String {
        serde_json::from_str::<Handler>(self.handler).map_or_else(|_| "null".to_owned(), |it| it.masked().to_string())
    }

    /// The JSON of one tool.
    pub fn to_json(&self, level: Level) -> String {
        let mut json = String::with_capacity(self.json.len() + self.handler.len() + 32);
        self.write(level, &mut json);
        json
    }
}

/// The JSON of a page of tools.
pub fn page_json(page: &Page<ShownTool<'_>>, level: Level) -> Result<String> {
    let cursor = serde_json::to_string(&page.next_cursor)
        .map_err(|cause| Error::Internal(format!("a cursor is not JSON: {cause}")))?;
    let bytes = page.items.iter().map(|it| it.json.len() + it.handler.len() + 32).sum::<usize>();
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
    use crate::registry::{ToolOut, store};
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
                     '{{ "type": "object" }}', 'http',
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
    fn check(change: &str) {
        let (database, workspace) = (database(change), WorkspaceId::parse("w").unwrap());
        let id = ToolId::parse("notes").unwrap();
        let [read, shown] = [find_tool(&workspace, &id), show_tool(&workspace, &id, None)]
            .map(|it| it.rows_of(&database).unwrap().remove(0));
        let column = |name: &str| shown[name].as_str().unwrap();
        let shown = ShownTool { json: column("tool"), handler: column("handler"), id: column("id") };
        assert_eq!(shown.id, "notes");
        for level in [Level::User, Level::Admin] {
            let tool: Tool = serde_json::from_value(read.clone()).unwrap();
            let read = serde_json::to_string(&ToolOut::seen_by(level, tool)).unwrap();
            // Rust reads numbers, and SQLite copies them.
            assert_eq!(shown.to_json(level), read.replace("[1.5,1000.0]", "[1.50,1e3]"));
        }
    }

    #[test]
    fn sqlite_writes_a_tool_as_rust_does() {
        check("");
        check("UPDATE tool_versions SET rate_limit = NULL, returns_schema = '{}', requires_approval = 1");
        check(
            "UPDATE tool_versions SET active = 0, deactivated_at = '2026-11-16T02:00:00.000Z',
               deactivated_reason = 'security' WHERE workspace_id = 'w'",
        );
        check(r#"UPDATE tool_versions SET handler = '{"type":"builtin","key":"read_file"}'"#);
    }

    #[test]
    fn texts_for_responses_have_no_control_characters() {
        let (database, workspace) = (database(""), WorkspaceId::parse("w").unwrap());
        let rows = list_active_tools(ToolForm::Shown, &workspace, &PageRequest::new(None, None).unwrap());
        let rows = rows.rows_of(&database).unwrap();
        assert_eq!(rows.len(), 1 + store::tools::find_builtins().rows_of(&database).unwrap().len());
        for row in rows {
            for text in row.as_object().unwrap().values() {
                assert!(!text.as_str().unwrap().contains(|it| it < ' '), "{text}");
            }
        }
    }

    #[test]
    fn a_page_is_one_object() {
        let tool = |json, id| ShownTool { json, handler: r#"{"type":"builtin","key":"read_file"}"#, id };
        let items = vec![tool(r#"{"id":"a"}"#, "a"), tool(r#"{"id":"b"}"#, "b")];
        let page = Page { items, next_cursor: Some("62".into()) };
        let read = |level| serde_json::from_str::<Value>(&page_json(&page, level).unwrap()).unwrap();
        assert_eq!(read(Level::User), json!({"tools": [{"id": "a"}, {"id": "b"}], "next_cursor": "62"}));
        assert_eq!(read(Level::Admin)["tools"][1]["handler"], json!({"type": "builtin", "key": "read_file"}));
        let none = Page { items: Vec::new(), next_cursor: None };
        assert_eq!(page_json(&none, Level::Owner).unwrap(), r#"{"tools":[],"next_cursor":null}"#);
    }
}
