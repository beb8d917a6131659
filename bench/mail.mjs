// Searches in a large corpus, against the plain query of Pegboard's specification ("the document") on the same file.
// scripts/bench prepares the corpus.
//
// Natively: the Worker's SQL and the document's SQL, in turns in one process. In D1: the rows that each of them reads.
// End to end: the whole call in workerd, against the Worker's SQL alone.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { quantile } from "./load.mjs";
import { start } from "./server.mjs";

const { values: options } = parseArgs({
  options: { state: { type: "string" }, rounds: { type: "string" }, out: { type: "string" } },
});
const rounds = Number(options.rounds);
const PAGE = 10;
const DATABASE = "BENCHMARKS_DB";

const STORE = fileURLToPath(new URL("../src/mail/store", import.meta.url));
const sql = (name) => readFileSync(join(STORE, `${name}.sql`), "utf8");
/** The statements as src/mail/store.rs builds them: without a person (`ours`), and with `from` or `to` (`ofPeople`). */
const fill = (name, parts) => Object.entries(parts).reduce((text, [part, with_]) => text.replaceAll(`{${part}}`, () => with_), sql(name));
const ours = (name, order = "rank") => fill(name, { bounds: sql("bounds"), shown: sql("shown"), found: "emails_fts MATCH ?1", order });
const ofPeople = (name, order = "rank") =>
  fill(name, { bounds: sql("bounds_of_people"), few: sql("few"), shown: sql("shown"), found: sql("found_of_people"), order });
const OURS = ours("page");
const BY_DATE = ours("page", "emails_fts.rowid DESC");
const COUNT = ours("count");
/** The statements with a person, and without a prefix. */
const OURS_OF_PEOPLE = ofPeople("page");
const BY_DATE_OF_FEW = ofPeople("page_of_few");
const COUNT_OF_FEW = ofPeople("count_of_few");
const THEIRS = `SELECT e.message_id, e.subject, e.sender, e.date,
    snippet(emails_fts, 0, '<mark>', '</mark>', '...', 32) as subject_snippet,
    snippet(emails_fts, 1, '<mark>', '</mark>', '...', 64) as body_snippet
  FROM emails_fts INNER JOIN document_emails e ON emails_fts.rowid = e.rowid
  WHERE emails_fts MATCH ?1 AND e.inbox = ?2 ORDER BY rank LIMIT ?3`;

/** The parameters of our statements. A query has plain words only, so both sides take the same text. */
const bound = (words, inbox, limit, { after = null, before = null, from = null, to = null } = {}) => [words, inbox, after, before, from, to, limit];

const file = mailFile(join(options.state, "v3/d1/miniflare-D1DatabaseObject"));
addDocumentTable(file);
const database = new DatabaseSync(file, { readOnly: true });
const inboxes = chooseInboxes();
const queries = chooseQueries();
const report = { emails: database.prepare("SELECT count(*) AS n FROM emails").get().n, inboxes, native: native(), rows: {}, filters: {}, calls: {} };
const server = await start(["--state", options.state, "--var", "AUTH=open", "--var", "COST_HEADER=on"]);
try {
  await countRows();
  await wholeCalls();
} finally {
  await server.stop();
}
print();
writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);

/** The database that has inboxes. */
function mailFile(folder) {
  for (const name of readdirSync(folder).filter((it) => it.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(folder, name), { readOnly: true });
    const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'inboxes'").get();
    database.close();
    if (found) return join(folder, name);
  }
  throw new Error(`no database in ${folder} has mail`);
}

/** Adds the document's table beside ours, over the same index: its rowids are those of the entries. The table gets statistics,
 * because without them SQLite may read all emails of the inbox and look each up in the index, which takes minutes. So the
 * document's query is measured at its best. */
function addDocumentTable(file) {
  const database = new DatabaseSync(file);
  if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'idx_emails_date'").get()) {
    database.exec(`
      BEGIN;
      CREATE TABLE document_emails (message_id TEXT PRIMARY KEY, inbox TEXT NOT NULL, subject TEXT, sender TEXT, recipients TEXT,
        date TEXT, body TEXT, created_at DATETIME DEFAULT CURRENT_TIMESTAMP);
      INSERT INTO document_emails (rowid, message_id, inbox, subject, sender, recipients, date, body)
        SELECT n.id, message_id, inbox, subject, sender, recipients, e.date, body FROM entries n JOIN emails e ON e.id = email_id;
      CREATE INDEX idx_emails_inbox ON document_emails(inbox);
      CREATE INDEX idx_emails_date ON document_emails(date);
      ANALYZE document_emails;
      COMMIT;`);
  }
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function chooseInboxes() {
  const near = (emails) => database.prepare("SELECT inbox, emails FROM inboxes ORDER BY abs(emails - ?), inbox LIMIT 1").get(emails);
  return { small: near(500), large: near(1e9) };
}

