// What to do first in a workspace that has seen no call.

import { workspace } from "../../api/caller.ts";
import { request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { copy, CopyCurl } from "../../parts/clipboard.tsx";
import { Page } from "../../parts/page.tsx";
import { Health } from "./registry.tsx";

const FIRST_CALL = request("post", "/api/execute", { body: { tool_name: "list_files", arguments: {} } });

export function FirstSteps() {
  const address = `${window.location.origin}/w/${workspace.value}/mcp`;
  return (
    <Page title="Welcome to Pegboard" about={`Nothing has been called in the workspace “${workspace.value}” yet. Begin with one of these.`}>
      <ol class="steps">
        <li class="panel">
          <h2>Run a tool</h2>
          <p>Every workspace has tools for files and Python. Choose one, fill in its form, and see what it did.</p>
          <div class="row">
            <ButtonLink kind="primary" href={link(["tools"])}>
              Choose a tool
            </ButtonLink>
            <CopyCurl of={FIRST_CALL} />
          </div>
        </li>
        <li class="panel">
          <h2>Bring your own tools</h2>
          <p>A server of yours, a REST API, an MCP server, or a ZIP of Python functions.</p>
          <div class="row">
            <ButtonLink href={link(["servers"], { register: "module" })}>Register a module</ButtonLink>
            <ButtonLink href={link(["servers"], { register: "mcp" })}>Register an MCP server</ButtonLink>
            <ButtonLink href={link(["toolsets"], { import: "open" })}>Import a toolset</ButtonLink>
          </div>
        </li>
        <li class="panel">
          <h2>Make an agent</h2>
          <p>An agent has a toolbox of its own, a level and a highest risk. Its calls are held to them.</p>
          <div class="row">
            <ButtonLink href={link(["agents"])}>Make an agent</ButtonLink>
            <ButtonLink href={link(["playground"])}>Talk to one</ButtonLink>
          </div>
        </li>
        <li class="panel">
          <h2>Connect an MCP client</h2>
          <p>Give this address to Claude Code, an IDE or your own program. A Pegboard that is not open also needs a token.</p>
          <code class="address">{address}</code>
          <div class="row">
            <Button onClick={() => void copy(address)}>Copy the address</Button>
            <Button onClick={() => void copy(`claude mcp add --transport http pegboard "${address}"`)}>Copy for Claude Code</Button>
            <ButtonLink href={link(["settings"], { tab: "tokens" })}>Make a token</ButtonLink>
          </div>
        </li>
      </ol>
      <Health />
    </Page>
  );
}
