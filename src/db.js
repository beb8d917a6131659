// Runs a batch of statements, `[[sql, ...params], …]` as JSON, and gives what is used of the answers as JSON. Each crossing
// between JavaScript and WebAssembly costs about as much as a column of a row: so there is one each way.
export async function run(database, batch) {
  const statements = JSON.parse(batch).map(([sql, ...params]) => database.prepare(sql).bind(...params));
  const answers = await database.batch(statements);
  return JSON.stringify(
    answers.map(({ results, meta }) => ({
      results,
      changes: meta.changes,
      rows_read: meta.rows_read,
      rows_written: meta.rows_written,
      size_after: meta.size_after,
    })),
  );
}
