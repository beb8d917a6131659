// A workspace with a database of its own, for deployments with STORAGE = "objects" (docs/scale.md). The object runs batches
// that the Worker sends, and its alarm has the Worker's upkeep done. Everything else is as on D1.

import { DurableObject } from "cloudflare:workers";

import { MIGRATIONS } from "../build/migrations.js";
import { encoded, textsOf } from "./db.js";

// Upkeep runs this long after the first write. An object that nobody writes to waits twice as long each time, up to a day:
// approvals and records also end where nothing happens.
const UPKEEP_MS = 5 * 60 * 1000;
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;

// A statement that begins so changes nothing.
const READS = /^\s*SELECT\b/;

// Under this symbol upkeep finds the object in its environment (src/app.rs).
const OBJECT = Symbol.for("pegboard.object");

const [NAME, PAUSE] = ["name", "upkeep_pause"];

// A new object looks whether D1 has rows of its workspace: from the time before STORAGE was changed. They must not seem lost, so
// the object refuses to be used. Everything that a workspace has comes with a row of one of these tables.
const IN_D1 = ["changes", "sessions", "tool_calls"]
  .map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE workspace_id = ?1)`)
  .join(" OR ");
// DbFailure::Elsewhere knows these words.
const STILL_IN_D1 = "the rows of the workspace are in D1";

/** The class of the objects. Its alarm calls `upkeep(name, env, ctx)`, with an `env` in which the object itself is. */
export const workspaceClass = (upkeep) =>
  class Workspace extends DurableObject {
    #sql;
    #name;
    #alarmAt = Infinity;

    constructor(ctx, env) {
      super(ctx, env);
      this.#sql = ctx.storage.sql;
      // Nothing reaches the object before its tables are there.
      ctx.blockConcurrencyWhile(async () => {
        this.#migrate();
        this.#name = ctx.storage.kv.get(NAME);
        this.#alarmAt = (await ctx.storage.getAlarm()) ?? Infinity;
      });
    }

    #migrate() {
      this.#sql.exec("CREATE TABLE IF NOT EXISTS applied_migrations (name TEXT PRIMARY KEY) WITHOUT ROWID");
      const applied = new Set(Array.from(this.#sql.exec("SELECT name FROM applied_migrations").raw(), ([name]) => name));
      for (const [name, text] of MIGRATIONS) {
        if (applied.has(name)) continue;
        // Each migration is a transaction of its own, as on D1.
        this.ctx.storage.transactionSync(() => {
          this.#sql.exec(text);
          this.#sql.exec("INSERT INTO applied_migrations VALUES (?)", name);
        });
      }
    }

    /** Runs a batch as one transaction. `name` is the workspace: an object learns its name only by being told. */
    async run(batch, name) {
      if (this.#name === undefined) await this.#settle(name);
      const answers = this.#transact(batch);
      if (answers.some(({ figures: [changes] }) => changes > 0)) this.#noteWrite();
      return encoded(answers);
    }

    async #settle(name) {
      const found = await this.env.DB.prepare(`SELECT ${IN_D1} AS found`).bind(name).first("found");
      if (found) throw new Error(STILL_IN_D1);
      this.#name = name;
      this.ctx.storage.kv.put(NAME, name);
    }

    #transact(batch) {
      const statements = JSON.parse(batch);
      // Nothing comes in between the statements of a batch, so reads need no transaction.
      const answers = statements.every(([, sql]) => READS.test(sql))
        ? statements.map((it) => this.#execute(it))
        : this.ctx.storage.transactionSync(() => this.#executeAll(statements));
      // The size is a query of its own.
      const size = this.#sql.databaseSize;
      for (const { figures } of answers) figures.push(size);
      return answers;
    }

    #executeAll(statements) {
      let changes = this.#totalChanges();
      return statements.map((statement) => {
        const answer = this.#execute(statement);
        if (!READS.test(statement[1])) {
          const before = changes;
          changes = this.#totalChanges();
          answer.figures[0] = changes - before;
        }
        return answer;
      });
    }

    /** The same figures as D1 has; `#executeAll` counts the changes. */
    #execute([texts, sql, ...params]) {
      const cursor = this.#sql.exec(sql, ...params);
      const rows = texts ? textsOf(cursor.raw().toArray()) : JSON.stringify(cursor.toArray());
      return { figures: [0, cursor.rowsRead, cursor.rowsWritten], rows };
    }

    /** How many rows were ever changed, by triggers too. */
    #totalChanges() {
      return this.#sql.exec("SELECT total_changes() AS count").one().count;
    }

    /** Has upkeep done soon. */
    #noteWrite() {
      const soon = Date.now() + UPKEEP_MS;
      if (this.#alarmAt <= soon) return;
      this.ctx.storage.kv.put(PAUSE, UPKEEP_MS);
      this.#setAlarm(soon);
    }

    /** The runtime holds responses back until the alarm is stored, like every other write. */
    #setAlarm(at) {
      this.#alarmAt = at;
      this.ctx.storage.setAlarm(at);
    }

    async alarm() {
      const { kv } = this.ctx.storage;
      const pause = Math.min(2 * (kv.get(PAUSE) ?? UPKEEP_MS), LONGEST_PAUSE_MS);
      kv.put(PAUSE, pause);
      this.#setAlarm(Date.now() + pause);
      await this.keepUp();
    }

    /** Has upkeep done now. What it writes needs no further upkeep. */
    async keepUp() {
      const object = { run: (batch) => encoded(this.#transact(batch)) };
      await upkeep(this.#name, Object.assign(Object.create(this.env), { [OBJECT]: object }), this.ctx);
    }
  };
