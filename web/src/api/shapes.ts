// Shapes of answers by the names that the pages use for them; what the document describes comes from
// there.
import type { Run } from "./client";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
type Answer<Path extends keyof paths, Verb extends keyof paths[Path]> = paths[Path][Verb] extends { responses: { 200: { content: { "application/json": infer Body } } } } ? Body : never;

export type Plugin = Schemas["PluginView"];
export type Job = Schemas["Job"];
export type Statistics = Schemas["MethodStatistics"];
export type MethodSummary = Schemas["MethodSummary"];
export type Callers = Schemas["MethodCallers"];
export type WholeMethod = Answer<"/api/methods/{name}", "get">;
/** A call as it was just made, or as a journal recorded it. */
export type WholeCall = Omit<Schemas["CallView"], "kind"> & Partial<Pick<Schemas["CallView"], "kind">>;
export type Platform = Schemas["PlatformView"];
export type Client = Schemas["ClientView"];
export type Room = Schemas["RoomView"];
export type ModelEntry = Schemas["ModelView"];
export type Found = Schemas["FoundModels"];
export type NewModel = Pick<Schemas["NewModel"], "id"> & Partial<Schemas["NewModel"]>;
export type ModelFailure = Schemas["ModelFailure"];
export type ModelTest = Schemas["ModelTest"];
export type Timer = Schemas["TimerView"];
export type Setting = Schemas["SettingView"];
export type Settings = Schemas["SettingsView"];
export type LogLine = Schemas["LogLine"];
export type ActivityTotals = Schemas["ActivityTotals"];
export type Overview = Schemas["Overview"];
export type Check = Schemas["Check"];
export type CostReport = Schemas["CostReport"];

/** Its settings as a form. */
export type PluginConfig = Omit<Schemas["PluginConfig"], "schema" | "values"> & { schema?: Schema | null; values: Record<string, unknown> };

/** One description of a form for every flavour of plugin. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  anyOf?: Schema[];
  "x-ui"?: {
    secret?: boolean;
    textarea?: boolean;
    hidden?: boolean;
    required?: boolean;
    restart?: boolean;
    placeholder?: string;
    item?: string;
    select?: "model" | "embedding_model" | "persona" | "provider" | "knowledge_base" | null;
    multiple?: boolean;
    /** What the values of `enum` are called. */
    labels?: string[] | null;
    group?: string | null;
    language?: string | null;
    condition?: Record<string, unknown> | null;
    titles?: Record<string, string>;
    descriptions?: Record<string, string>;
  };
}
