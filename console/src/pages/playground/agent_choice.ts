// Which agent answers. Pure.

interface Known {
  /** The agent that the token is bound to: it can act as no other. */
  bound: string | null;
  /** The agent that the link names. */
  asked: string | null;
  /** The agent of the conversation's last turn. */
  last: string | undefined;
  /** The agents of the workspace, as far as they are listed. */
  listed: readonly { id: string }[];
}

/** The agent, or undefined if the person has to choose one. Nobody talks to an agent that they have not chosen. */
export function wantedAgent({ bound, asked, last, listed }: Known): string | undefined {
  return bound ?? asked ?? last ?? (listed.length === 1 ? listed[0]?.id : undefined);
}
