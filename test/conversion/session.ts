/** Sessions of agents: the vendor's part. It gets each request, and its answer comes back to the client through the route. */
import type { SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { toEvents } from "../../src/protocols/canonical/collect.ts";
import type { Part, UpstreamProtocol } from "../../src/protocols/canonical/request.ts";
import type { AnswerContext } from "../../src/protocols/codec.ts";
import {
  codecs,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
  type Route,
} from "../../src/protocols/index.ts";
import { isWire, items, wire, type Wire } from "../transcripts/readers/meaning.ts";
import { agentClients } from "./agent-clients.ts";

/** A tool as its vendor knows it. */
export interface VendorTool {
  readonly name: string;
  readonly namespace?: string;
  readonly custom?: true;
}

/** The tools that a vendor's request offers. */
export const toolsIn = (body: Wire): VendorTool[] =>
  items(wire(body["toolConfig"])["tools"] ?? body["tools"]).flatMap(toolsOf);

function toolsOf(tool: Wire): VendorTool[] {
  const { type, name, functionDeclarations: declared } = tool;
  if (type === "namespace")
    return items(tool["tools"])
      .flatMap(toolsOf)
      .map((one) => ({ ...one, namespace: String(name) }));
  if (declared !== undefined) return items(declared).flatMap(toolsOf);
  const own = ["function", "custom", "toolSpec"].map((key) => tool[key]).find(isWire) ?? tool;
  if (typeof own["name"] !== "string") return [];
  return [{ name: own["name"], ...(type === "custom" ? { custom: true } : {}) }];
}

/** One call of a session. */
export interface SessionCall {
  readonly from: ProtocolName;
  readonly to: UpstreamProtocol;
  readonly isStream: boolean;
  readonly route: Route;
  readonly id: string;
}

const usage = { ...noUsage, inputTokens: 9, outputTokens: 9 };

/** The turns that the client keeps of this answer of the vendor, after the route has converted it. */
export function kept({ from, to, isStream, route, id }: SessionCall, content: Part[]): Wire[] {
  const client = agentClients[from];
  const hasCalls = content.some(({ type }) => type === "tool_call");
  const finish = { reason: hasCalls ? "tool_calls" : "stop" } as const;
  const response = { protocol: to, id, createdAt: 1, content, usage, finish };
  const request = { protocol: "chat", model: "", stream: isStream, native: [], names: {} } as const;
  const context: AnswerContext = { model: "x", id, createdAt: 1, inputEstimate: 1, request };
  const whole = (): JsonObject => upstreamCodecs[to].encodeResponse(response, context);
  if (!isStream) return client.keeps(copyOf(route.answer(whole(), [], usage)));
  // Only decoders know Converse's binary streams.
  if (to === "converse") return client.keepsStream(read(route.framesOf(whole(), usage)));
  const vendor = codecs[to].encodeStream(context);
  const sent = toEvents(response).flatMap((event) => vendor.push(event));
  const tap = route.tap();
  const passed = [...sent, ...vendor.end({ kind: "complete" })].flatMap((frame) => tap.push(frame));
  return client.keepsStream(read([...passed, ...tap.release(usage)]));
}

const read = (frames: readonly SseEvent[]): Wire[] =>
  frames.flatMap(({ data }) => (data === "[DONE]" ? [] : [JSON.parse(data) as Wire]));

/** The value as JSON carries it. */
export const copyOf = (value: object): JsonObject =>
  JSON.parse(JSON.stringify(value)) as JsonObject;

/** A vendor's request in two parts, as JSON: its turns, and all else. Cache markers are left out: they move on with each turn. */
export function divided(body: JsonObject): { turns: string[]; others: string } {
  const { input, contents = input, messages: turns = contents, ...others } = body;
  return { turns: items(turns).map(unmarked), others: unmarked(others) };
}

const unmarked = (value: object): string =>
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === "cache_control") return undefined;
    const isPoint = (item: unknown): boolean => isWire(item) && "cachePoint" in item;
    return Array.isArray(inner) ? inner.filter((item) => !isPoint(item)) : inner;
  });
