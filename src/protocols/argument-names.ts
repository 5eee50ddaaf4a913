/**
 * Renames tool arguments that the target refuses, such as `$filter` of an OData tool: a single one fails the whole request. Schemas and
 * earlier calls get legal names; calls in the answer get the caller's names back. Pure.
 */
import { isRawNumber } from "../base/exact-numbers.ts";
import { isObject } from "../base/json.ts";
import type { CanonicalRequest, Json, JsonObject, Part, Tool } from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";
import { bufferBlocks } from "./buffer-blocks.ts";
import type { Limits } from "./limits.ts";
import { legalName } from "./legal-name.ts";
import { mapSchemas, mapsSchemas, schemasIn } from "./schema-walk.ts";
import { objectIn } from "./tool-arguments.ts";
import { unchanged, type RequestRewrite } from "./request-rewrite.ts";

/** By tool name: its refused argument names, each with its replacement. */
type Renamed = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Renames tool arguments that the target refuses, in the tools and calls of a request. */
export function renameArguments(
  request: CanonicalRequest,
  { argumentName }: Limits,
): RequestRewrite {
  const { tools = [], messages, names } = request;
  const renamed = argumentName ? refusedNames(tools, argumentName) : new Map<string, never>();
  if (renamed.size === 0) return unchanged(request);
  const there = (part: Part): Part => renameCall(part, renamed);
  return {
    request: {
      ...request,
      tools: tools.map((tool) => renameTool(tool, renamed.get(tool.name))),
      messages: messages.map((message) => ({ ...message, content: message.content.map(there) })),
    },
    notes: [
      {
        param: names.tools ?? "tools",
        kind: "rewritten",
        detail:
          "names of arguments that the upstream refuses went under others; calls have your own",
      },
    ],
    wrapCodec: (upstream) => restoreArguments(upstream, inverse(renamed)),
  };
}

function refusedNames(tools: readonly Tool[], argumentName: RegExp): Renamed {
  const renamed = new Map<string, ReadonlyMap<string, string>>();
  for (const { name, parameters } of tools) {
    if (!parameters) continue;
    const all = propertyNames(parameters);
    const refused = [...all].filter((one) => !argumentName.test(one));
    if (refused.length > 0) renamed.set(name, legalNames(refused, all));
  }
  return renamed;
}

/** Returns the names of all properties that a schema declares, at any depth. */
function propertyNames(schema: JsonObject, names = new Set<string>()): Set<string> {
  const { properties } = schema;
  if (isObject(properties)) for (const name of Object.keys(properties)) names.add(name);
  for (const inner of schemasIn(schema)) propertyNames(inner, names);
  return names;
}

/** The longest name that every vendor accepts. */
const argumentNameMax = 64;

function legalNames(refused: readonly string[], all: ReadonlySet<string>): Map<string, string> {
  const taken = new Set(all);
  return new Map(
    refused.map((name) => {
      const legal = legalName(name, { other: /[^a-zA-Z0-9_]/g, max: argumentNameMax, taken });
      taken.add(legal);
      return [name, legal];
    }),
  );
}

const inverse = (renamed: Renamed): Renamed =>
  new Map(
    [...renamed].map(([tool, names]) => [
      tool,
      new Map([...names].map(([name, legal]) => [legal, name])),
    ]),
  );

type Names = ReadonlyMap<string, string>;

const renameTool = (tool: Tool, names: Names | undefined): Tool =>
  names && tool.parameters ? { ...tool, parameters: renameSchema(tool.parameters, names) } : tool;

/** Keywords that list property names, and keywords whose member names are property names. */
const lists = new Set(["required", "propertyOrdering"]);
const byName = new Set(["properties", "dependentSchemas", "dependentRequired", "dependencies"]);

function renameSchema(schema: JsonObject, names: Names): JsonObject {
  const renamed = mapSchemas(schema, (inner) => renameSchema(inner, names));
  const other = (name: Json): Json => (typeof name === "string" ? (names.get(name) ?? name) : name);
  return Object.fromEntries(
    Object.entries(renamed).map(([keyword, value]): [string, Json] => {
      if (lists.has(keyword) && Array.isArray(value)) return [keyword, value.map(other)];
      if (keyword === "$ref" && typeof value === "string")
        return [keyword, renameReference(value, names)];
      if (!byName.has(keyword) || !isObject(value)) return [keyword, value];
      return [
        keyword,
        renameMembers(value, names, (inner) => (Array.isArray(inner) ? inner.map(other) : inner)),
      ];
    }),
  );
}

/** Renames the properties in the path of a `$ref`. */
function renameReference(reference: string, names: Names): string {
  const steps = reference.split("/");
  let isName = false;
  return steps
    .map((step, index) => {
      const named = isName ? steps[index - 1] : undefined;
      isName = named === undefined && mapsSchemas(step);
      if (named === undefined || !byName.has(named)) return step;
      return names.get(step.replaceAll("~1", "/").replaceAll("~0", "~")) ?? step;
    })
    .join("/");
}

const renameMembers = (object: JsonObject, names: Names, map: (value: Json) => Json): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [names.get(name) ?? name, map(value)]),
  );

/** A call with renamed arguments. Arguments that are not a JSON object stay as the model wrote them. */
function renameCall(part: Part, renamed: Renamed): Part {
  const names = part.type === "tool_call" ? renamed.get(part.name) : undefined;
  return names && part.type === "tool_call"
    ? { ...part, arguments: renameText(part.arguments, names) }
    : part;
}

function renameText(text: string, names: Names): string {
  const object = objectIn(text);
  return object ? JSON.stringify(renameValue(object, names)) : text;
}

function renameValue(value: Json, names: Names): Json {
  if (Array.isArray(value)) return value.map((item) => renameValue(item, names));
  if (!isObject(value) || isRawNumber(value)) return value;
  return renameMembers(value, names, (inner) => renameValue(inner, names));
}

/** A codec that restores the caller's names in whole and streamed answers. */
const restoreArguments = (upstream: UpstreamCodec, own: Renamed): UpstreamCodec => ({
  ...upstream,
  decodeResponse(body) {
    const response = upstream.decodeResponse(body);
    return { ...response, content: response.content.map((part) => renameCall(part, own)) };
  },
  decodeStream: () =>
    bufferBlocks(upstream.decodeStream(), (start) => {
      const names = start.type === "tool_call_start" ? own.get(start.name) : undefined;
      return names && ((text) => renameText(text, names));
    }),
});
