/** The content of a random answer, and the habits of its vendor. */
import * as fc from "fast-check";
import type { SseEvent } from "../../src/base/sse.ts";
import type { UpstreamProtocol } from "../../src/protocols/index.ts";
import type { Wire } from "../transcripts/readers/index.ts";
import { someJson } from "./arbitrary.ts";

/** A piece of an answer's content. Pieces are in order. Each call has its own id and arguments. */
export type Piece =
  | { readonly kind: "thought" | "text" | "refusal"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: Wire };

export interface Plan {
  readonly pieces: readonly Piece[];
  readonly finish: "usual" | "length" | "content_filter";
  readonly usage: {
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
  };
  /** Numbers that decide everything that vendors do in more than one way. */
  readonly habits: readonly number[];
}

const someText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\n",
      " ",
      "\n\n",
      "{",
      "data: [DONE]",
      "</think>",
      "é\u2028x",
      "[]",
      "\0",
      "\ud83d",
      "\ude00",
      "\ufeffx",
      "a\rb\r\n",
      "<think>",
      '\\u0041"',
      "x".repeat(3_000),
    ),
  },
);

/** Arguments of calls: mostly plain, sometimes with names and values that few models write. */
const someInput: fc.Arbitrary<Wire> = fc.oneof(
  { weight: 3, arbitrary: someJson },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc
        .oneof(
          fc.string({ unit: "binary", maxLength: 6 }),
          fc.constantFrom(
            "",
            "a.b",
            "$x",
            "7",
            "constructor",
            "toJSON",
            "\ud800",
            "\0",
            "arguments",
          ),
        )
        .filter((name) => name !== "__proto__"),
      fc.oneof(
        fc.constantFrom<unknown>(null, "", [], {}, [[]], 2 ** 53, 1e308, 5e-324, -1.5),
        fc.constantFrom(10, 100).map((depth) => deep(depth)),
        someText,
      ),
      { maxKeys: 3 },
    ),
  },
);

const deep = (depth: number): unknown =>
  depth === 0 ? 1 : depth % 2 === 0 ? { a: deep(depth - 1) } : [deep(depth - 1)];

const somePiece = (protocol: UpstreamProtocol): fc.Arbitrary<Piece> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("text" as const), text: someText }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("thought" as const), text: someText }) },
    {
      weight: protocol === "chat" || protocol === "responses" ? 1 : 0,
      arbitrary: fc.record({ kind: fc.constant("refusal" as const), text: someText }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("call" as const),
        id: fc.constant(""),
        name: fc.constantFrom("look_up", "add", "send-mail"),
        input: someInput,
      }),
    },
  );

const order = ["thought", "text", "refusal", "call"];

/** A random answer of a vendor of this protocol. */
export const somePlan = (protocol: UpstreamProtocol): fc.Arbitrary<Plan> =>
  fc.record({
    pieces: fc.array(somePiece(protocol), { minLength: 1, maxLength: 6 }).map((pieces) => {
      const own = pieces.map((piece, at) =>
        piece.kind === "call" ? { ...piece, id: `call_${at}` } : piece,
      );
      return protocol === "chat"
        ? own.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
        : own;
    }),
    finish: fc.constantFrom(
      "usual" as const,
      "usual" as const,
      "length" as const,
      "content_filter" as const,
    ),
    // No call has an empty prompt: zeros at the start of a stream of messages are no counts (T44).
    usage: fc
      .tuple(fc.integer({ min: 1, max: 900 }), fc.nat(90), fc.nat(900), fc.nat(90))
      .map(([fresh, cached, spoken, reasoning]) => ({
        input: fresh + cached,
        cached,
        output: spoken + reasoning,
        reasoning,
      })),
    habits: fc.array(fc.nat(1000), { minLength: 12, maxLength: 12 }),
  });

/** A vendor's habits: each question always has the same answer. */
export class Habits {
  readonly #numbers: readonly number[];
  #asked = 0;
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }
  /** The next number below `count`. It differs from call to call. */
  next(count: number): number {
    this.#asked += 1;
    const number = this.#numbers[this.#asked % this.#numbers.length]!;
    return (number + this.#asked * 7) % count;
  }
  /** True if the vendor has this habit; always the same. */
  is(which: number): boolean {
    return this.#numbers[which]! % 2 === 1;
  }
  /** Cuts a text into pieces; some vendors cut within a character, whose halves are then escaped. */
  cut(text: string): string[] {
    const characters = this.is(11) ? text.split("") : Array.from(text);
    const pieces: string[] = [];
    while (characters.length > 0) pieces.push(characters.splice(0, 1 + this.next(6)).join(""));
    return pieces;
  }
}

export const callsOf = ({ pieces }: Plan) => pieces.filter((piece) => piece.kind === "call");
export const textsOf = ({ pieces }: Plan, kind: string): string[] =>
  pieces.flatMap((piece) => (piece.kind === kind && "text" in piece ? [piece.text] : []));

export const data = (value: unknown): SseEvent => ({ data: JSON.stringify(value) });
export const named = (value: Wire): SseEvent => ({
  event: String(value["type"]),
  data: JSON.stringify(value),
});
export const done: SseEvent = { data: "[DONE]" };

export interface Vendor {
  whole(plan: Plan): Wire;
  stream(plan: Plan): SseEvent[];
}
