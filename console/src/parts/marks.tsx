// Small coloured words: risk, status, approval. The word itself tells everything; the colour only helps.

import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "accent" | "";

export function Badge({ tone = "", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} {...(title === undefined ? {} : { title })}>
      {children}
    </span>
  );
}

const RISKS: Record<string, Tone> = { safe: "good", low: "good", medium: "warn", high: "bad", critical: "bad" };

export function RiskBadge({ risk }: { risk: string }) {
  return <Badge tone={RISKS[risk] ?? ""}>{risk}</Badge>;
}

const STATUSES: Record<string, Tone> = {
  success: "good",
  ok: "good",
  active: "good",
  approved: "good",
  ready: "good",
  running: "accent",
  pending: "warn",
  pending_approval: "warn",
  degraded: "warn",
  warning: "warn",
  error: "bad",
  denied: "bad",
  expired: "bad",
  unreachable: "bad",
  invalid: "bad",
  critical: "bad",
};

export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={STATUSES[status] ?? ""}>{status.replaceAll("_", " ")}</Badge>;
}
