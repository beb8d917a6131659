// The files of a bundle. A text is shown, and every file can be downloaded.

import { useRead } from "../../api/load.ts";
import { type ApiRequest, request, sendForBytes } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Show } from "../../parts/states.tsx";
import { Bytes, download, Text } from "../../parts/values.tsx";
import { setQuery } from "../../location.ts";

type Details = Schemas["ToolsetDetails"];

export function ToolsetFiles({ toolset }: { toolset: Details }) {
  const chosen = query.value.get("file");
  if (toolset.files.length === 0) return <Empty title="The bundle has no files besides its manifest" />;
  return (
    <>
      {chosen === null ? null : <OneFile key={chosen} id={toolset.id} path={chosen} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Files of the toolset">
        <table>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">Kind</th>
              <th scope="col">Size</th>
            </tr>
          </thead>
          <tbody>
            {toolset.files.map((it) => (
              <tr key={it.path}>
                <th scope="row">
                  <a href={link(["toolsets", toolset.id], { tab: "files", file: it.path })} aria-current={it.path === chosen ? "true" : undefined}>
                    {it.path}
                  </a>
                </th>
                <td>
                  <Badge>{it.kind}</Badge>
                </td>
                <td class="number">
                  <Bytes count={it.size} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The bytes of a file, and its text if they are one. */
interface Read {
  bytes: Blob;
  text: string | null;
}

async function readFile(asked: ApiRequest<unknown>, signal: AbortSignal): Promise<Read> {
  const bytes = await sendForBytes(asked, signal);
  return { bytes, text: textOf(await bytes.arrayBuffer()) };
}

function OneFile({ id, path }: { id: string; path: string }) {
  const asked = request("get", "/api/toolsets/{toolset_id}/files/{path}", { path: { toolset_id: id, path } });
  const file = useRead(asked.url, (signal) => readFile(asked, signal));
  const read = file.data;
  const name = path.split("/").at(-1) ?? path;
  return (
    <Panel
      title={path}
      actions={
        <>
          {read === undefined ? null : <WorkButton work={async () => download(name, read.bytes)}>Download</WorkButton>}
          <CopyCurl of={asked} />
          <Button onClick={() => setQuery({ file: undefined })}>Close</Button>
        </>
      }
    >
      <Show of={file}>{({ text }) => (text === null ? <p>This file is no text. Download it to look at it.</p> : <Text text={text} name={name} label={path} />)}</Show>
    </Panel>
  );
}

/** The text that the bytes are in UTF-8; null if they are none. */
function textOf(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
