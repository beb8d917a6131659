// A workspace with a database of its own, for deployments with STORAGE = "objects" (docs/scale.md). The object runs batches
// that the Worker sends, and its alarm has the Worker's upkeep done. Everything else is as on D1.

import { DurableObject } from "cloudflare:workers";

import { MIGRATIONS } from "../build/migrations.js";
import { encoded, textsOf } from "./db.js";

// Upkeep runs this long after the first write, and again while it finds work. An object without work waits twice as long each
// time, up to a day: approvals and records also end where nothing happens.
const UPKEEP_SECONDS = 300;
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;

// A statement that begins so changes nothing.
const READS = /^\s*SELECT\b/;

// Under this symbol upkeep finds the object in its environment (src/app.rs).
const OBJECT = Symbol.for("pegboard.object");

const [NAME, PAUSE] = ["name", "upkeep_pause"];

// A new object looks whether D1 has rows of its workspace: from the time before STORAGE was changed. They must not seem lost, so
// the object refuses to be used. Everything that a workspace has comes with a row of one of these tables. Otherwise the same
// batch enters the workspace into the directory, where operators find it, and where it is seen if STORAGE is changed back.
const IN_D1 = ["changes", "sessions", "tool_calls"]
  .map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE workspace_id = ?1)`)
  .join(" OR ");
const ENTER = `INSERT INTO directory (workspace_id, report, reported_at)
  SELECT ?1, '[]', strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE NOT (${IN_D1})
  ON CONFLICT (workspace_id) DO NOTHING`;
const IS_ENTERED = "SELECT 1 FROM directory WHERE workspace_id = ?1";
// DbFailure::Elsewhere knows these words.
const STILL_IN_D1 = "the rows of the workspace are in D1";

// A call of an object carries at most 32 MiB, in each direction. The runtime's own refusal would come after the batch, and does not
// tell a long answer from a long batch. DbFailure::AnswerTooLong knows the words.
const LONGEST_ANSWER = 32 * 1024 * 1024 - 1024;
const ANSWER_TOO_LONG = "the answer is longer than a call of an object may carry";

/** The class of the objects. Its alarm calls `upkeep(name, env, ctx)`, with an `env` in which the object itself is. */
export const workspaceClass = (upkeep) =>
  class Workspace extends DurableObject {
    #sql;
    #name;
    #alarmAt = Infinity;
    /** How long upkeep waits after a write, and after its next run. */
    #shortest;
    #pause;
    /** Whether somebody has written since the last upkeep began. */
    #isWritten = false;

    constructor(ctx, env) {
      super(ctx, env);
      this.#sql = ctx.storage.sql;
      // Nothing reaches an object that is in use before its tables are up to date. A new object gets its tables once it may be used.
      ctx.blockConcurrencyWhile(async () => {
        this.#name = ctx.storage.kv.get(NAME);
        if (this.#name !== undefined) this.#migrate();
        this.#shortest = 1000 * (Number(env.OBJECT_UPKEEP_SECONDS) || UPKEEP_SECONDS);
        this.#pause = ctx.storage.kv.get(PAUSE) ?? this.#shortest;
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

    /**
     * Runs a batch as one transaction. A long batch comes as UTF-8. `name` is the workspace: an object learns its name only by
     * being told. Without a name, the batch is for whichever workspace this is; only tests send such a batch.
     */
    async run(batch, name) {
      if (this.#name === undefined) await this.#settle(name);
      else if (name !== undefined && name !== this.#name) throw new Error(`a batch for the workspace ${name} reached the object of ${this.#name}`);
      const { answer, hasWritten } = this.#transact(typeof batch === "string" ? batch : new TextDecoder().decode(batch), LONGEST_ANSWER);
      if (hasWritten) this.#noteWrite();
      return answer;
    }

    async #settle(name) {
      const [, { results }] = await this.env.DB.batch([ENTER, IS_ENTERED].map((sql) => this.env.DB.prepare(sql).bind(name)));
      if (results.length === 0) throw new Error(STILL_IN_D1);
      // Nothing comes in between here: another batch finds either no name, or the tables.
      this.#migrate();
      this.#name = name;
      this.ctx.storage.kv.put(NAME, name);
    }

    /** Runs a batch. A batch whose answer is longer than `longest` bytes fails, and changes nothing. */
    #transact(batch, longest) {
      const statements = JSON.parse(batch);
      // Nothing comes in between the statements of a batch, so reads need no transaction.
      return statements.every(([, sql]) => READS.test(sql))
        ? this.#answer(statements.map((it) => this.#execute(it)), longest)
        : this.ctx.storage.transactionSync(() => this.#answer(this.#executeAll(statements), longest));
    }

    #answer(answers, longest) {
      // The size is a query of its own.
      const size = this.#sql.databaseSize;
      for (const { figures } of answers) figures.push(size);
      const answer = encoded(answers);
      if (answer.length > longest) throw new Error(ANSWER_TOO_LONG);
      return { answer, hasWritten: answers.some(({ figures: [changes] }) => changes > 0) };
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
      this.#isWritten = true;
      this.#setPause(this.#shortest);
      const now = Date.now();
      // An alarm that is long overdue was lost. One that is just due will come, and must not be put off by each write.
      if (this.#alarmAt > now + this.#shortest || this.#alarmAt < now - this.#shortest) this.#setAlarm(now + this.#shortest);
    }

    #setPause(pause) {
      if (this.#pause === pause) return;
      this.#pause = pause;
      this.ctx.storage.kv.put(PAUSE, pause);
    }

    /** The runtime holds responses back until the alarm is stored, like every other write. */
    #setAlarm(at) {
      this.#alarmAt = at;
      this.ctx.storage.setAlarm(at);
    }

    async alarm() {
      // If this run dies, the next one comes all the same.
      this.#setAlarm(Date.now() + this.#shortest);
      this.#isWritten = false;
      const { hasWorked, hasFailed } = await this.keepUp();
      // Every run is bounded, so a run that has worked may have left work, and so has one that failed. After a run without work
      // only time brings work.
      this.#setPause(hasWorked || hasFailed || this.#isWritten ? this.#shortest : Math.min(2 * this.#pause, LONGEST_PAUSE_MS));
      // The shortest pause has its alarm already, and each alarm that is set costs a row.
      if (this.#pause > this.#shortest) this.#setAlarm(Date.now() + this.#pause);
    }

    /** Has upkeep done now. Tells whether it has changed anything, and whether a part of it has failed (src/app.rs). */
    async keepUp() {
      // The object was refused (`#settle`), so it has no tables.
      if (this.#name === undefined) return { hasWorked: false, hasFailed: false };
      const object = { hasWorked: false, hasFailed: false };
      object.run = (batch) => {
        // Nothing crosses to another object here.
        const { answer, hasWritten } = this.#transact(batch, Infinity);
        object.hasWorked ||= hasWritten;
        return answer;
      };
      await upkeep(this.#name, Object.assign(Object.create(this.env), { [OBJECT]: object }), this.ctx);
      const { hasWorked, hasFailed } = object;
      return { hasWorked, hasFailed };
    }
  };
