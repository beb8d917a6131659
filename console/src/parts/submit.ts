// Sending a form: busy meanwhile, and afterwards what the API says about single fields.

import { useState } from "preact/hooks";
import { ApiError } from "../api/request.ts";
import { useWork } from "./button.tsx";

export interface Submission {
  busy: boolean;
  /** The last refusal; gone as soon as a request is accepted. */
  error: ApiError | undefined;
  /** What is wrong with the field at this JSON pointer, or with anything inside of it. */
  at: (pointer: string) => string | undefined;
  submit: (work: () => Promise<void>) => void;
}

/** The refusal of a form stays beside the form, so that nothing of it is lost. Other errors are told as a toast. */
export function useSubmit(): Submission {
  const [run, busy] = useWork();
  const [error, setError] = useState<ApiError | undefined>();
  const submit = (work: () => Promise<void>) =>
    void run(async () => {
      try {
        await work();
        setError(undefined);
      } catch (cause) {
        if (!(cause instanceof ApiError)) throw cause;
        setError(cause);
      }
    });
  const at = (pointer: string) => {
    const found = error?.problems.filter((it) => it.path === pointer || it.path.startsWith(`${pointer}/`)) ?? [];
    return found.length === 0 ? undefined : found.map((it) => (it.path === pointer ? it.message : `${it.path.slice(pointer.length + 1)}: ${it.message}`)).join("; ");
  };
  return { busy, error, at, submit };
}
