// The bare JavaScript Worker that scripts/bench compares with. For each measured route this Worker sends the same number of
// D1 statements in the same number of round trips as Pegboard, with the plainest SQL, and does nothing else.

const COLUMNS = "t.id, t.source, t.created_at, v.*";
const JOIN = "FROM tools t JOIN tool_versions v ON v.key = t.current_version_key";

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const workspace = request.headers.get("x-workspace-id");
    if (request.method === "POST") {
      const call = await request.json();
      return call.tool_name.includes(".") ? moduleCall(env.DB, workspace, call) : readFile(env.DB, workspace, call);
    }
    const id = url.pathname.split("/")[3];
    if (id === undefined) {
      const [list] = await env.DB.batch([
        env.DB.prepare(`SELECT ${COLUMNS} ${JOIN} WHERE t.workspace_id IN ('', ?1) ORDER BY t.workspace_id, t.id LIMIT 51`).bind(workspace),
      ]);
      return Response.json({ tools: list.results.slice(0, 50) });
    }
    const [found] = await env.DB.batch([
      env.DB.prepare(`SELECT ${COLUMNS} ${JOIN} WHERE t.workspace_id IN ('', ?1) AND t.id = ?2`).bind(workspace, id),
    ]);
    return found.results.length > 0 ? Response.json(found.results[0]) : new Response(null, { status: 404 });
  },
};

/** The D1 requests of a call of a module's tool: a batch that reads the tool with its module and opens the record, the POST
 * to the module, and a batch that looks at the quota, closes the record, and makes sure that the session exists. */
async function moduleCall(db, workspace, call) {
  const started = Date.now();
  const id = `call_${started.toString(16).padStart(12, "0")}${crypto.randomUUID()}`;
  const now = new Date(started).toISOString();
  const [, found] = await db.batch([
    db
      .prepare(
        `INSERT INTO tool_calls (workspace_id, id, tool_name, session_id, operator, status, started_at, arguments)
         VALUES (?1, ?2, ?3, ?4, 'anonymous', 'running', ?5, ?6)`,
      )
      .bind(workspace, id, call.tool_name, call.session_id, now, JSON.stringify(call.arguments)),
    db
      .prepare(`SELECT ${COLUMNS}, m.url ${JOIN} JOIN upstreams m ON m.workspace_id = t.workspace_id AND m.source = 'module' AND m.name = ?3 WHERE t.workspace_id = ?1 AND t.id = ?2`)
      .bind(workspace, call.tool_name, call.tool_name.split(".")[0]),
  ]);
  const { url, major, minor, patch } = found.results[0];
  const version = `${major}.${minor}.${patch}`;
  const response = await fetch(`${url}/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tool_name: call.tool_name, arguments: call.arguments }),
  });
  const { result } = await response.json();
  const duration = Date.now() - started;
  await db.batch([
    db.prepare("SELECT files_bytes + calls_bytes FROM workspace_usage WHERE workspace_id = ?1").bind(workspace),
    db
      .prepare("INSERT OR IGNORE INTO sessions (workspace_id, id, tree_id, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)")
      .bind(workspace, call.session_id, crypto.randomUUID(), now),
    db
      .prepare("UPDATE tool_calls SET status = 'success', version = ?3, duration_ms = ?4, finished_at = ?5, result = ?6 WHERE workspace_id = ?1 AND id = ?2")
      .bind(workspace, id, version, duration, new Date().toISOString(), JSON.stringify(result)),
  ]);
  return Response.json({
    call_id: id, tool_name: call.tool_name, version, success: true, status: "success", result, error: null,
    duration_ms: duration, render_plan: null, pre_manifest_id: null, post_manifest_id: null,
  });
}

/** The D1 requests of a call of read_file: a batch that reads the tool and the file, a batch that looks at the quota and inserts
 * the record. */
async function readFile(db, workspace, call) {
  const started = Date.now();
  const id = `call_${started.toString(16).padStart(12, "0")}${crypto.randomUUID()}`;
  const now = new Date(started).toISOString();
  const [found, read] = await db.batch([
    db.prepare(`SELECT ${COLUMNS} ${JOIN} WHERE t.workspace_id IN ('', ?1) AND t.id = ?2`).bind(workspace, call.tool_name),
    db
      .prepare(
        `SELECT m.id, e.sha256, e.size, b.data FROM sessions s
         JOIN manifests m ON m.workspace_id = ?1 AND m.id = s.active_manifest_id
         JOIN file_entries e ON e.workspace_id = ?1 AND e.tree_id = s.tree_id AND e.path = ?3 AND e.label = (
           SELECT max(label) FROM file_entries WHERE workspace_id = ?1 AND tree_id = s.tree_id AND path = ?3 AND label <= m.label)
         JOIN blobs b ON b.workspace_id = ?1 AND b.sha256 = e.sha256
         WHERE s.workspace_id = ?1 AND s.id = ?2`,
      )
      .bind(workspace, call.session_id, call.arguments.path),
  ]);
  const [file] = read.results;
  const { major, minor, patch } = found.results[0];
  const version = `${major}.${minor}.${patch}`;
  const duration = Date.now() - started;
  await db.batch([
    db.prepare("SELECT files_bytes + calls_bytes FROM workspace_usage WHERE workspace_id = ?1").bind(workspace),
    db
      .prepare(
        `INSERT INTO tool_calls (workspace_id, id, tool_name, session_id, operator, status, started_at, version, duration_ms,
           finished_at, pre_manifest_id, post_manifest_id, arguments, result)
         VALUES (?1, ?2, ?3, ?4, 'anonymous', 'success', ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11)`,
      )
      .bind(
        workspace, id, call.tool_name, call.session_id, now, version, duration, new Date().toISOString(), file.id,
        JSON.stringify(call.arguments), JSON.stringify(file.data),
      ),
  ]);
  return Response.json({
    call_id: id, tool_name: call.tool_name, version, success: true, status: "success", result: file.data, error: null,
    duration_ms: duration, render_plan: null, pre_manifest_id: file.id, post_manifest_id: file.id,
  });
}
