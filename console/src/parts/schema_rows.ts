// A JSON Schema as rows of a table. Pure. `schema_table.tsx` shows them.

/** One property, or one of the forms that a value may have. */
export interface SchemaRow {
  /** The place in the schema: unique among the rows. */
  id: string;
  /** How deep the row is indented. */
  depth: number;
  name: string;
  /** Whether `name` is the name of a property, or words such as “each item”. */
  isProperty: boolean;
  type: string;
  required: boolean;
  secret: boolean;
  description: string;
  /** Constraints in words: default, values, bounds. */
  facts: string[];
}

export interface SchemaRows {
  rows: SchemaRow[];
  /** Whether rows are left out. */
  cut: boolean;
}

type Schema = Record<string, unknown>;

/** A table with more rows is no help to anybody; the JSON below it has the rest. */
const MAX_ROWS = 400;
const MAX_DEPTH = 12;
/** Values of an enum that are named. */
const MAX_VALUES = 40;

/** The rows of a schema, outer properties before inner ones. A schema that is no object with properties is one row. */
export function schemaRows(schema: unknown): SchemaRows {
  const walk = new Walk(schema);
  const root = walk.resolve(schema, []);
  if (Object.keys(propertiesOf(root.schema)).length > 0) walk.children(root.schema, "", 0, root.trail);
  else if (isObject(schema) && (root.schema["type"] !== "object" || hasForms(root.schema) || isObject(root.schema["additionalProperties"]))) {
    walk.row(schema, { id: "", depth: 0, name: "the value", isProperty: false, required: false }, []);
  }
  return { rows: walk.rows.slice(0, MAX_ROWS), cut: walk.rows.length > MAX_ROWS };
}

interface Place {
  id: string;
  depth: number;
  name: string;
  isProperty: boolean;
  required: boolean;
}

class Walk {
  readonly rows: SchemaRow[] = [];
  private readonly root: unknown;

  constructor(root: unknown) {
    this.root = root;
  }

  /** Follows references. `trail` has the references that led here, so that a schema which refers to itself ends. */
  resolve(given: unknown, trail: string[]): { schema: Schema; trail: string[]; repeats: string | null } {
    let schema = isObject(given) ? given : {};
    let followed = trail;
    for (;;) {
      const ref = schema["$ref"];
      if (typeof ref !== "string") break;
      if (followed.includes(ref)) return { schema, trail: followed, repeats: ref };
      const target = lookUp(this.root, ref);
      if (!isObject(target)) break;
      followed = [...followed, ref];
      // Keywords beside a reference hold too, and win for titles and descriptions.
      const { $ref: _, ...beside } = schema;
      schema = { ...target, ...beside };
    }
    const parts = schema["allOf"];
    if (Array.isArray(parts)) {
      const { allOf: _, ...rest } = schema;
      schema = parts.map((it) => this.resolve(it, followed).schema).reduce<Schema>(merged, rest);
    }
    return { schema, trail: followed, repeats: null };
  }

  row(given: unknown, place: Place, trail: string[]): void {
    // One row more than are shown tells that rows are left out.
    if (this.rows.length > MAX_ROWS) return;
    const { schema, trail: followed, repeats } = this.resolve(given, trail);
    const facts = repeats === null ? factsOf(schema) : [`the same as ${nameOfRef(repeats)} above`];
    this.rows.push({
      ...place,
      type: repeats === null ? (given === false ? "nothing" : this.typeOf(schema, followed)) : "object",
      secret: schema["writeOnly"] === true || schema["format"] === "password",
      description: textOf(schema["description"]) || textOf(schema["title"]),
      facts,
    });
    if (repeats === null && place.depth < MAX_DEPTH) this.children(schema, place.id, place.depth + 1, followed);
  }

  children(schema: Schema, id: string, depth: number, trail: string[]): void {
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    for (const [name, it] of Object.entries(propertiesOf(schema))) {
      // A parameter with a default may be left out, even if it is required.
      const needed = required.includes(name) && !(isObject(it) && "default" in it);
      this.row(it, { id: `${id}/properties/${name}`, depth, name, isProperty: true, required: needed }, trail);
    }
    const part = (it: unknown, key: string, name: string) => this.row(it, { id: `${id}/${key}`, depth, name, isProperty: false, required: false }, trail);
    for (const [pattern, it] of Object.entries(isObject(schema["patternProperties"]) ? schema["patternProperties"] : {})) {
      part(it, `patternProperties/${pattern}`, `names like ${pattern}`);
    }
    if (isObject(schema["additionalProperties"])) part(schema["additionalProperties"], "additionalProperties", "any other name");
    if (Array.isArray(schema["prefixItems"])) schema["prefixItems"].forEach((it, index) => part(it, `prefixItems/${index}`, `item ${index + 1}`));
    if (isObject(schema["items"]) && this.needsRows(schema["items"], trail)) part(schema["items"], "items", "each item");
    for (const [key, forms] of formsOf(schema)) {
      if (!forms.some((it) => this.needsRows(it, trail))) continue;
      forms.forEach((it, index) => part(it, `${key}/${index}`, `form ${index + 1}`));
    }
  }

