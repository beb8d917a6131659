// The import of a ZIP. The bundle is checked first, and nothing is written until the person has seen what would happen.

import { useState } from "preact/hooks";
import { ApiError, send, upload } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { go } from "../../location.ts";
import { Button, useWork, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Field, TextField } from "../../parts/field.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { bytes } from "../../parts/words.ts";
import { ChangeTable, Notes } from "./notes.tsx";
import { changeRows, faultsOf, importWords, neededOptions, type Options } from "./preview.ts";

type Imported = Schemas["Imported"];

/** What the API says about a file. */
type Checked = { file: File; options: Options; asked: string | null } & ({ preview: Imported } | { error: ApiError });

export function Import({ close }: { close: () => void }) {
  const [source, setSource] = useState("");
  const [checked, setChecked] = useState<Checked | null>(null);
  const [run, busy] = useWork();
  const check = (file: File) =>
    void run(async () => {
      setChecked(null);
      setChecked(await preview(file));
    });
  return (
    <Panel title="Import a toolset" actions={<Button onClick={close}>Close</Button>}>
      <div class="columns">
        <Field label="ZIP of the toolset" hint="At most 16 MiB. The file is checked at once, and nothing is written yet.">
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".zip,application/zip"
              disabled={busy}
              onChange={(event) => {
                const chosen = event.currentTarget.files?.[0];
                // The same file can be chosen again, once its faults are mended.
                event.currentTarget.value = "";
                if (chosen !== undefined) check(chosen);
              }}
            />
          )}
        </Field>
        <TextField label="Where it comes from (optional)" value={source} onChange={setSource} hint="Kept as a note, such as the address of a repository. Nobody fetches it." />
      </div>
      {busy && checked === null ? <Loading what="Checking the bundle and loading its tools" /> : null}
      {checked === null ? null : <Outcome source={source} checked={checked} again={() => check(checked.file)} />}
    </Panel>
  );
}

const importOf = (file: File, { replace, downgrade }: Options, rest: { dry_run?: boolean; source_ref?: string }) =>
  upload<Imported>("post", "/api/toolsets", { query: { ...rest, ...(replace ? { replace } : {}), ...(downgrade ? { downgrade } : {}) } }, file, "application/zip");

/** Asks what an import would do. If the API says that it would have to replace something, that is looked at, too. */
async function preview(file: File): Promise<Checked> {
  let options: Options = { replace: false, downgrade: false };
  let asked: string | null = null;
  for (;;) {
    try {
      return { file, options, asked, preview: await send(importOf(file, options, { dry_run: true })) };
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      const needed = neededOptions(options, cause);
      if (needed === null) return { file, options, asked, error: cause };
      options = needed;
      asked = cause.message;
    }
  }
}

function Outcome({ source, checked, again }: { source: string; checked: Checked; again: () => void }) {
  const { file, options, asked } = checked;
  if ("error" in checked) return <Refused file={file} error={checked.error} again={again} />;
  const bundle = checked.preview;
  const rows = changeRows(bundle.changes);
  const wanted = importOf(file, options, source.trim() === "" ? {} : { source_ref: source.trim() });
  const install = async () => {
    const { id, name, version } = await send(wanted);
    tell(`${name} ${version} is installed`);
    go(["toolsets", id]);
  };
  return (
    <div class="stack" role="status">
      {options.replace ? (
        <div class="notice warn">
          <strong>{options.downgrade ? "The bundle is older than the installed toolset" : "This toolset is installed already"}</strong>
          <p>{asked}</p>
        </div>
      ) : null}
      <Facts
        of={[
          ["Toolset", `${bundle.name} (${bundle.id})`],
          ["Version", bundle.version],
          ["About", bundle.description === "" ? "–" : bundle.description],
          ["File", `${file.name}, ${bytes(file.size)}`],
        ]}
      />
      <h3>What the import changes</h3>
      {rows.length === 0 ? <p>Nothing: the same bundle is installed.</p> : <ChangeTable rows={rows} />}
      <Notes title="Warnings" notes={bundle.warnings} />
      <div class="row">
        <WorkButton kind={options.downgrade ? "danger" : "primary"} work={install}>
          {importWords(options, bundle)}
        </WorkButton>
        <CopyCurl of={wanted} action={importWords(options, bundle)} />
        <CopyCurl of={importOf(file, options, { dry_run: true })} action="Check" />
      </div>
    </div>
  );
}

function Refused({ file, error, again }: { file: File; error: ApiError; again: () => void }) {
  const faults = faultsOf(error.details);
  if (faults.length === 0) return <Failure error={error} retry={again} />;
  return (
    <div class="notice bad" role="alert">
      <strong>{file.name} cannot be imported. Nothing was written.</strong>
      <p>Mend these faults, pack the bundle again, and choose the new file.</p>
      <Notes title="Faults" notes={faults} />
    </div>
  );
}
