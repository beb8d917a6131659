// How a program uses this agent: as an MCP client, or with a model of its own.

import { caller, workspace } from "../../api/caller.ts";
import { curl, request } from "../../api/request.ts";
import type { Agent } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { copy } from "../../parts/clipboard.tsx";
import { Panel } from "../../parts/page.tsx";
import { Text } from "../../parts/values.tsx";

export function ConnectAgent({ agent }: { agent: Agent }) {
  const address = `${window.location.origin}/w/${workspace.value}/agents/${agent.id}/mcp`;
  // An open Worker asks for no token.
  const needsToken = caller.value?.open !== true;
  const header = needsToken ? ' \\\n  --header "Authorization: Bearer $TOKEN"' : "";
  const config = { mcpServers: { pegboard: { type: "http", url: address, ...(needsToken ? { headers: { Authorization: "Bearer ${TOKEN}" } } : {}) } } };
  const box = request("get", "/api/agents/{agent_id}/toolbox", { path: { agent_id: agent.id }, query: { format: "openai" } });
  const calls = request("post", "/api/agents/{agent_id}/tool-calls", {
    path: { agent_id: agent.id },
    body: { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "list_files", arguments: "{}" } }] } as never,
  });
  return (
    <>
      {needsToken ? (
        <p class="notice">
          <span>
            <code>$TOKEN</code> is a token of this workspace. One that is bound to the agent is best: <a href={link(["agents", agent.id], { tab: "tokens" })}>Tokens</a>
          </span>
        </p>
      ) : null}
      <Panel title="Claude Code">
        <Command text={`claude mcp add --transport http pegboard ${address}${header}`} label="The command that adds the agent’s tools" />
      </Panel>
      <Panel title="MCP clients with a configuration file">
        <Command text={JSON.stringify(config, null, 2)} label="The configuration of an MCP client" />
      </Panel>
      <Panel title="A model of your own">
        <p>Ask for the toolbox in the format of the model’s provider, and send back the message in which the model calls tools.</p>
        <Command text={curl(box)} label="The command that reads the toolbox" />
        <Command text={curl(calls)} label="The command that runs a model’s calls" />
      </Panel>
    </>
  );
}

function Command({ text, label }: { text: string; label: string }) {
  return (
    <div class="stack">
      <Text text={text} label={label} />
      <div>
        <Button narrow label={`Copy: ${label}`} onClick={() => void copy(text)}>
          Copy
        </Button>
      </div>
    </div>
  );
}
