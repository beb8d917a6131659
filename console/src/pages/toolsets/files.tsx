// The files of a bundle. A text is shown, and every file can be downloaded.

import { useEffect, useState } from "preact/hooks";
import { ApiError, request, respond } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
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

function OneFile({ id, path }: { id: string; path: string }) {
  const asked = request("get", "/api/toolsets/{toolset_id}/files/{path}", { path: { toolset_id: id, path } });
  const [read, setRead] = useState<Read | ApiError | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    respond(asked, abort.signal)
      .then(async (response) => {
        const bytes = await response.blob();
        setRead({ bytes, text: textOf(await bytes.arrayBuffer()) });
      })
      .catch((cause: unknown) => cause instanceof ApiError && setRead(cause));
    return () => abort.abort();
  }, []);
  const name = path.split("/").at(-1) ?? path;
  return (
    <Panel
      title={path}
      actions={
        <>
          {read === null || read instanceof ApiError ? null : <WorkButton work={async () => download(name, read.bytes)}>Download</WorkButton>}
          <CopyCurl of={asked} />
          <Button onClick={() => setQuery({ file: undefined })}>Close</Button>
        </>
      }
    >
      {read === null ? <Loading /> : read instanceof ApiError ? <Failure error={read} /> : read.text === null ? <p>This file is no text. Download it to look at it.</p> : <Text text={read.text} name={name} label={path} />}
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
