// Loading mail: the importer loads a synthetic corpus (always the same one), against a bare bulk insert of the same rows
// (import/examples/bare.rs), in turns. To run it alone:
//
//   cargo build --profile native -p pegboard-import --bins --examples
//   node bench/import.mjs [--corpus FILE.csv] [--messages 300000] [--rounds 2] [--folder target/bench-mail] [--out FILE]
//
// The script leaves in the folder mail-N.sqlite, a loaded database to search; and corpus-N.csv, unless a corpus was given.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const NATIVE = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, "target"), "native");
const LIMITS = { ratio: 1.5, memory_mb: 300 };

/** All figures. The ratio compares medians, because the machine may be busy with other work. */
export async function measure({ corpus: given, messages, rounds, folder }) {
  mkdirSync(folder, { recursive: true });
  const corpus = given ?? (await synthesised(messages, folder));
  const database = join(folder, `mail-${messages}.sqlite`);
  const [ours, bare] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ours.push(await load(corpus, database, folder));
    bare.push(await insertBare(database, join(folder, "bare.sqlite")));
  }
  const seconds = median(ours.map((it) => it.seconds));
  const bareSeconds = median(bare);
  return {
    ratio: seconds / bareSeconds,
    limit: LIMITS.ratio,
    messages,
    corpus_mb: statSync(corpus).size / 1e6,
    database_mb: statSync(database).size / 1e6,
    seconds,
    bare_seconds: bareSeconds,
    messages_per_second: messages / seconds,
    mb_per_second: statSync(corpus).size / 1e6 / seconds,
    peak_memory_mb: Math.max(...ours.map((it) => it.memory)),
    memory_limit_mb: LIMITS.memory_mb,
  };
}

export function print(it) {
  const rows = {
    "corpus": `${it.messages} messages, ${it.corpus_mb.toFixed(0)} MB; loaded, ${it.database_mb.toFixed(0)} MB`,
    "importer": `${it.seconds.toFixed(1)} s: ${it.messages_per_second.toFixed(0)} messages/s, ${it.mb_per_second.toFixed(1)} MB/s`,
    "bare SQLite, parsed rows": `${it.bare_seconds.toFixed(1)} s`,
    "the first ÷ the second": `${it.ratio.toFixed(2)} (at most ${it.limit})`,
    "peak memory": `${it.peak_memory_mb} MB (below ${it.memory_limit_mb})`,
  };
  console.log("\nImport");
  for (const [name, value] of Object.entries(rows)) console.log(`  ${name.padEnd(26)}  ${value}`);
}

export const isGood = (it) => it.ratio <= it.limit && it.peak_memory_mb < it.memory_limit_mb;

/** The corpus. It is the same each time, so it is made once. */
async function synthesised(messages, folder) {
  const corpus = join(folder, `corpus-${messages}.csv`);
  if (!existsSync(corpus)) {
    await run(join(NATIVE, "pegboard-import"), ["synthesise", join(ROOT, "samples/enron/maildir"), `${corpus}.part`, "--messages", String(messages)]);
    renameSync(`${corpus}.part`, corpus);
  }
  return corpus;
}

/** From the source to a searchable database, including reading and parsing. */
async function load(corpus, database, folder) {
  rmSync(database, { force: true });
  const options = ["--config", join(ROOT, "wrangler.toml"), "--database", database, "--work", join(folder, "work")];
  const begun = performance.now();
  const said = await run(join(NATIVE, "pegboard-import"), ["load", corpus, ...options]);
  const seconds = (performance.now() - begun) / 1000;
  const memory = Number(/^peak memory +(\d+) MB$/m.exec(said)?.[1]);
  return { seconds, memory };
}

async function insertBare(loaded, database) {
  rmSync(database, { force: true });
  const seconds = Number(await run(join(NATIVE, "examples/bare"), [loaded, database]));
  rmSync(database, { force: true });
  return seconds;
}

async function run(program, options) {
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ${options.join(" ")} failed: ${code}`);
  return said;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      corpus: { type: "string" },
      messages: { type: "string", default: "300000" },
      rounds: { type: "string", default: "2" },
      folder: { type: "string", default: join(ROOT, "target/bench-mail") },
      out: { type: "string" },
    },
  });
  const report = await measure({ corpus: values.corpus, messages: Number(values.messages), rounds: Number(values.rounds), folder: values.folder });
  print(report);
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = isGood(report) ? 0 : 1;
}
