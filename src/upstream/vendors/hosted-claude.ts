/**
 * Claude at Bedrock and Vertex AI refuses beta flags that it does not know ("invalid beta flag", "Unexpected value(s)"). It also refuses
 * the fields of some of them ("Extra inputs are not permitted"). Claude Code sends several in each call. The flags are those of LiteLLM's list of September
 * 2026, which its users test daily, and `interleaved-thinking`, which Amazon documents. docs/clients.md.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Dialect } from "../../catalog/index.ts";
import type { JsonObject } from "../../protocols/index.ts";
import type { CallerHeaders } from "./types.ts";

type Json = JsonObject[string];

const both = [
  "compact-2026-01-12",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "dangerous-tool-use-2026-09-03",
  "interleaved-thinking-2025-05-14",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "tool-search-tool-2025-10-19",
];

/** The flags that each cloud accepts. */
const accepted: Partial<Readonly<Record<Dialect, ReadonlySet<string>>>> = {
  bedrock: new Set([
    ...both,
    "effort-2025-11-24",
    "fine-grained-tool-streaming-2025-05-14",
    "mid-conversation-output-config-2026-07-01",
    "mid-conversation-tool-changes-2026-07-01",
    "tool-examples-2025-10-29",
  ]),
  vertex: new Set([
    ...both,
    "compact-2026-09-04",
    "per-turn-control-2026-07-01",
    "web-search-2025-03-05",
  ]),
};

/** The clouds' own flag for the search of tools. */
const names = new Map([["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19"]]);

const flagsOf = (caller: CallerHeaders): string[] =>
  (caller["anthropic-beta"] ?? "")
    .split(",")
    .map((flag) => flag.trim())
    .filter((flag) => flag !== "");

/** Returns the caller's headers with the beta flags that a cloud accepts; unchanged for other vendors. */
export function acceptedHeaders(caller: CallerHeaders, dialect: Dialect): CallerHeaders {
  const known = accepted[dialect];
  if (!known || caller["anthropic-beta"] === undefined) return caller;
  const flags = flagsOf(caller).map((flag) => names.get(flag) ?? flag);
  const kept = [...new Set(flags)].filter((flag) => known.has(flag));
  return { ...caller, "anthropic-beta": kept.length === 0 ? undefined : kept.join(",") };
}

/** A request that a cloud accepts, and the notes about what it lost. */
interface Fitted {
  readonly body: JsonObject;
  readonly notes: readonly Note[];
}

/** Removes from a messages request what only Anthropic's own API accepts. `caller` has the headers as sent by the caller. */
export function fitHostedClaude(body: JsonObject, caller: CallerHeaders, dialect: Dialect): Fitted {
  const known = accepted[dialect];
  if (!known) return { body, notes: [] };
  const notes: Note[] = [];
  const refused = flagsOf(caller).filter((flag) => !known.has(names.get(flag) ?? flag));
  if (refused.length > 0) notes.push(refusedFlags(refused));
  const copy = { ...body };
  const drop = (param: string): void => {
    notes.push({ param, kind: "dropped", detail: "this cloud refuses it, dropped" });
  };
  if (Object.hasOwn(copy, "cache_control")) {
    delete copy["cache_control"];
    if (body["cache_control"] !== null) drop("cache_control");
  }
  if (dropFrom(copy, ["tools"], withoutEagerInput)) drop("tools.eager_input_streaming");
  if (dropFrom(copy, ["tools", "system", "messages"], withoutScope)) drop("cache_control.scope");
  return { body: copy, notes };
}

const namedMax = 12;

function refusedFlags(flags: readonly string[]): Note {
  const named = flags.slice(0, namedMax).map((flag) => flag.slice(0, 64));
  const more = flags.length > namedMax ? ", ..." : "";
  const detail = `flags that this cloud refuses, dropped: ${named.join(", ")}${more}`;
  return { param: "anthropic-beta", kind: "dropped", detail };
}

/** Applies `change` to the items of these lists of `copy`; true if one changed. Other items are shared. */
function dropFrom(
  copy: JsonObject,
  members: readonly string[],
  change: (item: Json) => Json,
): boolean {
  let hasChanged = false;
  for (const member of members) {
    const list = exactTwinOf(copy[member]);
    if (!Array.isArray(list)) continue;
    const items = list.map(change);
    if (items.every((item, index) => item === list[index])) continue;
    copy[member] = items;
    hasChanged = true;
  }
  return hasChanged;
}

function withoutEagerInput(tool: Json): Json {
  if (!isObject(tool) || !Object.hasOwn(tool, "eager_input_streaming")) return tool;
  const { eager_input_streaming: _eager, ...rest } = tool;
  return rest;
}

/** Removes the scope of cache markers from a tool, a block, or a message and its blocks. */
function withoutScope(item: Json): Json {
  if (!isObject(item)) return item;
  const { cache_control: marker, content } = item;
  const blocks = Array.isArray(content) ? content.map(withoutScope) : undefined;
  const hasChanged = blocks?.some((block, index) => block !== (content as Json[])[index]) === true;
  const isScoped = isObject(marker) && Object.hasOwn(marker, "scope");
  if (!hasChanged && !isScoped) return item;
  const copy: JsonObject = hasChanged ? { ...item, content: blocks } : { ...item };
  if (isScoped) {
    const { scope: _scope, ...rest } = marker;
    copy["cache_control"] = rest;
  }
  return copy;
}
