// The formats in which agents get tools (docs/formats.md).

export const TOOL_FORMATS = ["json", "openai", "openai_responses", "anthropic", "gemini", "langchain", "mcp", "text"] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

export const FORMAT_NAMES: Record<ToolFormat, string> = {
  json: "Registry",
  openai: "OpenAI Chat",
  openai_responses: "OpenAI Responses",
  anthropic: "Anthropic",
  gemini: "Gemini",
  langchain: "LangChain",
  mcp: "MCP",
  text: "Text",
};

/** The format of a word in the URL. */
export function toolFormat(word: string | null, otherwise: ToolFormat): ToolFormat {
  return TOOL_FORMATS.find((it) => it === word) ?? otherwise;
}

/** Strict mode is OpenAI's. */
export function hasStrictMode(format: ToolFormat): boolean {
  return format === "openai" || format === "openai_responses";
}
