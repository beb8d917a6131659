// Runs a batch of statements, `[[sql, ...params], …]` as JSON. Each crossing between JavaScript and WebAssembly costs about
// as much as a column of a row, so there is one each way. The answer is UTF-8, in lines: the figures of all statements,
// then the rows of each. JSON has no line break of its own, so the lines are told apart without reading them.
const encoder = new TextEncoder();

export async function run(database, batch) {
  const statements = JSON.parse(batch).map(([sql, ...params]) => database.prepare(sql).bind(...params));
  const answers = await database.batch(statements);
  const figures = answers.map(({ meta }) => [meta.changes, meta.rows_read, meta.rows_written, meta.size_after]);
  const rows = answers.map(({ results }) => JSON.stringify(results));
  return encoder.encode([JSON.stringify(figures), ...rows].join("\n"));
}