/** Words that are in both inboxes, chosen by the number of emails that have them. */
function chooseQueries() {
  database.exec(`
    CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'emails_fts', 'row');
    CREATE TEMP TABLE words AS SELECT term, doc FROM temp.vocabulary WHERE doc >= 100;`);
  const total = database.prepare("SELECT count(*) AS n FROM entries").get().n;
  const candidates = database.prepare(
    `SELECT term, doc FROM words WHERE doc BETWEEN ?1 / 2 AND ?1 * 2 AND term GLOB '[a-z][a-z][a-z]*' AND term NOT GLOB '*[^a-z]*'
     ORDER BY abs(doc - ?1), term LIMIT 400`,
  );
  const count = database.prepare(COUNT);
  const isIn = (words, { inbox }) => count.get(...bound(words, inbox, 1)).count > 0;
  const pick = (share, skip = 0) => {
    const found = candidates.all(Math.round(total * share)).filter(({ term }) => Object.values(inboxes).every((it) => isIn(term, it)));
    if (found.length <= skip) throw new Error(`no word is in one email of ${1 / share} and in both inboxes`);
    return found[skip];
  };
  const [rare, medium, common, veryCommon] = [pick(0.001), pick(0.02), pick(0.3), pick(0.8)];
  const three = [common, pick(0.3, 1), pick(0.3, 2)].map((it) => it.term).join(" ");
  const named = ([name, { term, doc }]) => [`${name} (in ${doc.toLocaleString("en")})`, term];
  const one = Object.entries({ rare, medium, common, "very common": veryCommon }).map(named);
  return Object.fromEntries([...one, ["three common words", three], ["common and rare", `${common.term} ${rare.term}`]]);
}

/** Every query in every inbox. */
function* cases() {
  for (const [size, { inbox, emails }] of Object.entries(inboxes)) {
    for (const [name, words] of Object.entries(queries)) yield { name: `${name}, ${size} inbox (${emails})`, words, inbox };
  }
}

function median(times) {
  return quantile(times, 0.5);
}

/** Median milliseconds of each side, in turns. */
function inTurns(sides) {
  const times = sides.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [side, run] of sides.entries()) {
      const begun = performance.now();
      run();
      // The first round warms up.
      if (round >= 0) times[side].push(performance.now() - begun);
    }
  }
  return times.map(median);
}

function native() {
  const [page, count, theirs] = [OURS, COUNT, THEIRS].map((it) => database.prepare(it));
  const measured = {};
  for (const { name, words, inbox } of cases()) {
    process.stderr.write(`${name}: ${words}\n`);
    const mine = page.all(...bound(words, inbox, PAGE)).map((it) => it.message_id);
    const other = theirs.all(words, inbox, PAGE).map((it) => it.message_id);
    if (mine.join() !== other.join()) throw new Error(`${name}: ours and the document's query differ`);
    const [pageMs, bothMs, theirsMs] = inTurns([
      () => page.all(...bound(words, inbox, PAGE)),
      () => [page.all(...bound(words, inbox, PAGE)), count.all(...bound(words, inbox, 1000))],
      () => theirs.all(words, inbox, PAGE),
    ]);
    measured[name] = { pageMs, bothMs, theirsMs, page: pageMs / theirsMs, both: bothMs / theirsMs };
  }
  return measured;
}

async function rowsRead(sql, params) {
  return (await server.ask({ db: DATABASE, sql, params })).meta.rows_read;
}

