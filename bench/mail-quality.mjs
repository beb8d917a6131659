// How often simple queries find the email that answers a question: node bench/mail-quality.mjs QUESTIONS URL
//
// QUESTIONS is JSON Lines: {"question", "inbox" or "inbox_address", "message_ids": […]}; other fields are ignored. URL is a
// Worker that has the mail; PEGBOARD_TOKEN is its token, if it needs one. No model takes part: a query is the question's own
// words. So the script measures the result of an agent that makes no effort.

import { readFileSync } from "node:fs";

const [file, url] = process.argv.slice(2);
const RANKS = [1, 5, 10];
const AT_ONCE = 4;

/** Words that belong to any question, and not to its subject. */
const STOP_WORDS = new Set(
  `a about after again all also am an and any are as asked at be because been before being between both but by can could date day did do does
  email emails for from get give given had has have he her him his how i if in into is it its just know made mail me mentioned message
  more most my name of on or other our out over said say sent she should so some specific such than that the their them then there
  these they this those time to under up us was we were what when where which who whom whose why will with would you your`.split(/\s+/),
);

/** The words of a question that tell its subject. */
function keywords(question) {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].filter((it) => it.length > 1 && !STOP_WORDS.has(it)).slice(0, 64);
}

/** The ways to turn the words of a question into queries. */
const QUERIES = {
  "all words": (words) => [words.join(" ")],
  "any word": (words) => [words.join(" OR ")],
  "all, else any": (words) => [words.join(" "), words.join(" OR ")],
};

async function search(query, inbox) {
  const headers = { "x-workspace-id": "mail_quality" };
  if (process.env.PEGBOARD_TOKEN) headers.authorization = `Bearer ${process.env.PEGBOARD_TOKEN}`;
  const body = JSON.stringify({ tool_name: "email_search", arguments: { query, inbox_id: inbox, limit: Math.max(...RANKS) } });
  const answer = await (await fetch(`${url}/api/execute`, { method: "POST", headers, body })).json();
  if (!answer.success) throw new Error(`${url}: ${answer.error?.message}`);
  return answer.result.emails.map((it) => it.message_id);
}

/** The rank of the first expected message, or infinity. */
async function place(queries, { inbox, expected }) {
  for (const query of queries) {
    const found = await search(query, inbox);
    if (found.length === 0) continue;
    const at = found.findIndex((it) => expected.has(it));
    return at < 0 ? Infinity : at + 1;
  }
  return Infinity;
}

function readQuestions() {
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Error(`${file} has no questions`);
  return lines.map((line, index) => {
    const it = JSON.parse(line);
    const inbox = it.inbox ?? it.inbox_address;
    if (typeof it.question !== "string" || typeof inbox !== "string" || !Array.isArray(it.message_ids)) {
      throw new Error(`${file}:${index + 1}: a question has question, inbox and message_ids`);
    }
    return { words: keywords(it.question), inbox, expected: new Set(it.message_ids) };
  });
}

async function measure(questions, queries) {
  const places = [];
  const left = [...questions];
  const worker = async () => {
    for (let it = left.pop(); it !== undefined; it = left.pop()) places.push(await place(queries(it.words), it));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return places;
}

const questions = readQuestions();
console.log(`${questions.length} questions\n`);
console.log(["".padEnd(14), ...RANKS.map((rank) => `hit@${rank}`.padStart(7))].join(" "));
for (const [name, queries] of Object.entries(QUERIES)) {
  const places = await measure(questions, queries);
  const share = (rank) => `${((100 * places.filter((it) => it <= rank).length) / places.length).toFixed(1)} %`;
  console.log([name.padEnd(14), ...RANKS.map((rank) => share(rank).padStart(7))].join(" "));
}
