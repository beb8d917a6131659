// Runs a batch of statements, `[[texts, sql, ...params], …]` as JSON. Each crossing between JavaScript and WebAssembly costs
// about as much as a column of a row, so there is one each way. The answer is UTF-8, in lines: the figures of all
// statements, then the rows of each. JSON has no line break of its own, so the lines are told apart without reading them.
//
// The rows of a statement are a JSON array. With `texts`, all columns are texts without characters below the space (or null), and
// the rows are these texts as they are, one after the other: neither this file nor Rust has to escape and unescape them.
const encoder = new TextEncoder();
const BETWEEN_TEXTS = "\x1f";

/** The columns of all rows. Each row is a list. */
export const textsOf = (rows) => rows.map((row) => row.join(BETWEEN_TEXTS)).join(BETWEEN_TEXTS);

/** The answer: `figures` of each statement are its changes, the rows that it read and wrote, and the size of the database. */
export const encoded = (answers) =>
  encoder.encode([JSON.stringify(answers.map(({ figures }) => figures)), ...answers.map(({ rows }) => rows)].join("\n"));

// The faults of the setting D1_FAULTS, which only tests set (docs/operations.md). `times` counts down.
let planned;

/** The fault that is planned for this batch: the first one whose texts all occur in the batch. */
function faultOf(faults, batch) {
  planned ??= JSON.parse(faults);
  const fault = planned.find(({ times, has }) => times > 0 && has.every((text) => batch.includes(text)));
  if (fault !== undefined) fault.times -= 1;
  return fault;
}

/** `database` is a D1 database, a session with one, or a `WorkspaceObject`. */
export const run = (database, batch, faults) =>
  faults === undefined && database.run === undefined ? runInD1(database, batch) : runElsewhere(database, batch, faults);

/** In an object, or with faults. */
async function runElsewhere(database, batch, faults) {
  const fault = faults === undefined ? undefined : faultOf(faults, batch);
  if (fault?.ran === false) throw new Error(fault.message);
  const answer = await (database.run === undefined ? runInD1(database, batch) : database.run(batch));
  if (fault?.ran === true) throw new Error(fault.message);
  return answer;
}

// The texts of statements by number (db/known_texts.rs).
const known = [];

/** The SQL of a statement: a text, the number of a text that was sent before, or both. */
function sqlOf(sent) {
  if (typeof sent === "number") return known[sent];
  if (typeof sent === "string") return sent;
  const [number, text] = sent;
  known[number] = text;
  return text;
}

async function runInD1(database, batch) {
  const statements = JSON.parse(batch);
  const answers = await database.batch(statements.map(([, sql, ...params]) => database.prepare(sqlOf(sql)).bind(...params)));
  return encoded(
    answers.map(({ meta, results }, i) => ({
      figures: [meta.changes, meta.rows_read, meta.rows_written, meta.size_after],
      rows: statements[i][0] ? textsOf(results.map(Object.values)) : JSON.stringify(results),
    })),
  );
}

// A call of an object carries at most 32 MiB. A string with one character above U+00FF would take two bytes for each of its
// characters, so a long batch crosses as UTF-8.
const LONG = 1024 * 1024;

/** The object of a workspace (workspace.js). Each batch gets a new stub, because a stub whose object was reset stays broken. */
class WorkspaceObject {
  constructor(namespace, name) {
    this.namespace = namespace;
    this.name = name;
  }

  run(batch) {
    const sent = batch.length < LONG ? batch : encoder.encode(batch);
    return this.namespace.getByName(this.name).run(sent, this.name);
  }
}

export const openObject = (namespace, name) => new WorkspaceObject(namespace, name);

/** A D1 session: its reads are at least as fresh as `since`, a bookmark or one of D1's two words. */
export const openSession = (database, since) => database.withSession(since);

/** The state of the database after the session's last query; undefined before its first. */
export const bookmarkOf = (session) => session.getBookmark() ?? undefined;
