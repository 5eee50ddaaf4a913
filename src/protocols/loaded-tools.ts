/**
 * Names the tools that a result of messages loads (`tool_reference`), as Claude Code's ToolSearch does. Other protocols are offered all
 * tools from the start. Without a name the result would be empty, and the model would take its search for a vain one. T33.
 */
import { isObject } from "../base/json.ts";
import { getOrCreate } from "../base/memoize.ts";
import type { Note } from "../base/notes.ts";
import { keepMarker, markerOf } from "./cache-marker.ts";
import type {
  CacheBreakpoint,
  CanonicalRequest,
  JsonObject,
  NativeField,
  Part,
} from "./canonical/request.ts";
import type { Limits } from "./limits.ts";
import { list, objectOf } from "./read.ts";
import { shortNames } from "./tool-names.ts";

const place = /^messages\[(\d+)\]\.content\[(\d+)\]\.content\[\d+\]$/;

const detail =
  "the upstream is offered all tools from the start: those that the result loads are named in it";

/**
 * Returns the request with the loaded tools as texts of their results, under the names by which the upstream is offered them. `body` is the
 * caller's, for another protocol.
 */
export function nameLoadedTools(
  request: CanonicalRequest,
  body: JsonObject,
  limits: Limits,
): { readonly request: CanonicalRequest; readonly notes: readonly Note[] } {
  const references = request.native.filter(isReference);
  if (references.length === 0) return { request, notes: [] };
  const shorts = shortNames(request, limits);
  const native = request.native.filter((field) => !isReference(field));
  const loaded = new Map<string, Loaded>();
  for (const { param, value } of references) {
    const [, turn, block] = place.exec(param)!;
    const tools = getOrCreate(loaded, `${turn}.${block}`, (): Loaded => ({ names: [] }));
    tools.names.push(...nameIn(value).map((name) => shorts.get(name) ?? name));
    tools.cache = markerOf(objectOf(value)) ?? tools.cache;
    keepMarker(objectOf(value), param, native);
  }
  const places = placesOfResults(body).values();
  const named = (part: Part): Part => {
    if (part.type !== "tool_result") return part;
    const { names, cache } = loaded.get(places.next().value ?? "") ?? { names: [] };
    if (names.length === 0) return part;
    const text = `You can call these tools now: ${names.join(", ")}`;
    return { ...part, content: [...part.content, { type: "text", text, ...(cache && { cache }) }] };
  };
  return {
    request: {
      ...request,
      messages: request.messages.map((turn) => ({ ...turn, content: turn.content.map(named) })),
      native,
    },
    notes: [{ param: "messages.content.tool_reference", kind: "rewritten", detail }],
  };
}

/** The tools that a result loads, and its last cache marker. */
interface Loaded {
  readonly names: string[];
  cache?: CacheBreakpoint | undefined;
}

const isReference = ({ param, value }: NativeField): boolean =>
  isObject(value) && value["type"] === "tool_reference" && place.test(param);

function nameIn(reference: unknown): string[] {
  const name = objectOf(reference)["tool_name"];
  return typeof name === "string" ? [name] : [];
}

/** The places of all results, in the order of the conversation. Ids do not tell them apart: some vendors count anew in every turn. */
const placesOfResults = ({ messages }: JsonObject): string[] =>
  list(messages).flatMap((message, turn) =>
    list(objectOf(message)["content"]).flatMap((block, at) =>
      objectOf(block)["type"] === "tool_result" ? [`${turn}.${at}`] : [],
    ),
  );
