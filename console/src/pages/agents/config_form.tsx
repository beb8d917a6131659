// The configuration of an attached tool: a form from the tool's schema for defaults, and what else an attachment can say.

import { useMemo, useState } from "preact/hooks";
import type { Problem } from "../../api/request.ts";
import type { Json } from "../../api/types.ts";
import { TextField } from "../../parts/field.tsx";
import { SchemaForm } from "../../parts/form/index.tsx";
import { type ConfigParts, defaultsSchema, joinConfig, placesInForm, splitConfig } from "./config.ts";

export type Config = { [key: string]: Json };

interface ConfigFormProps {
  /** The schema of the tool's arguments. */
  parameters: unknown;
  /** The configuration to begin with. */
  initial: Config | null;
  /** `isFinished` is false while a part cannot be read. */
  onChange: (config: Config, isFinished: boolean) => void;
  /** What the API has found wrong. */
  problems: readonly Problem[];
}

export function ConfigForm({ parameters, initial, onChange, problems }: ConfigFormProps) {
  const schema = useMemo(() => defaultsSchema(parameters), [parameters]);
  const [parts, setParts] = useState(() => splitConfig(initial, schema));
  const [faults, setFaults] = useState<Problem[]>([]);
  const wrong = joinConfig(parts).problems;
  const change = (changes: Partial<ConfigParts>, unfinished: Problem[]) => {
    const next = { ...parts, ...changes };
    const joined = joinConfig(next);
    setParts(next);
    setFaults(unfinished);
    onChange(joined.config, unfinished.length === 0 && Object.keys(joined.problems).length === 0);
  };
  const violations = useMemo(() => placesInForm(problems).filter((it) => !it.path.startsWith("/config/")), [problems]);
  const of = (isAbout: (path: string) => boolean) => problems.find((it) => isAbout(it.path))?.message;
  return (
    <div class="stack">
      <SchemaForm schema={schema} label="Defaults" value={parts.defaults} violations={violations} showFaults onChange={(defaults, unfinished) => change({ defaults }, unfinished)} />
      <TextField
        label="Longest result, in bytes"
        type="number"
        value={parts.maxResultBytes}
        onChange={(maxResultBytes) => change({ maxResultBytes }, faults)}
        violation={wrong.maxResultBytes ?? of((it) => it === "/config/max_result_bytes")}
        hint="max_result_bytes: a longer result is cut there. If empty: as the call says."
      />
      <TextField label="Other keys, as JSON" lines={3} mono value={parts.other} onChange={(other) => change({ other }, faults)} violation={wrong.other ?? of((it) => it.startsWith("/config/") && !/^\/config\/(default_|max_result_bytes$)/.test(it))} hint="Only the tool itself knows what they mean." placeholder="{}" />
    </div>
  );
}
