// All tools of the workspace, in groups, page by page.

import { useMemo } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { curl, request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Text } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { STARTS } from "./draft.ts";
import { FilterBar } from "./filter_bar.tsx";
import { filtersOf } from "./filters.ts";
import { type ToolGroup, groupTools } from "./groups.ts";
import { upstreamKey, upstreamLink, useHeldBack, useHeldBackTools } from "./held_back.ts";
import { ToolRow } from "./tool_row.tsx";

/** A page costs about as many rows of the database as it has tools, and holds their schemas as texts, which nobody parses here. */
const PAGE = 50;
const EVERY = 30_000;
/** Nobody reads further, and a browser needs a moment to take a longer list away again. Search and filters find the others. */
const MAX_SHOWN = 1_000;

export function ToolList() {
  const filters = filtersOf(query.value);
  // The words of the URL are what the API takes; it refuses the wrong ones, and says so.
  const ask = (cursor: string | undefined) => request("get", "/api/tools", { query: { ...filters, limit: PAGE, cursor } as never });
  const tools = usePages(JSON.stringify(filters), ask, (it) => it.tools as Tool[], EVERY);
  const heldBack = useHeldBack();
  const isNarrowed = Object.keys(filters).length > 0;
  const hasOnlyBuiltIns = !isNarrowed && !tools.hasMore && tools.items.length > 0 && tools.items.every((it) => it.source === "builtin");
  return (
    <Page
      title="Tools"
      about="Everything that agents and people can run in this workspace."
      actions={
        <>
          <CopyCurl of={ask(undefined)} />
          {may("admin") ? (
            <ButtonLink kind="primary" href={link(["tools"], { view: "register" })}>
              Register a tool
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <FilterBar />
      <HeldBackNotice of={heldBack} />
      <ShowPages of={{ ...tools, hasMore: tools.hasMore && tools.items.length < MAX_SHOWN }} empty={<NoTools isNarrowed={isNarrowed} />}>
        {(items) => <Groups tools={items} hasMore={tools.hasMore} heldBack={heldBack} />}
      </ShowPages>
      {hasOnlyBuiltIns ? (
        <Empty title="There are only built-in tools yet">
          <HowToRegister />
        </Empty>
      ) : null}
    </Page>
  );
}

function HeldBackNotice({ of }: { of: Map<string, number> }) {
  const total = [...of.values()].reduce((sum, it) => sum + it, 0);
  if (total === 0) return null;
  return (
    <p class="notice warn">
      <span>
        {count(total, "changed definition")} of modules and MCP servers {total === 1 ? "waits" : "wait"} for an admin. <a href={link(["servers"])}>See them at Servers</a>
      </span>
    </p>
  );
}

function Groups({ tools, hasMore, heldBack }: { tools: Tool[]; hasMore: boolean; heldBack: Map<string, number> }) {
  const groups = useMemo(() => groupTools(tools), [tools]);
  return (
    <>
      <p class="soft small" role="status">
        {hasMore ? `The first ${count(tools.length, "tool")}. Search and filters find the others.` : count(tools.length, "tool")}
      </p>
      {groups.map((it) => (
        <Group key={it.id} group={it} heldBack={heldBack.get(upstreamKey(it.kind, it.owner)) ?? 0} />
      ))}
    </>
  );
}

function Group({ group, heldBack }: { group: ToolGroup; heldBack: number }) {
  const { owner, kind, toolset } = group;
  const heldBackTools = useHeldBackTools(kind, owner, heldBack);
  return (
    <section class="tool-group" aria-label={group.title}>
      <div class="row">
        <h2>{owner === null ? group.title : <a href={upstreamLink(kind, owner)}>{group.title}</a>}</h2>
        <Badge>{count(group.tools.length, "tool")}</Badge>
        {toolset === null ? null : (
          <span class="soft small">
            of the toolset <a href={link(["toolsets", toolset])}>{toolset}</a>
          </span>
        )}
        {heldBack === 0 || owner === null ? null : (
          <a href={upstreamLink(kind, owner)}>
            <Badge tone="warn">{count(heldBack, "change")} held back</Badge>
          </a>
        )}
      </div>
      <ul class="tool-list">
        {group.tools.map((it) => (
          <ToolRow key={it.id} tool={it} isHeldBack={heldBackTools.has(it.id)} />
        ))}
      </ul>
    </section>
  );
}

function NoTools({ isNarrowed }: { isNarrowed: boolean }) {
  return (
    <Empty title={isNarrowed ? "No tool fits these filters" : "There is no tool yet"}>
      {isNarrowed ? <ButtonLink href={link(["tools"])}>Clear the filters</ButtonLink> : null}
      <HowToRegister />
    </Empty>
  );
}

function HowToRegister() {
  const start = STARTS[0];
  if (!may("admin") || start === undefined) return <p>An admin of the workspace registers tools.</p>;
  const asked = request("post", "/api/tools", { body: start.body as never });
  return (
    <div class="stack how-to">
      <p>A tool is a description, a schema and a handler. Register one in a terminal, or with the editor of this page:</p>
      <Text text={curl(asked)} label="The command that registers a tool" />
      <div class="row">
        <ButtonLink href={link(["tools"], { view: "register" })}>Open the editor</ButtonLink>
        <CopyCurl of={asked} />
      </div>
    </div>
  );
}
