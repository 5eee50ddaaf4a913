/** Decodes `tools` and `toolConfig` into canonical fields and encodes them. CONV-508, CONV-509; T23, T29. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { CanonicalRequest, JsonObject, Tool, ToolChoice } from "../canonical/request.ts";
import { keepUnknown } from "../native.ts";
import { isSet, list, type Fields } from "../read.ts";
import type { Gathered } from "./config.ts";
import { read, spelling } from "./names.ts";
import { fromVendorSchema } from "./from-schema.ts";
import { toVendorSchema, newUnfoldingBudget } from "./schema.ts";

/** The members of a declaration that are read; of its two schemas only one, as at the vendor. */
function declarationFields(wire: WireObject): ReadonlySet<string> {
  const name = "parametersJsonSchema";
  const schema = isObject(read(wire, name)) ? spelling(wire, name) : "parameters";
  return new Set(["name", "description", schema]);
}

/** Function declarations become tools; the vendor's own tools (search, code) stay native fields. */
export function decodeTools(body: WireObject, { names, native, used }: Gathered): Fields {
  if (!isSet(body["tools"])) return {};
  used.add("tools");
  names.tools = "tools";
  const tools: Tool[] = [];
  for (const [index, wire] of list(body["tools"]).entries()) {
    if (!isObject(wire)) continue;
    const param = `tools[${index}]`;
    const name = spelling(wire, "functionDeclarations");
    const declarations = read(wire, "functionDeclarations");
    for (const [at, declaration] of list(declarations).entries()) {
      if (!isObject(declaration)) continue;
      tools.push(decodeDeclaration(declaration));
      keepUnknown(declaration, declarationFields(declaration), `${param}.${name}[${at}]`, native);
    }
    keepUnknown(wire, new Set([name]), param, native);
  }
  return { tools };
}

function decodeDeclaration(wire: WireObject): Tool {
  const { description, parameters } = wire;
  const schema = read(wire, "parametersJsonSchema");
  const given = isObject(schema)
    ? (exactTwinOf(schema) as JsonObject)
    : isObject(parameters)
      ? fromVendorSchema(exactTwinOf(parameters))
      : undefined;
  return {
    name: String(wire["name"]),
    ...(typeof description === "string" ? { description } : {}),
    ...(given ? { parameters: given } : {}),
  };
}

export function decodeToolConfig(body: WireObject, { names, native, used }: Gathered): Fields {
  const config = read(body, "toolConfig");
  if (!isObject(config)) return {};
  const path = spelling(body, "toolConfig");
  used.add(path);
  const calling = read(config, "functionCallingConfig");
  const name = spelling(config, "functionCallingConfig");
  keepUnknown(config, new Set([name]), path, native);
  if (!isObject(calling)) return {};
  const allowed = read(calling, "allowedFunctionNames");
  names.toolChoice = `${path}.${name}`;
  const named = list(allowed).map(String);
  const mode = modeOf(calling["mode"]);
  // VALIDATED without names enforces the schema of every call, which has no canonical form. Names count only with these two modes.
  const known = new Set(mode === "VALIDATED" && named.length === 0 ? [] : ["mode"]);
  if (mode === "ANY" || mode === "VALIDATED") known.add(spelling(calling, "allowedFunctionNames"));
  keepUnknown(calling, known, `${path}.${name}`, native);
  return { toolChoice: decodeMode(mode, named) };
}

/** The modes by the vendor's numbers, which Google's older SDK for Python sends by REST. */
const modes = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];

/** LangChain for JavaScript and Koog write modes in small letters. */
const modeOf = (mode: unknown): unknown =>
  typeof mode === "number" ? modes[mode] : typeof mode === "string" ? mode.toUpperCase() : mode;

function decodeMode(mode: unknown, allowed: readonly string[]): ToolChoice {
  if (mode === "NONE") return { type: "none" };
  if (mode === "ANY") {
    if (allowed.length === 0) return { type: "required" };
    return allowed.length === 1
      ? { type: "tool", name: allowed[0]! }
      : { type: "allowed", mode: "required", names: allowed };
  }
  return mode === "VALIDATED" && allowed.length > 0
    ? { type: "allowed", mode: "auto", names: allowed }
    : { type: "auto" };
}

/**
 * The vendor reads any cleaned JSON Schema in `parametersJsonSchema`; a tool without arguments has none. Schemas of callers of this
 * protocol pass unchanged.
 */
export function encodeTools(request: CanonicalRequest, body: JsonObject): void {
  const { protocol, tools = [], toolChoice } = request;
  const together = newUnfoldingBudget();
  const schemaOf = (schema: JsonObject): JsonObject =>
    protocol === "generate_content"
      ? schema
      : toVendorSchema({ type: "object", ...schema }, together);
  if (tools.length > 0) {
    const functionDeclarations = tools.map((tool) => encodeDeclaration(tool, schemaOf));
    body["tools"] = [{ functionDeclarations }];
  }
  if (toolChoice) body["toolConfig"] = { functionCallingConfig: encodeMode(toolChoice) };
}

function encodeDeclaration(tool: Tool, schemaOf: (schema: JsonObject) => JsonObject): JsonObject {
  const wire: JsonObject = { name: tool.name };
  if (tool.description !== undefined) wire["description"] = tool.description;
  if (tool.parameters && Object.keys(tool.parameters).length > 0) {
    wire["parametersJsonSchema"] = schemaOf(tool.parameters);
  }
  return wire;
}

function encodeMode(choice: ToolChoice): JsonObject {
  switch (choice.type) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [choice.name] };
    case "allowed": {
      const mode = choice.mode === "required" ? "ANY" : "VALIDATED";
      return { mode, allowedFunctionNames: [...choice.names] };
    }
  }
}