async function countRows() {
  for (const { name, words, inbox } of cases()) {
    report.rows[name] = {
      page: await rowsRead(OURS, bound(words, inbox, PAGE)),
      count: await rowsRead(COUNT, bound(words, inbox, 1000)),
      theirs: await rowsRead(THEIRS, [words, inbox, PAGE]),
    };
  }
  const { inbox } = inboxes.large;
  const common = Object.values(queries)[2];
  // People, ordered by the number of their emails in the inbox.
  const person = (role, offset) =>
    database.prepare(`SELECT address FROM people p JOIN addresses a ON a.id = address_id JOIN inboxes i ON entry_id BETWEEN i.lo AND i.hi
      WHERE i.inbox = ?1 AND role = ?2 AND address <> ?1 GROUP BY address ORDER BY count(*) DESC, address LIMIT 1 OFFSET ?3`).get(inbox, role, offset)?.address;
  const nobody = "nobody@example.com";
  const filters = {
    "newest first": [BY_DATE, {}],
    "one month": [OURS, { after: "2001-03-01", before: "2001-04-01" }],
  };
  for (const [name, from] of Object.entries({ "the busiest": person(0, 0), "the hundredth": person(0, 100), nobody })) {
    filters[`from ${name}`] = [OURS_OF_PEOPLE, { from }];
    filters[`from ${name}, newest first`] = [BY_DATE_OF_FEW, { from }];
    filters[`from ${name}, counted`] = [COUNT_OF_FEW, { from }, 1000];
  }
  filters["to the hundredth, newest first"] = [BY_DATE_OF_FEW, { to: person(1, 100) }];
  for (const [name, [sql, filter, limit = PAGE]] of Object.entries(filters)) {
    const statement = database.prepare(sql);
    const [ms] = inTurns([() => statement.all(...bound(common, inbox, limit, filter))]);
    report.filters[`common, large inbox, ${name}`] = { ms, rows: await rowsRead(sql, bound(common, inbox, limit, filter)) };
  }
}

/** The whole pipeline in workerd, against our two statements alone, in turns. */
async function wholeCalls() {
  const [page, count] = [OURS, COUNT].map((it) => database.prepare(it));
  const headers = { "x-workspace-id": "bench_mail" };
  for (const { name, words, inbox } of cases()) {
    const body = JSON.stringify({ tool_name: "email_search", arguments: { query: words, inbox_id: inbox } });
    const call = async () => {
      const response = await fetch(`${server.url}/api/execute`, { method: "POST", headers, body });
      const answer = await response.json();
      if (!answer.success) throw new Error(JSON.stringify(answer));
      return response.headers.get("x-d1-cost");
    };
    const [calls, alone] = [[], []];
    let cost;
    for (let round = -1; round < rounds; round++) {
      let begun = performance.now();
      cost = await call();
      if (round >= 0) calls.push(performance.now() - begun);
      begun = performance.now();
      page.all(...bound(words, inbox, PAGE));
      count.all(...bound(words, inbox, 1000));
      if (round >= 0) alone.push(performance.now() - begun);
    }
    const [callMs, aloneMs] = [median(calls), median(alone)];
    report.calls[name] = { callMs, aloneMs, ratio: callMs / aloneMs, cost };
  }
}

function print() {
  const size = (it) => `${it.inbox} (${it.emails.toLocaleString("en")} emails)`;
  console.log(`\n${report.emails.toLocaleString("en")} emails; small inbox: ${size(inboxes.small)}, large: ${size(inboxes.large)}\n`);
  const ms = (it) => it.toFixed(2);
  table("Our SQL against the document's query, native SQLite, one file (ratio below 1: ours is faster)", report.native, {
    "page ÷": (it) => it.page.toFixed(2),
    "page and count ÷": (it) => it.both.toFixed(2),
    "page ms": (it) => ms(it.pageMs),
    "both ms": (it) => ms(it.bothMs),
    "document ms": (it) => ms(it.theirsMs),
  });
  table("Rows read in D1, for a page of 10", report.rows, { "our page": (it) => it.page, "our count": (it) => it.count, document: (it) => it.theirs });
  table("Filters and orders", report.filters, { ms: (it) => ms(it.ms), "rows read": (it) => it.rows });
  table("A whole call in workerd against our SQL alone in native SQLite", report.calls, {
    ratio: (it) => it.ratio.toFixed(2),
    "call ms": (it) => ms(it.callMs),
    "SQL ms": (it) => ms(it.aloneMs),
    "D1 cost of the call": (it) => it.cost,
  });
}

function table(title, rows, columns) {
  console.log(title);
  const width = Math.max(...Object.keys(rows).map((it) => it.length));
  const heads = Object.keys(columns);
  const line = (name, cells) => console.log([name.padEnd(width), ...cells.map((cell, at) => String(cell).padStart(heads[at].length))].join("  "));
  line("", heads);
  for (const [name, row] of Object.entries(rows)) line(name, Object.values(columns).map((cell) => cell(row)));
  console.log();
}