  /** Whether a row of its own says more about a schema than its type does. */
  private needsRows(given: unknown, trail: string[]): boolean {
    const { schema, repeats } = this.resolve(given, trail);
    if (repeats !== null) return false;
    const simple = ["type", "title", "format"];
    return Object.keys(schema).some((it) => !simple.includes(it));
  }

  private typeOf(schema: Schema, trail: string[]): string {
    const type = schema["type"];
    if (typeof type === "string") {
      const items = schema["items"];
      if (type.toLowerCase() !== "array" || !isObject(items)) return type;
      const { schema: of, repeats, trail: followed } = this.resolve(items, trail);
      return `${type} of ${repeats === null ? this.typeOf(of, followed) : nameOfRef(repeats)}`;
    }
    if (Array.isArray(type)) return type.join(" or ");
    const forms = formsOf(schema)[0]?.[1];
    if (forms !== undefined) {
      const types = forms.map((it) => {
        const { schema: of, repeats, trail: followed } = this.resolve(it, trail);
        return repeats === null ? this.typeOf(of, followed) : nameOfRef(repeats);
      });
      return [...new Set(types)].join(" or ");
    }
    if (typeof schema["$ref"] === "string") return nameOfRef(schema["$ref"]);
    if ("const" in schema) return typeOfValue(schema["const"]);
    if (Array.isArray(schema["enum"])) return [...new Set(schema["enum"].map(typeOfValue))].join(" or ");
    return isObject(schema["properties"]) ? "object" : "any";
  }
}

function hasForms(schema: Schema): boolean {
  return formsOf(schema).length > 0;
}

function formsOf(schema: Schema): [string, unknown[]][] {
  return ["oneOf", "anyOf"].map((key): [string, unknown] => [key, schema[key]]).filter((it): it is [string, unknown[]] => Array.isArray(it[1]));
}

function propertiesOf(schema: Schema): Schema {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

/** Both schemas hold: properties and required names add up. */
function merged(one: Schema, other: Schema): Schema {
  const list = (it: unknown) => (Array.isArray(it) ? (it as unknown[]) : []);
  return {
    ...other,
    ...one,
    ...("properties" in one || "properties" in other ? { properties: { ...propertiesOf(other), ...propertiesOf(one) } } : {}),
    ...("required" in one || "required" in other ? { required: [...list(other["required"]), ...list(one["required"])] } : {}),
  };
}

function lookUp(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let value = root;
  for (const step of ref.slice(2).split("/")) {
    const name = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(value) && !Array.isArray(value)) return undefined;
    value = (value as Schema)[name];
  }
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function nameOfRef(ref: string): string {
  return ref === "#" ? "the whole" : (ref.split("/").at(-1) ?? ref);
}

function factsOf(schema: Schema): string[] {
  const facts: string[] = [];
  const value = (key: string) => schema[key];
  if ("default" in schema) facts.push(`default ${short(value("default"))}`);
  if ("const" in schema) facts.push(`always ${short(value("const"))}`);
  const values = value("enum");
  if (Array.isArray(values)) {
    const named = values.slice(0, MAX_VALUES).map(short).join(", ");
    facts.push(`one of ${named}${values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : ""}`);
  }
  if (typeof value("format") === "string") facts.push(`format ${textOf(value("format"))}`);
  if (typeof value("pattern") === "string") facts.push(`pattern ${textOf(value("pattern"))}`);
  facts.push(...range(value("minLength"), value("maxLength"), "character"));
  facts.push(...range(value("minItems"), value("maxItems"), "item"));
  facts.push(...range(value("minProperties"), value("maxProperties"), "field"));
  facts.push(...range(value("minimum"), value("maximum"), ""));
  if (isNumber(value("exclusiveMinimum"))) facts.push(`more than ${String(value("exclusiveMinimum"))}`);
  if (isNumber(value("exclusiveMaximum"))) facts.push(`less than ${String(value("exclusiveMaximum"))}`);
  if (isNumber(value("multipleOf"))) facts.push(`a multiple of ${String(value("multipleOf"))}`);
  if (value("uniqueItems") === true) facts.push("no item twice");
  if (value("additionalProperties") === false && value("properties") !== undefined) facts.push("no other names");
  if (value("readOnly") === true) facts.push("read only");
  if (value("deprecated") === true) facts.push("deprecated");
  const conditions = ["if", "not", "dependentSchemas", "dependentRequired", "contains", "propertyNames"].filter((it) => it in schema);
  if (conditions.length > 0) facts.push(`more conditions in the JSON (${conditions.join(", ")})`);
  return facts;
}

function range(least: unknown, most: unknown, unit: string): string[] {
  const words = (count: number) => (unit === "" ? "" : ` ${unit}${count === 1 ? "" : "s"}`);
  if (isNumber(least) && isNumber(most)) return [`${least} to ${most}${words(most)}`];
  if (isNumber(least)) return [`at least ${least}${words(least)}`];
  return isNumber(most) ? [`at most ${most}${words(most)}`] : [];
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
