// The bare JavaScript Worker that scripts/bench compares with: for each measured route as many D1
// statements, in as many round trips, as ours makes, the plainest SQL that answers, and no more.

const COLUMNS = "t.id, t.source, t.created_at, v.*";
const JOIN = "FROM tools t JOIN tool_versions v ON v.key = t.current_version_key";

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const workspace = request.headers.get("x-workspace-id");
    const id = url.pathname.split("/")[3];
    if (id === undefined) {
      const [list] = await env.DB.batch([
        env.DB.prepare(`SELECT ${COLUMNS} ${JOIN} WHERE t.workspace_id IN ('', ?1) ORDER BY t.workspace_id, t.id LIMIT 51`).bind(workspace),
        env.DB.prepare("SELECT 1 FROM tools WHERE workspace_id = ?1 AND id = ?2").bind(workspace, null),
      ]);
      return Response.json({ tools: list.results.slice(0, 50) });
    }
    const [found] = await env.DB.batch([
      env.DB.prepare(`SELECT ${COLUMNS} ${JOIN} WHERE t.workspace_id IN ('', ?1) AND t.id = ?2`).bind(workspace, id),
    ]);
    return found.results.length > 0 ? Response.json(found.results[0]) : new Response(null, { status: 404 });
  },
};
