// Questions that must be answered before something happens.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { stage } from "../api/caller.ts";
import { type ApiRequest } from "../api/request.ts";
import { Button } from "./button.tsx";
import { CopyCurl } from "./clipboard.tsx";
import { Failure } from "./states.tsx";
import { useSubmit } from "./submit.ts";

/** A dialog that is open as long as it is rendered. Escape closes it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A dialog of a page that is hidden would block the sign-in.
  const isHere = stage.value === "here";
  useEffect(() => {
    if (!isHere) return;
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, [isHere]);
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={close}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** The word on the button that does it. */
  action: string;
  danger?: boolean;
  work: () => Promise<void>;
  /** The request that the work sends. */
  of?: ApiRequest<unknown>;
  close: () => void;
  children?: ComponentChildren;
}

/** Asks whether something is to happen. A refusal is told in the dialog, because a toast would lie behind it. */
export function Confirm({ title, action, danger = false, work, of, close, children }: ConfirmProps) {
  const { busy, error, submit } = useSubmit();
  const act = async () => {
    await work();
    close();
  };
  return (
    <Dialog title={title} close={close}>
      {children}
      {error === undefined ? null : <Failure error={error} />}
      <div class="dialog-foot">
        {of === undefined ? null : <CopyCurl of={of} />}
        <Button onClick={close}>Cancel</Button>
        <Button kind={danger ? "danger" : "primary"} disabled={busy} onClick={() => submit(act)}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
