// A page whose file is loaded when the page is first opened.

import type { ComponentType } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { useReturn } from "./api/load.ts";
import { knock, online } from "./api/reach.ts";
import { Button } from "./parts/button.tsx";
import { Loading } from "./parts/states.tsx";

/** The page that `load` finds. A file that got lost on the way is asked for again. */
export function loadedPage<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>): ComponentType<Props> {
  let page: ComponentType<Props> | undefined;
  return function LoadedPage(props: Props) {
    const [state, setState] = useState<"loading" | "here" | "lost" | "missing">(page === undefined ? "loading" : "here");
    const fetchPage = useCallback(async () => {
      try {
        page = (await load()).default;
      } catch {
        if (!(await knock())) return setState("lost");
        // The network may have come back in between, so the file is asked for once more.
        try {
          page = (await load()).default;
        } catch {
          return setState("missing");
        }
      }
      setState("here");
    }, []);
    useEffect(() => {
      if (page === undefined) void fetchPage();
    }, []);
    useReturn(state === "lost", fetchPage);
    if (page !== undefined) {
      const Page = page;
      return <Page {...props} />;
    }
    return state === "missing" && online.value ? <NewVersion /> : <Loading />;
  };
}

/** The names of files change with their contents, so a console that was opened before an update asks for files that are gone. */
function NewVersion() {
  return (
    <div class="notice warn" role="alert">
      <strong>This page of the console could not be loaded</strong>
      <p>Pegboard answers, so the console has probably been updated since you opened it. A reload gets the new one.</p>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload the console
      </Button>
    </div>
  );
}
