// Buttons. A button that does work is busy until the work has ended, and tells what went wrong.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ApiError } from "../api/request.ts";
import { tell } from "./toast.tsx";

type Kind = "primary" | "danger" | "quiet" | "";

interface ButtonProps {
  onClick?: () => void;
  kind?: Kind;
  narrow?: boolean;
  disabled?: boolean;
  type?: "button" | "submit";
  title?: string;
  label?: string;
  children: ComponentChildren;
}

export function Button({ onClick, kind = "", narrow = false, disabled = false, type = "button", title, label, children }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind} ${narrow ? "narrow" : ""}`}
      disabled={disabled}
      {...(title === undefined ? {} : { title })}
      {...(label === undefined ? {} : { "aria-label": label })}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

/** A button whose work takes a while. The error of the work is shown as a toast, unless the work handles it. */
export function WorkButton({ work, children, ...rest }: Omit<ButtonProps, "onClick"> & { work: () => Promise<void> }) {
  const [run, busy] = useWork();
  return (
    <Button {...rest} disabled={rest.disabled === true || busy} onClick={() => void run(work)}>
      {children}
    </Button>
  );
}

/** Runs work, one at a time, and tells its error. Returns the function that runs, and whether work is under way. */
export function useWork(): [(work: () => Promise<void>) => Promise<void>, boolean] {
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const run = async (work: () => Promise<void>) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    try {
      await work();
    } catch (cause) {
      tell(cause instanceof ApiError || cause instanceof Error ? cause.message : String(cause));
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return [run, busy];
}

export function ButtonLink({ href, kind = "", narrow = false, children }: { href: string; kind?: Kind; narrow?: boolean; children: ComponentChildren }) {
  return (
    <a class={`button ${kind} ${narrow ? "narrow" : ""}`} href={href}>
      {children}
    </a>
  );
}
