// The form of a call: arguments, who calls, and the buttons. The outcome is beside it.

import { useEffect, useRef, useState } from "preact/hooks";
import { caller, hasLevel } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { ApiError, curl, type Problem, request, send } from "../../api/request.ts";
import type { Call, Tool, ToolResult } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button, useWork } from "../button.tsx";
import { copy, CopyCurl } from "../clipboard.tsx";
import { SelectField, TextField } from "../field.tsx";
import { type JsonObject, masked, SchemaForm, schemaOf } from "../form/index.tsx";
import { Panel } from "../page.tsx";
import { Failure } from "../states.tsx";
import { Text } from "../values.tsx";
import { callBody } from "./call.ts";
import { keep } from "./kept.ts";
import { type Checked, CheckedPanel, OutcomePanel } from "./outcome.tsx";

interface RunFormProps {
  tool: Tool;
  version: string | undefined;
  /** The arguments at the beginning. */
  begin: JsonObject;
  /** Where they come from. */
  note?: string;
  /** The call that the arguments come from. */
  earlier: Call | undefined;
}

/** What the last button has brought. */
type Answer = { is: "nothing" } | { is: "checked"; checked: Checked } | { is: "ran"; result: ToolResult; session: string } | { is: "refused"; error: ApiError };

/** The API describes arguments as any object, and its types as an object without fields. */
type Body = ReturnType<typeof callBody> & { arguments: Record<string, never> };

const NOTHING: Answer = { is: "nothing" };

export function RunForm({ tool, version, begin, note: firstNote, earlier }: RunFormProps) {
  const [given, setGiven] = useState(begin);
  const [note] = useState(firstNote);
  const [faults, setFaults] = useState<Problem[]>([]);
  /** The form begins anew when it is filled from elsewhere, also if only half a number has to go. */
  const [turn, setTurn] = useState(0);
  const [showFaults, setShowFaults] = useState(false);
  const [violations, setViolations] = useState<readonly Problem[]>([]);
  const [answer, setAnswer] = useState<Answer>(NOTHING);
  const [isCurlOpen, setCurlOpen] = useState(false);
  const [run, busy] = useWork();
  const form = useRef<HTMLFormElement>(null);
  const setting = (name: string) => query.value.get(name) ?? "";
  const settings = {
    tool: tool.id,
    version,
    agent: caller.value?.agent_id ?? setting("agent"),
    session: setting("session"),
    user: setting("user"),
  };
  useEffect(() => {
    if (earlier === undefined) return;
    const { agent, session, user } = settings;
    setQuery({ arguments: undefined, agent: agent || (earlier.agent_id ?? ""), session: session || (earlier.session_id ?? ""), user: user || (earlier.user_id ?? "") });
  }, []);
  useKept(tool, given);
  // On a narrow screen the outcome is below the form.
  const outcome = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (answer.is !== "nothing" && violations.length === 0) outcome.current?.scrollIntoView({ block: "nearest" });
  }, [answer]);
  useFocusOnFaults(form, violations, showFaults ? faults.length : 0);

  const body = callBody(settings, given) as Body;
  const execution = request("post", "/api/execute", { body });
  const check = request("post", "/api/tools/{tool_id}/validate", { path: { tool_id: tool.id }, body: { arguments: body.arguments } });
  const mayRun = hasLevel(tool.required_permission);

  const begins = (): boolean => {
    setShowFaults(true);
    setViolations([]);
    setAnswer(NOTHING);
    return faults.length === 0;
  };
  const checkNow = () =>
    void run(async () => {
      if (!begins()) return;
      await refusals(async () => {
        const checked = await send(check);
        setViolations(checked.errors);
        setAnswer({ is: "checked", checked: { ...checked, arguments: masked(schemaOf(tool.parameters_schema), checked.arguments) as typeof checked.arguments } });
      });
    });
  const runNow = () =>
    void run(async () => {
      if (!mayRun || !begins()) return;
      await refusals(async () => {
        const result = await outcomeOf(send(execution));
        const found = result.error?.details?.["violations"];
        if (result.error?.code === "INVALID_ARGUMENTS" && Array.isArray(found)) setViolations(found as Problem[]);
        setAnswer({ is: "ran", result, session: settings.session.trim() === "" ? "default" : settings.session.trim() });
      });
    });
  const refusals = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setAnswer({ is: "refused", error: cause });
    }
  };
  const fill = (next: JsonObject) => {
    setGiven(next);
    setFaults([]);
    setTurn((it) => it + 1);
    setViolations([]);
    setShowFaults(false);
    setAnswer(NOTHING);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    runNow();
  };

  return (
    <div class="run-columns">
      <form class="stack" noValidate ref={form} onKeyDown={onKey} onSubmit={(event) => event.preventDefault()} aria-label={`Arguments of ${tool.name}`}>
        <Panel
          title="Arguments"
          actions={
            Object.keys(given).length === 0 && faults.length === 0 ? undefined : (
              <Button kind="quiet" narrow onClick={() => fill({})}>
                Empty the form
              </Button>
            )
          }
        >
          {note === undefined ? null : <p class="soft">{note}</p>}
          <Examples tool={tool} use={fill} />
          <SchemaForm
            key={turn}
            schema={tool.parameters_schema}
            value={given}
            violations={violations}
            showFaults={showFaults}
            label="All arguments"
            onChange={(value, unfinished) => {
              setGiven(value);
              setFaults(unfinished);
            }}
          />
        </Panel>
        <Caller agent={settings.agent} session={settings.session} user={settings.user} />
        <details class="run-curl" onToggle={(event) => setCurlOpen(event.currentTarget.open)}>
          <summary>The request as curl</summary>
          {isCurlOpen ? <AsCurl tool={tool} body={body} /> : null}
        </details>
      </form>
      <div class="stack" ref={outcome}>
        <div class="row">
          <Button kind="primary" disabled={busy || !mayRun} title={mayRun ? "Ctrl+Enter" : `Calls need the level ${tool.required_permission}`} onClick={runNow}>
            {tool.needs_approval ? "Ask for the run" : "Run"}
          </Button>
          {version === undefined ? (
            <Button disabled={busy} title="Checks the arguments, and runs nothing" onClick={checkNow}>
              Check
            </Button>
          ) : null}
          <CopyCurl of={execution} action={tool.needs_approval ? "Ask for the run" : "Run"} />
          {version === undefined ? <CopyCurl of={check} action="Check" /> : null}
          {showFaults && faults.length > 0 ? (
            <p class="violation" role="alert">
              {faults.length === 1 ? "One field is not finished." : `${faults.length} fields are not finished.`} Nothing was sent.
            </p>
          ) : null}
        </div>
        <div class="stack" aria-live="polite">
          {busy ? (
            <Panel title="Result">
              <p class="loading" role="status">
                Waiting for the answer…
              </p>
            </Panel>
          ) : (
            <Shown answer={answer} />
          )}
        </div>
      </div>
    </div>
  );
}

