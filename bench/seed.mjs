// Fills the measured databases by SQL, without the API.

/** `count` tools of a usual size, in a workspace of their own. */
export async function tools(server, workspace, count) {
  await server.ask({
    batch: [
      {
        sql: `INSERT INTO tools (workspace_id, id, source, created_at)
              WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
              SELECT ?1, 'tool-' || i, 'registered', '2026-11-16T01:00:00.000Z' FROM n`,
        params: [workspace, count],
      },
      {
        sql: `INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema,
                handler_key, handler, category, required_capabilities, registered_at, registered_by, active)
              SELECT ?1, t.key, 1, 0, 0, 'Tool ' || t.id, b.description, b.parameters_schema, 'http', b.handler,
                'category-' || (t.key % 100), json_array('cap-' || (t.key % 20)), t.created_at, 'bench', 1
              FROM tools t, (SELECT * FROM tool_versions WHERE handler_key = 'email_get') b WHERE t.workspace_id = ?1`,
        params: [workspace],
      },
    ],
  });
}

/** A session of `count` files and `manifests` file manifests (at least one). `path` is SQL over the file's number `i`. */
export async function files(server, workspace, session, { count, path = "'/d' || (i / 100) || '/f' || i", manifests = 1 }) {
  const at = "2026-11-16T01:00:00.000Z";
  const sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  const numbers = (n) => `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${n} - 1)`;
  const params = [workspace, session, at];
  await server.ask({
    batch: [
      {
        sql: `INSERT OR IGNORE INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, data)
              VALUES (?1, ?2, 5, 'utf8', 1, ?3, 'hello')`,
        params: [workspace, sha, at],
      },
      {
        sql: `INSERT INTO sessions (workspace_id, id, tree_id, active_manifest_id, head_id, created_at, updated_at)
              VALUES (?1, ?2, ?2, 'man_' || ?2 || '_${manifests}', 'man_' || ?2 || '_${manifests}', ?3, ?3)`,
        params,
      },
      {
        sql: `INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
              ${numbers(manifests)}
              SELECT ?1, 'man_' || ?2 || '_' || (i + 1), ?2, ?2, '', i + 1, 'edit', ?3, ${count}, ${count} * 5 FROM n`,
        params,
      },
      {
        sql: `INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
              ${numbers(count)} SELECT ?1, ?2, ${path}, 'a1', ?3, 5 FROM n`,
        params: [workspace, session, sha],
      },
    ],
  });
}

/** A change log of some length, about some number of versions, of tools of a usual size. */
export async function changes(server, workspace, count, things) {
  await server.ask({
    batch: [
      {
        sql: `INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, new_state)
              WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
              SELECT ?1, i + 1, '2026-11-16T01:00:00.000Z', 'update', 'tool:tool-' || (i % ?3) || '@1.0.0', 'tool-' || (i % ?3), '1.0.0', 'bench',
                json_object('id', 'tool-' || (i % ?3), 'version', '1.0.0', 'source', 'registered', 'active', json('true'),
                  'created_at', '2026-11-16T01:00:00.000Z', 'description', b.description, 'parameters_schema', b.parameters_schema)
              FROM n, (SELECT * FROM tool_versions WHERE handler_key = 'email_get') b`,
        params: [workspace, count, things],
      },
    ],
  });
}

/** Some number of recorded calls. */
export async function calls(server, workspace, count) {
  const step = 100_000;
  for (let from = 0; from < count; from += step) {
    await server.ask({
      sql: `INSERT INTO tool_calls (workspace_id, id, tool_name, version, session_id, operator, status, duration_ms, started_at,
              finished_at, arguments, result)
            WITH RECURSIVE n(i) AS (SELECT ?2 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 + ?3 - 1)
            SELECT ?1, printf('call_%012x01', 1000 * CAST(unixepoch(time) AS INTEGER)) || lower(hex(randomblob(16))),
              'tool-' || CAST(i % 1000 AS INTEGER), '1.0.0', 'session-' || CAST(i % 500 AS INTEGER), 'bench', 'success', i % 90,
              time, '2026-11-16T01:00:00.000Z', '{"path":"/d0/f1"}', '"hello"'
            FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || i || ' seconds') AS time FROM n)`,
      params: [workspace, from, Math.min(step, count - from)],
    });
    process.stderr.write(`\rrecorded calls: ${Math.min(from + step, count).toLocaleString("en")} of ${count.toLocaleString("en")}`);
  }
  process.stderr.write("\n");
}
