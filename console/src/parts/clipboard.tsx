// Copying texts, and requests as curl.

import { signal } from "@preact/signals";
import { type ApiRequest, curl } from "../api/request.ts";
import { Button } from "./button.tsx";
import { tell } from "./toast.tsx";

/** A text that the browser did not let the page copy, so that the person copies it. `copy_by_hand` shows it. */
export const uncopied = signal<string | null>(null);

export async function copy(text: string): Promise<void> {
  try {
    // Browsers have no clipboard for pages that came by plain http, unless they came from this machine.
    await navigator.clipboard.writeText(text);
    tell("Copied");
  } catch {
    uncopied.value = text;
  }
}

interface CopyCurlProps {
  of: ApiRequest<unknown>;
  narrow?: boolean;
  /** The word on the button that sends the request, where more than one button could be meant. */
  action?: string;
}

/** The same request for a terminal. Every action of the console has this button beside it. */
export function CopyCurl({ of, narrow = false, action }: CopyCurlProps) {
  return (
    <Button narrow={narrow} title="Copies the request that this page makes" onClick={() => void copy(curl(of))}>
      {action === undefined ? "Copy as curl" : `Copy “${action}” as curl`}
    </Button>
  );
}

/** The requests of small buttons, folded up: one button for each would hide what they are about. */
export function CurlMenu({ of }: { of: [action: string, asked: ApiRequest<unknown>][] }) {
  return (
    <details class="curls">
      <summary>As curl</summary>
      <div class="row">
        {of.map(([action, asked]) => (
          <CopyCurl key={action} narrow of={asked} action={action} />
        ))}
      </div>
    </details>
  );
}

/** An id that can be copied. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id">
      <code title={id}>{id}</code>
      <Button narrow label={`Copy ${id}`} onClick={() => void copy(id)}>
        Copy
      </Button>
    </span>
  );
}
