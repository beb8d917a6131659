// How often a question, typed as it is, finds the email that answers it:
//   node bench/mail-quality.mjs URL [QUESTIONS | MAILDIR]...
//
// URL is a Worker that has the mail; PEGBOARD_TOKEN is its token, if it needs one. QUESTIONS is JSON Lines: {"question",
// "inbox" or "inbox_address", "message_ids": […]}; other fields are ignored. From a MAILDIR in CMU's layout, 200 questions are
// made (mail-questions.mjs). Without either, the questions are those of the sample, and 200 that are made from the sample.
//
// No model takes part: the query is the question. So the script measures the result of an agent that makes no effort. The
// script prints a table for each source of questions, and all figures as one line of JSON.

import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { makeQuestions } from "./mail-questions.mjs";

const [url, ...given] = process.argv.slice(2);
const SAMPLE = ["../samples/enron/questions.jsonl", "../samples/enron/maildir"].map((it) => fileURLToPath(new URL(it, import.meta.url)));
const MADE = { count: 200, seed: 1 };
const RANKS = [1, 5, 10];
const AT_ONCE = 4;
/** The values of `match`. `auto`, the default, is all words and, only if no email has them, any of the words. */
const MATCHES = ["all", "any", "auto"];

async function search(query, inbox, match) {
  const headers = { "x-workspace-id": "mail_quality" };
  if (process.env.PEGBOARD_TOKEN) headers.authorization = `Bearer ${process.env.PEGBOARD_TOKEN}`;
  const body = JSON.stringify({ tool_name: "email_search", arguments: { query, inbox_id: inbox, match, limit: Math.max(...RANKS) } });
  const begun = performance.now();
  const response = await fetch(`${url}/api/execute`, { method: "POST", headers, body });
  const answer = await response.json();
  const ms = performance.now() - begun;
  if (!answer.success) throw new Error(`${url}: ${answer.error?.message}`);
  // A Worker with COST_HEADER tells what the call cost.
  const rows = /rows_read=(\d+)/.exec(response.headers.get("x-d1-cost") ?? "")?.[1];
  return { ids: answer.result.emails.map((it) => it.message_id), ms, rows: rows === undefined ? undefined : Number(rows) };
}

/** The rank of the first expected message, or infinity; and the cost of the search. */
async function ask({ question, inbox, expected }, match) {
  const { ids, ms, rows } = await search(question, inbox, match);
  const at = ids.findIndex((it) => expected.has(it));
  return { rank: at < 0 ? Infinity : at + 1, ms, rows };
}

function readQuestions(source) {
  const questions = statSync(source).isDirectory()
    ? makeQuestions(source, MADE.count, MADE.seed)
    : readFileSync(source, "utf8").split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
  if (questions.length === 0) throw new Error(`${source} has no questions`);
  return questions.map((it, index) => {
    const inbox = it.inbox ?? it.inbox_address;
    if (typeof it.question !== "string" || typeof inbox !== "string" || !Array.isArray(it.message_ids)) {
      throw new Error(`${source}:${index + 1}: a question has question, inbox and message_ids`);
    }
    return { question: it.question, inbox, expected: new Set(it.message_ids) };
  });
}

async function measure(questions, match) {
  const asked = [];
  const left = [...questions];
  const worker = async () => {
    for (let it = left.pop(); it !== undefined; it = left.pop()) asked.push(await ask(it, match));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const mean = (values) => values.reduce((sum, it) => sum + it, 0) / values.length;
  const hits = RANKS.map((rank) => [`hit@${rank}`, (100 * asked.filter((it) => it.rank <= rank).length) / asked.length]);
  const rows = asked.every((it) => it.rows !== undefined) ? mean(asked.map((it) => it.rows)) : null;
  return { ...Object.fromEntries(hits), ms: mean(asked.map((it) => it.ms)), rows_read: rows };
}

const report = [];
for (const source of given.length === 0 ? SAMPLE : given) {
  const questions = readQuestions(source);
  console.log(`${questions.length} questions ${statSync(source).isDirectory() ? "made from the mail" : "of the file"}\n`);
  console.log(["match".padEnd(6), ...RANKS.map((rank) => `hit@${rank}`.padStart(8)), "ms".padStart(8), "rows read".padStart(10)].join(" "));
  const figures = {};
  for (const match of MATCHES) {
    figures[match] = await measure(questions, match);
    const { ms, rows_read, ...hits } = figures[match];
    const cells = [...Object.values(hits).map((it) => `${it.toFixed(1)} %`.padStart(8)), ms.toFixed(1).padStart(8), (rows_read?.toFixed(0) ?? "").padStart(10)];
    console.log([match.padEnd(6), ...cells].join(" "));
  }
  console.log();
  report.push({ source: statSync(source).isDirectory() ? "made" : "file", questions: questions.length, ...figures });
}
console.log(JSON.stringify(report));
