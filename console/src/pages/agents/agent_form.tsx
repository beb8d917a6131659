// The fields of an agent, for a new one and for one that is changed.

import { SelectField, TextField, CheckField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import type { AgentDraft } from "./agent_draft.ts";

interface AgentFieldsProps {
  draft: AgentDraft;
  change: (changes: Partial<AgentDraft>) => void;
  /** What is wrong with a field. */
  violation: (field: keyof AgentDraft) => string | undefined;
}

export function AgentFields({ draft, change, violation }: AgentFieldsProps) {
  const text = (field: "name" | "capabilities" | "allowed_modules" | "system_prompt" | "model" | "max_steps" | "temperature") => ({
    value: draft[field],
    onChange: (value: string) => change({ [field]: value }),
    violation: violation(field),
  });
  return (
    <div class="columns">
      <Panel title="What it may do">
        <TextField label="Name" required {...text("name")} />
        <SelectField
          label="Risk up to"
          value={draft.max_risk}
          onChange={(max_risk) => change({ max_risk })}
          options={["safe", "low", "medium", "high", "critical"]}
          hint="Calls of high and critical risk always wait for an approval."
        />
        <SelectField
          label="Level"
          value={draft.permission_level}
          onChange={(permission_level) => change({ permission_level })}
          options={["guest", "user", "admin", "owner"]}
          hint="The highest level of a call that the agent makes, whatever the level of the caller."
        />
        <TextField label="Capabilities" {...text("capabilities")} hint="With commas between them. A tool that needs another one is not in the toolbox." placeholder="mail, net" />
        <TextField label="Modules" {...text("allowed_modules")} hint="With commas between them. If empty: the default modules of the workspace." placeholder="research" />
        <CheckField
          label="Default tools"
          value={draft.default_tools}
          onChange={(default_tools) => change({ default_tools })}
          hint="execute_python, read_file, write_file and list_files, as long as no tool is attached."
        />
        <CheckField
          label="Find tools"
          value={draft.find_tools}
          onChange={(find_tools) => change({ find_tools })}
          hint="MCP clients get find_tools and call_tool instead of all tools: for agents with very many tools."
        />
      </Panel>
      <Panel title="In the playground">
        <TextField label="System prompt" lines={8} {...text("system_prompt")} hint="What the model is told before the conversation." />
        <TextField label="Model" {...text("model")} hint="If empty: the model of the workspace." />
        <TextField label="Steps" type="number" {...text("max_steps")} hint="How often a turn asks the model at most, 1 to 64. If empty: 16." />
        <TextField label="Temperature" type="number" {...text("temperature")} hint="0 to 2. If empty: the model’s own." />
      </Panel>
    </div>
  );
}
