// Runs a batch of statements, `[[texts, sql, ...params], …]` as JSON. Each crossing between JavaScript and WebAssembly costs
// about as much as a column of a row, so there is one each way. The answer is UTF-8, in lines: the figures of all
// statements, then the rows of each. JSON has no line break of its own, so the lines are told apart without reading them.
//
// The rows of a statement are a JSON array. With `texts`, all columns are texts without characters below the space (or null), and
// the rows are these texts as they are, one after the other: neither this file nor Rust has to escape and unescape them.
const encoder = new TextEncoder();
const BETWEEN_TEXTS = "\x1f";

const textsOf = (results) => results.map((row) => Object.values(row).join(BETWEEN_TEXTS)).join(BETWEEN_TEXTS);

// The faults of the setting D1_FAULTS, which only tests set (docs/operations.md). `times` counts down.
let planned;

/** The fault that is planned for this batch: the first one whose texts all occur in the batch. */
function faultOf(faults, batch) {
  planned ??= JSON.parse(faults);
  const fault = planned.find(({ times, has }) => times > 0 && has.every((text) => batch.includes(text)));
  if (fault !== undefined) fault.times -= 1;
  return fault;
}

export async function run(database, batch, faults) {
  const fault = faults === undefined ? undefined : faultOf(faults, batch);
  if (fault?.ran === false) throw new Error(fault.message);
  const statements = JSON.parse(batch);
  const answers = await database.batch(statements.map(([, sql, ...params]) => database.prepare(sql).bind(...params)));
  if (fault?.ran === true) throw new Error(fault.message);
  const figures = answers.map(({ meta }) => [meta.changes, meta.rows_read, meta.rows_written, meta.size_after]);
  const rows = answers.map(({ results }, i) => (statements[i][0] ? textsOf(results) : JSON.stringify(results)));
  return encoder.encode([JSON.stringify(figures), ...rows].join("\n"));
}

/** A D1 session: its reads are at least as fresh as `since`, a bookmark or one of D1's two words. */
export const openSession = (database, since) => database.withSession(since);

/** The state of the database after the session's last query; undefined before its first. */
export const bookmarkOf = (session) => session.getBookmark() ?? undefined;
