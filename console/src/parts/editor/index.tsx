// The editor of texts. CodeMirror is loaded when it is first needed; until then, and if it cannot be loaded, a plain field does
// the same.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Diff } from "../diff.tsx";
import { unifiedDiff } from "../json_diff.ts";
import { Loading } from "../states.tsx";
import type { Code } from "./code.ts";
import { COLOURED_CHARACTERS, type Language, withLineBreaksOf } from "./texts.ts";

export { languageOf, type Language } from "./texts.ts";

interface EditorProps {
  value: string;
  language: Language;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  label: string;
}

type Stage = "loading" | "ready" | "failed";

type CodeModule = typeof import("./code.ts");
/** CodeMirror once it is loaded: later editors need not wait for it. */
let codeModule: CodeModule | null = null;

async function loadCode(): Promise<CodeModule> {
  codeModule = await import("./code.ts");
  return codeModule;
}

/** A text with colours, which can be changed. Tab leaves it, as it leaves every other field. */
export function Editor({ value, language, onChange, readOnly = false, label }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const code = useRef<Code | null>(null);
  const [stage, setStage] = useState<Stage>(codeModule === null ? "loading" : "ready");
  const latest = useRef({ value, language, readOnly, label, onChange });
  latest.current = { value, language, readOnly, label, onChange };

  useLayoutEffect(() => {
    let isGone = false;
    const show = ({ mount }: CodeModule) => {
      if (isGone || host.current === null) return;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
      code.current = mount(root, latest.current.value, latest.current, (text) => latest.current.onChange?.(text));
      // Who types already goes on typing.
      const typing = field.current !== null && document.activeElement === field.current ? field.current.selectionStart : null;
      setStage("ready");
      if (typing !== null) requestAnimationFrame(() => code.current?.focus(typing));
    };
    if (codeModule === null) loadCode().then(show, () => setStage("failed"));
    else show(codeModule);
    return () => {
      isGone = true;
      code.current?.destroy();
      code.current = null;
    };
  }, []);
  useLayoutEffect(() => code.current?.setText(value), [value]);
  useLayoutEffect(() => code.current?.set({ language, readOnly, label }), [language, readOnly, label]);

  return (
    <div class="editor">
      <div ref={host} class="editor-host" hidden={stage !== "ready"} />
      {stage === "ready" ? null : stage === "loading" && value.length > COLOURED_CHARACTERS ? (
        // A plain field lays all of a long text out, which takes seconds; the editor only what is seen.
        <Loading />
      ) : (
        <textarea
          ref={field}
          class="mono"
          rows={12}
          aria-label={label}
          value={value}
          readOnly={readOnly}
          spellcheck={false}
          onInput={(event) => onChange?.(withLineBreaksOf(latest.current.value, event.currentTarget.value))}
        />
      )}
      {stage === "failed" ? <p class="soft small">The editor could not be loaded. This plain field does the same, without colours.</p> : null}
    </div>
  );
}

interface SideBySideProps {
  before: string;
  after: string;
  language: Language;
  label: string;
}

/** Two texts beside each other. If the view cannot be loaded, the difference is shown line by line. */
export function SideBySide({ before, after, language, label }: SideBySideProps) {
  const host = useRef<HTMLDivElement>(null);
  const [stage, setStage] = useState<Stage>("loading");
  useEffect(() => {
    let isGone = false;
    let destroy = () => {};
    import("./merge.ts")
      .then(({ mountMerge }) => {
        const element = host.current;
        if (isGone || element === null) return destroy;
        const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
        return mountMerge(root, element.parentElement?.clientWidth ?? 0, { before, after, language, label });
      })
      .then(
        (unmount) => {
          if (isGone) return unmount();
          destroy = unmount;
          setStage("ready");
        },
        () => setStage("failed"),
      );
    return () => {
      isGone = true;
      destroy();
    };
  }, [before, after, language, label]);
  return (
    <div class="editor both">
      <div ref={host} class="editor-host" hidden={stage !== "ready"} />
      {stage === "loading" ? <Loading /> : null}
      {stage === "failed" ? <Diff text={unifiedDiff(before, after)} label={label} /> : null}
    </div>
  );
}