/** Keeps the arguments for a reload, once the person pauses. */
function useKept(tool: Tool, given: JsonObject) {
  const latest = useRef(given);
  latest.current = given;
  const save = () => keep(tool.id, tool.parameters_schema, latest.current);
  useEffect(() => {
    const timer = setTimeout(save, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [given]);
  // Who leaves or reloads at once loses nothing.
  useEffect(() => {
    window.addEventListener("pagehide", save);
    return () => {
      window.removeEventListener("pagehide", save);
      save();
    };
  }, []);
}

const PAUSE_MS = 300;

/** The requests of the buttons, as they are sent, but for the secrets. */
function AsCurl({ tool, body }: { tool: Tool; body: Body }) {
  const shown = masked(schemaOf(tool.parameters_schema), body.arguments) as Body["arguments"];
  const hasSecrets = JSON.stringify(shown) !== JSON.stringify(body.arguments);
  return (
    <div class="stack">
      <Text text={curl(request("post", "/api/execute", { body: { ...body, arguments: shown } }))} label="The request as curl" name="request.sh" />
      {hasSecrets ? <p class="soft small">Secrets are hidden here. The buttons that copy a request copy them too.</p> : null}
      <div class="row">
        <Button kind="quiet" narrow onClick={() => void copy(JSON.stringify(body.arguments, null, 2))}>
          Copy the arguments
        </Button>
      </div>
    </div>
  );
}

function Shown({ answer }: { answer: Answer }) {
  switch (answer.is) {
    case "nothing":
      return (
        <Panel title="Result">
          <p class="soft">Run the tool, and its result is here. Check tells whether the arguments fit, and runs nothing.</p>
        </Panel>
      );
    case "checked":
      return <CheckedPanel checked={answer.checked} />;
    case "ran":
      return <OutcomePanel key={answer.result.call_id} result={answer.result} session={answer.session} />;
    case "refused":
      return <Failure error={answer.error} />;
  }
}

/** A refused call has an outcome too, with an id and a record. */
async function outcomeOf(sent: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await sent;
  } catch (cause) {
    const body = cause instanceof ApiError ? (cause.body as Partial<ToolResult> | null) : null;
    if (typeof body?.call_id === "string" && body.status !== undefined) return body as ToolResult;
    throw cause;
  }
}

/** After an attempt to send, the first field that is wrong gets the focus. */
function useFocusOnFaults(form: { readonly current: HTMLFormElement | null }, violations: readonly Problem[], faults: number) {
  useEffect(() => {
    if (violations.length > 0 || faults > 0) form.current?.querySelector<HTMLElement>('.schema-form [aria-invalid="true"]')?.focus();
    // Only an attempt moves the focus, not the typing that follows.
  }, [violations, faults > 0]);
}

function Examples({ tool, use }: { tool: Tool; use: (given: JsonObject) => void }) {
  if (tool.examples.length === 0) return null;
  return (
    <div class="row">
      <span class="soft">Examples:</span>
      {tool.examples.map((it, index) => (
        <Button narrow key={index} title="Fills the form" onClick={() => use((it.params ?? {}) as JsonObject)}>
          {it.description}
        </Button>
      ))}
    </div>
  );
}

/** Who calls, and whose files the call sees. The URL keeps it. */
function Caller({ agent, session, user }: { agent: string; session: string; user: string }) {
  const agents = useLoad(request("get", "/api/agents", { query: { limit: 200 } }));
  const bound = caller.value?.agent_id ?? null;
  const known = agents.data?.agents.map((it): [string, string] => [it.id, `${it.name} (${it.id})`]) ?? [];
  const options: [string, string][] = [["", "No agent"], ...known];
  if (agent !== "" && !known.some(([id]) => id === agent)) options.push([agent, agent]);
  return (
    <Panel title="Who calls">
      <div class="run-caller">
        {bound === null ? (
          <SelectField label="Agent" value={agent} options={options} hint="Its tools and its level count" onChange={(it) => setQuery({ agent: it })} />
        ) : (
          <div class="field">
            <span class="label">Agent</span>
            <a href={link(["agents", bound])}>{bound}</a>
          </div>
        )}
        <TextField label="Session" value={session} placeholder="default" hint="Whose files the call sees" onChange={(it) => setQuery({ session: it })} />
        <TextField label="User id" value={user} hint="Kept with the record" onChange={(it) => setQuery({ user: it })} />
      </div>
    </Panel>
  );
}
