// The form that runs a tool, with the arguments that it begins with. The page Run has it, and the tool's own page.

import { useRef } from "preact/hooks";
import { hasLevel } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { query, setQuery } from "../../location.ts";
import { Button } from "../button.tsx";
import { type JsonObject, schemaOf, withoutSecrets } from "../form/index.tsx";
import { Failure, Loading } from "../states.tsx";
import { kept } from "./kept.ts";
import { RunForm } from "./run_form.tsx";

interface ToolRunProps {
  tool: Tool;
  /** Undefined for the active version. */
  version: string | undefined;
}

export default function ToolRun({ tool, version }: ToolRunProps) {
  return (
    <>
      {hasLevel(tool.required_permission) ? null : <p class="notice warn">Calls need the level {tool.required_permission}, and you have a lower one.</p>}
      {version === undefined ? null : (
        <div class="notice">
          <p>Calls from this page run version {version}, whichever is active.</p>
          <Button narrow onClick={() => setQuery({ version: undefined })}>
            Use the active version
          </Button>
        </div>
      )}
      <WithArguments tool={tool} version={version} />
    </>
  );
}

/** The arguments that the form begins with: those of an earlier call, if the link names one, else what was written last. */
function WithArguments({ tool, version }: ToolRunProps) {
  const call = query.value.get("arguments");
  // The form takes the call out of the URL, so that a reload does not undo what the person writes then.
  const source = useRef(call);
  source.current = call ?? source.current;
  const earlier = useLoad(call === null ? null : request("get", "/api/tool-calls/{call_id}/arguments", { path: { call_id: call } }));
  const record = useLoad(call === null ? null : request("get", "/api/tool-calls/{call_id}", { path: { call_id: call } }));
  if (earlier.loading || record.loading) return <Loading what="Reading the arguments of the call" />;
  return (
    <>
      {earlier.error === undefined ? null : <Failure error={earlier.error} retry={earlier.reload} />}
      <RunForm key={source.current} tool={tool} version={version} {...beginning(tool, earlier.data)} earlier={record.data} />
    </>
  );
}

function beginning(tool: Tool, earlier: unknown): { begin: JsonObject; note?: string } {
  if (!isObject(earlier)) return { begin: kept(tool.id) };
  // Records hold no secrets, only a mark in their place.
  const begin = withoutSecrets(schemaOf(tool.parameters_schema), earlier);
  const isWhole = JSON.stringify(begin) === JSON.stringify(earlier);
  return { begin, note: isWhole ? "The form has the arguments of an earlier call." : "The form has the arguments of an earlier call, without its secrets: give them again." };
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
