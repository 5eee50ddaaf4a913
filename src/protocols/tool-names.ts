/**
 * Renames tools that the target refuses, such as those of MCP servers with long or dotted names. Each gets a legal short name, and calls in
 * the answer get the caller's name back. Pure; the same names get the same short ones in every turn.
 */
import type { Note } from "../base/notes.ts";
import type {
  CanonicalRequest,
  Message,
  Part,
  ToolCallPart,
  ToolChoice,
} from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";
import { mapEvents } from "./buffer-blocks.ts";
import { legalName } from "./legal-name.ts";
import type { Limits } from "./limits.ts";
import { messagesField } from "./tidy.ts";

/** A request with tool names that its target accepts. */
interface Renamed {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
  /** The target's codec; its answers have the caller's names. */
  readonly upstream: UpstreamCodec;
}

/**
 * Returns the offered tool that a call means. Some models put a namespace of their own before its name (`functions.look`,
 * `default_api.look`), or number it (`functions.look:0`).
 */
function offeredName(called: string, offered: ReadonlySet<string>): string {
  const plain = called.replace(/:\d+$/, "");
  const last = plain.replace(/^.*\.|^(?:functions|default_api)(?:__|:)/s, "");
  return [called, plain, last].find((name) => offered.has(name)) ?? called;
}

/** Renames tools that the target refuses, everywhere in a request: definitions, choice, calls and results. */
export function renameTools(request: CanonicalRequest, upstream: UpstreamCodec): Renamed {
  const shorts = shortNames(request, upstream.limits);
  const originals = new Map([...shorts].map(([original, short]) => [short, original]));
  const short = (name: string): string => shorts.get(name) ?? name;
  const { tools, toolChoice } = request;
  const offered = new Set(tools?.flatMap(({ name }) => [name, short(name)]));
  const restoring = withToolNames(upstream, (called) => {
    const name = offeredName(called, offered);
    return { name: originals.get(name) ?? name };
  });
  if (shorts.size === 0) return { request, notes: [], upstream: restoring };
  return {
    request: {
      ...request,
      messages: request.messages.map((message) => renameCalls(message, short)),
      ...(tools ? { tools: tools.map((tool) => ({ ...tool, name: short(tool.name) })) } : {}),
      ...(toolChoice ? { toolChoice: renameChoice(toolChoice, short) } : {}),
    },
    notes: [
      noteOfTools(
        request,
        (tools ?? []).some(({ name }) => shorts.has(name)),
        "names of tools that the upstream refuses went under short ones; answers have your own",
      ),
    ],
    upstream: restoring,
  };
}

/** A note that tools were changed or, if none of them `isOffered`, calls of them. */
export const noteOfTools = (
  { names, protocol }: CanonicalRequest,
  isOffered: boolean,
  detail: string,
): Note => ({
  param: isOffered ? (names.tools ?? "tools") : messagesField[protocol],
  kind: "rewritten",
  detail,
});

function namesIn({ tools = [], messages, toolChoice }: CanonicalRequest): Set<string> {
  const names = new Set(tools.map(({ name }) => name));
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type !== "tool_call" && part.type !== "tool_result") continue;
      if (part.name !== undefined) names.add(part.name);
    }
  }
  if (toolChoice?.type === "tool") names.add(toolChoice.name);
  if (toolChoice?.type === "allowed") for (const name of toolChoice.names) names.add(name);
  return names;
}

/** Returns a short name for each refused name of a tool, different from all others in the request. */
export function shortNames(
  request: CanonicalRequest,
  { toolName, toolNameMax }: Limits,
): ReadonlyMap<string, string> {
  const names = namesIn(request);
  const taken = new Set([...names].filter((name) => toolName.test(name)));
  const shorts = new Map<string, string>();
  for (const name of names) {
    if (toolName.test(name)) continue;
    const short = legalName(name, { other: /[^a-zA-Z0-9_-]/g, max: toolNameMax, taken });
    taken.add(short);
    shorts.set(name, short);
  }
  return shorts;
}

type Rename = (name: string) => string;

const renameCalls = (message: Message, rename: Rename): Message => ({
  ...message,
  content: message.content.map((part) => renamePart(part, rename)),
});

function renamePart(part: Part, rename: Rename): Part {
  if (part.type === "tool_call") return { ...part, name: rename(part.name) };
  if (part.type !== "tool_result" || part.name === undefined) return part;
  return { ...part, name: rename(part.name) };
}

function renameChoice(choice: ToolChoice, rename: Rename): ToolChoice {
  if (choice.type === "tool") return { ...choice, name: rename(choice.name) };
  return choice.type === "allowed" ? { ...choice, names: choice.names.map(rename) } : choice;
}

/** The tool that a call names. */
type Called = Pick<ToolCallPart, "name" | "namespace">;

/** Wraps a codec so that whole and streamed answers have the caller's tool names; `calledOf` maps the upstream's name. */
export function withToolNames(
  upstream: UpstreamCodec,
  calledOf: (name: string) => Called,
): UpstreamCodec {
  return {
    ...upstream,
    decodeResponse(body) {
      const response = upstream.decodeResponse(body);
      const content = response.content.map((part) =>
        part.type === "tool_call" ? { ...part, ...calledOf(part.name) } : part,
      );
      return { ...response, content };
    },
    decodeStream: () =>
      mapEvents(upstream.decodeStream(), (event) =>
        event.type === "tool_call_start" ? { ...event, ...calledOf(event.name) } : event,
      ),
  };
}
