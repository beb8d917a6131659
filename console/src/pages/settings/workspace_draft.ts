// The settings of a workspace as a person edits them. Pure.

export interface Stored {
  default_guest_modules: string[];
  model_url?: string | null;
  model_name?: string | null;
  model_streaming?: string | null;
  context_tokens?: number | null;
}

export interface WorkspaceDraft {
  guestModules: string;
  modelUrl: string;
  modelName: string;
  /** A new key. The stored one is never shown. */
  modelKey: string;
  removesKey: boolean;
  streaming: string;
  contextTokens: string;
}

export function draftOf(it: Stored): WorkspaceDraft {
  return {
    guestModules: it.default_guest_modules.join("\n"),
    modelUrl: it.model_url ?? "",
    modelName: it.model_name ?? "",
    modelKey: "",
    removesKey: false,
    streaming: it.model_streaming ?? "",
    contextTokens: it.context_tokens === null || it.context_tokens === undefined ? "" : String(it.context_tokens),
  };
}

export interface Patch {
  default_guest_modules?: string[];
  model_url?: string;
  model_name?: string;
  model_key?: string;
  model_streaming?: string;
  context_tokens?: number;
}

/** Only what differs. An empty text clears a setting, and so does the number 0. */
export function patchOf(before: WorkspaceDraft, after: WorkspaceDraft): Patch {
  const names = (text: string) => text.split(/[\s,]+/).filter((it) => it !== "");
  const patch: Patch = {};
  if (names(before.guestModules).join() !== names(after.guestModules).join()) patch.default_guest_modules = names(after.guestModules);
  if (before.modelUrl !== after.modelUrl.trim()) patch.model_url = after.modelUrl.trim();
  if (before.modelName !== after.modelName.trim()) patch.model_name = after.modelName.trim();
  if (after.modelKey !== "") patch.model_key = after.modelKey;
  else if (after.removesKey) patch.model_key = "";
  if (before.streaming !== after.streaming) patch.model_streaming = after.streaming;
  if (before.contextTokens !== after.contextTokens.trim()) patch.context_tokens = after.contextTokens.trim() === "" ? 0 : Number(after.contextTokens);
  return patch;
}
