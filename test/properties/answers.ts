// Random answers: canonical event streams whose blocks interleave like those of real upstreams, and their content.
import * as fc from "fast-check";
import type { Usage } from "../../src/base/usage.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import type { Signature } from "../../src/protocols/canonical/request.ts";
import type { Finish } from "../../src/protocols/canonical/response.ts";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";

/** Text of any characters, at least one. */
export const someText = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });

/** A name that every vendor accepts. */
export const someName = fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/);

/** A small JSON object. Its keys have no special meaning for any vendor. */
export const someObject = fc.dictionary(
  someName,
  fc.oneof(someText, fc.integer(), fc.boolean(), fc.constant(null), fc.array(someText)),
  { maxKeys: 3 },
);

/** Consistent counts: cached tokens are parts of the input, reasoning is a part of the output. */
const someUsage: fc.Arbitrary<Usage> = fc
  .tuple(...[0, 0, 0, 0, 0, 0].map(() => fc.nat(5000)))
  .map(([fresh, cacheRead, write5m, write1h, spoken, reasoning]) => ({
    inputTokens: fresh! + cacheRead! + write5m! + write1h!,
    cacheReadTokens: cacheRead!,
    cacheWriteTokens: write5m! + write1h!,
    cacheWrite1hTokens: write1h!,
    outputTokens: spoken! + reasoning!,
    reasoningTokens: reasoning!,
  }));

/** The content of one block, in pieces. */
interface Block {
  readonly kind: "text" | "refusal" | "reasoning" | "tool_call";
  readonly pieces: readonly string[];
  readonly name: string;
  readonly isSigned: boolean;
}

/** Cuts a text into non-empty pieces. */
const inPieces = (text: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.tuple(text, fc.array(fc.nat(40), { maxLength: 3 })).map(([whole, cuts]) => {
    const places = [...new Set([0, ...cuts.map((cut) => cut % whole.length), whole.length])];
    const sorted = places.sort((left, right) => left - right);
    return sorted.slice(1).map((end, index) => whole.slice(sorted[index], end));
  });

const spoken = fc.record({
  kind: fc.constantFrom("text", "refusal", "reasoning") satisfies fc.Arbitrary<Block["kind"]>,
  pieces: inPieces(someText),
  name: fc.constant(""),
  isSigned: fc.boolean(),
});
const call = fc.record({
  kind: fc.constant("tool_call" as const),
  pieces: fc.oneof(
    inPieces(someObject.map((value) => JSON.stringify(value))),
    fc.constant<string[]>([]),
  ),
  name: someName,
  isSigned: fc.boolean(),
});

/** A random answer, as events. */
export interface RandomAnswer {
  readonly protocol: ProtocolName;
  readonly events: readonly CanonicalEvent[];
}

/**
 * Texts come one at a time, as in every protocol. Calls interleave with each other and with the texts. `order` decides which of
 * the open blocks goes on.
 */
export const someAnswer: fc.Arbitrary<RandomAnswer> = fc
  .record({
    protocol: fc.constantFrom(...protocolNames),
    texts: fc.array(spoken, { maxLength: 4 }),
    calls: fc.array(call, { maxLength: 3 }),
    order: fc.array(fc.nat(100), { minLength: 1, maxLength: 40 }),
    reason: fc.constantFrom("length", "content_filter", "usual"),
    usage: fc.option(someUsage, { nil: undefined }),
  })
  .map(({ protocol, texts, calls, order, reason, usage }) => {
    const lanes = [
      texts.flatMap((block, index) => eventsOf(block, `text_${index}`, protocol)),
      ...calls.map((block, index) => eventsOf(block, `call_${index}`, protocol)),
    ];
    const finish: Finish = {
      reason: reason === "usual" ? (calls.length > 0 ? "tool_calls" : "stop") : reason,
    };
    return {
      protocol,
      events: [
        { type: "start", protocol, id: `answer-${order.length}`, createdAt: 1_790_000_000 },
        ...interleaved(lanes, order),
        ...(usage ? [{ type: "usage", usage } as const] : []),
        { type: "finish", finish },
      ],
    };
  });

function eventsOf(block: Block, id: string, protocol: ProtocolName): CanonicalEvent[] {
  const { kind, pieces, name, isSigned } = block;
  const signature: Signature | undefined = isSigned ? signatureOf(protocol, id) : undefined;
  const signed = signature ? { signature } : {};
  if (kind === "tool_call") {
    return [
      { type: "tool_call_start", block: id, id: `id_${id}`, name },
      ...pieces.map((piece) => ({ type: "tool_call_delta", block: id, arguments: piece }) as const),
      // Only generateContent signs calls.
      { type: "tool_call_end", block: id, ...(protocol === "generate_content" ? signed : {}) },
    ];
  }
  const deltas = pieces.map((text) => ({ type: `${kind}_delta` as const, block: id, text }));
  return [{ type: `${kind}_start`, block: id }, ...deltas, endOf(kind, id, signed)];
}

const endOf = (
  kind: "text" | "refusal" | "reasoning",
  block: string,
  signed: { signature?: Signature },
): CanonicalEvent =>
  kind === "reasoning"
    ? { type: "reasoning_end", block, ...signed }
    : { type: `${kind}_end`, block };

/** A reasoning signature in the format of its protocol. */
export const signatureOf = (protocol: ProtocolName, id: string): Signature => ({
  protocol,
  value:
    protocol === "chat"
      ? JSON.stringify([{ type: "reasoning.encrypted", data: `sig-${id}`, id }])
      : `sig-${id}`,
});

/** Merges lanes of events. `order` chooses the lane of each next event. */
function interleaved<Item>(lanes: readonly Item[][], order: readonly number[]): Item[] {
  const left = lanes.map((lane) => [...lane]);
  const result: Item[] = [];
  for (let turn = 0; left.some((lane) => lane.length > 0); turn += 1) {
    const open = left.filter((lane) => lane.length > 0);
    result.push(open[order[turn % order.length]! % open.length]!.shift()!);
  }
  return result;
}
