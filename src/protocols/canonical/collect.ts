/**
 * Collects a stream into a whole answer, and splits a whole answer into a stream. For upstreams that answer in the other form than
 * requested (T14, T15).
 */
import { GatewayError } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "./events.ts";
import type { Citation, Part, Signature, ToolCallPart, UpstreamProtocol } from "./request.ts";
import type { CanonicalResponse, Finish } from "./response.ts";

/** A block that is being collected; its pieces are joined once, at the end. */
interface OpenBlock {
  readonly start: Extract<
    CanonicalEvent,
    { type: "text_start" | "refusal_start" | "reasoning_start" | "tool_call_start" | "media" }
  >;
  readonly pieces: string[];
  readonly citations: Citation[];
  signature: Signature | undefined;
}

interface Collected {
  protocol: UpstreamProtocol;
  id: string;
  createdAt: number;
  /** In the order in which the blocks began. */
  readonly blocks: Map<BlockId, OpenBlock>;
  usage: Usage | undefined;
  finish: Finish | undefined;
}

/**
 * Collects a stream into a whole answer. Reasoning, text, refusals and tool calls stand in the order in which they began.
 * @throws GatewayError `upstream_error` when the stream reports an error or never finished.
 */
export function collect(events: Iterable<CanonicalEvent>): CanonicalResponse {
  const collected: Collected = {
    protocol: "chat",
    id: "",
    createdAt: 0,
    blocks: new Map(),
    usage: undefined,
    finish: undefined,
  };
  for (const event of events) take(collected, event);
  const { protocol, id, createdAt, finish, usage } = collected;
  if (!finish) throw new GatewayError("upstream_error", "The upstream's answer broke off.");
  const content = [...collected.blocks.values()].map(partOf);
  return usage === undefined
    ? { protocol, id, createdAt, content, finish }
    : { protocol, id, createdAt, content, finish, usage };
}

function take(collected: Collected, event: CanonicalEvent): void {
  switch (event.type) {
    case "start":
      collected.protocol = event.protocol;
      collected.id = event.id;
      collected.createdAt = event.createdAt;
      return;
    case "media": {
      const { blocks } = collected;
      blocks.set(`media ${blocks.size}`, {
        start: event,
        pieces: [],
        citations: [],
        signature: undefined,
      });
      return;
    }
    case "usage":
      if (event.coversStartOnly !== true) collected.usage = event.usage;
      return;
    case "finish":
      collected.finish = event.finish;
      return;
    case "error":
      throw new GatewayError("upstream_error", event.message);
    default:
      takeBlockEvent(collected.blocks, event);
  }
}

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;

function takeBlockEvent(blocks: Map<BlockId, OpenBlock>, event: BlockEvent): void {
  switch (event.type) {
    case "text_start":
    case "refusal_start":
    case "reasoning_start":
    case "tool_call_start":
      blocks.set(event.block, { start: event, pieces: [], citations: [], signature: undefined });
      return;
    case "text_delta":
    case "refusal_delta":
    case "reasoning_delta":
      blocks.get(event.block)?.pieces.push(event.text);
      return;
    case "citation":
      blocks.get(event.block)?.citations.push(event.citation);
      return;
    case "tool_call_delta":
      blocks.get(event.block)?.pieces.push(event.arguments);
      return;
    default:
      // Block ends. Those of text and refusals carry nothing.
      if ("signature" in event) sign(blocks.get(event.block), event.signature);
  }
}

function sign(block: OpenBlock | undefined, signature: Signature | undefined): void {
  if (block) block.signature = signature;
}

function partOf({ start, pieces, citations, signature }: OpenBlock): Part {
  const text = pieces.join("");
  const signed = signature === undefined ? {} : { signature };
  switch (start.type) {
    case "media":
      return start.part;
    case "text_start":
      return {
        type: "text",
        text,
        ...(start.newMessage ? { newMessage: true } : {}),
        ...(citations.length > 0 ? { citations } : {}),
      };
    case "refusal_start":
      return { type: "refusal", text };
    case "reasoning_start":
      return start.summary === undefined
        ? { type: "reasoning", text, ...signed }
        : { type: "reasoning", text, summary: start.summary, ...signed };
    case "tool_call_start":
      return {
        type: "tool_call",
        id: start.id,
        name: start.name,
        ...(start.namespace === undefined ? {} : { namespace: start.namespace }),
        arguments: text,
        ...(start.custom ? { custom: true } : {}),
        ...signed,
      };
  }
}

/** Splits a whole answer into a stream, one delta per block. Ids of reasoning items are left out. */
export function toEvents(response: CanonicalResponse): CanonicalEvent[] {
  const { protocol, id, createdAt, content, finish, usage } = response;
  return [
    { type: "start", protocol, id, createdAt },
    ...content.flatMap((part, index) => partEvents(part, String(index))),
    ...(usage === undefined ? [] : [{ type: "usage", usage } as const]),
    { type: "finish", finish },
  ];
}

const citationsOf = (part: Part): readonly Citation[] =>
  part.type === "text" ? (part.citations ?? []) : [];

function partEvents(part: Part, block: BlockId): CanonicalEvent[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return [
        part.type === "text" && part.newMessage
          ? { type: "text_start", block, newMessage: true }
          : { type: `${part.type}_start`, block },
        ...(part.text === ""
          ? []
          : [{ type: `${part.type}_delta`, block, text: part.text } as const]),
        ...citationsOf(part).map((citation) => ({ type: "citation", block, citation }) as const),
        { type: `${part.type}_end`, block },
      ];
    case "reasoning":
      return [
        part.summary === undefined
          ? { type: "reasoning_start", block }
          : { type: "reasoning_start", block, summary: part.summary },
        ...(part.text === "" ? [] : [{ type: "reasoning_delta", block, text: part.text } as const]),
        part.signature === undefined
          ? { type: "reasoning_end", block }
          : { type: "reasoning_end", block, signature: part.signature },
      ];
    case "tool_call":
      return callEvents(part, block);
    case "media":
      return [{ type: "media", part }];
    case "tool_result":
      return [];
  }
}

function callEvents(part: ToolCallPart, block: BlockId): CanonicalEvent[] {
  return [
    {
      type: "tool_call_start",
      block,
      id: part.id,
      name: part.name,
      ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
      ...(part.custom ? { custom: true } : {}),
    },
    ...(part.arguments === ""
      ? []
      : [{ type: "tool_call_delta", block, arguments: part.arguments } as const]),
    part.signature === undefined
      ? { type: "tool_call_end", block }
      : { type: "tool_call_end", block, signature: part.signature },
  ];
}
