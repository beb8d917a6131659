// Names for the types of openapi.json. `schema.d.ts` is generated from it by scripts/console.

import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];
export type Paths = paths;

export type Agent = Schemas["AgentShown"];
export type Approval = Schemas["ApprovalOut"];
export type Call = Schemas["CallOut"];
export type Change = Schemas["ChangeOut"];
export type Message = Schemas["MessageOut"];
export type Module = Schemas["ModuleOut"];
export type Risk = Schemas["Risk"];
export type Session = Schemas["SessionOut"];
export type Tool = Schemas["ToolOut"];
export type ToolResult = Schemas["ToolResult"];
export type Toolset = Schemas["ToolsetPage"]["toolsets"][number];
/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
