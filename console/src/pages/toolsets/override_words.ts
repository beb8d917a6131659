// An override in words. Pure.

interface Override {
  renderer: string | null;
  renderer_config: object | null;
  name_override: string | null;
  description_override: string | null;
  requires_approval: boolean | null;
  enabled: boolean | null;
}

/** A sentence for each field that the override sets. */
export function overrideWords(it: Override): string[] {
  const words: string[] = [];
  if (it.enabled !== null) words.push(it.enabled ? "Switched on" : "Switched off");
  if (it.requires_approval !== null) words.push(it.requires_approval ? "Each call waits for an approval" : "Calls need no approval");
  if (it.renderer !== null) words.push(`Results are shown as ${it.renderer}`);
  if (it.renderer_config !== null) words.push(`Renderer settings: ${JSON.stringify(it.renderer_config)}`);
  if (it.name_override !== null) words.push(`Name: ${it.name_override}`);
  if (it.description_override !== null) words.push(`Description: ${it.description_override}`);
  return words;
}
