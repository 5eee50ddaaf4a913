/** Answers with very many citations neither block the gateway nor grow without limit. CONV-702, CONV-704. */
import { expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "./route.ts";
import { byName, type Body, type Name } from "./world.ts";

const routeFor = (from: Name, to: Name) => routeOf(from, to, byName[from].body("acme/x", false));
const answerOf = (from: Name, to: Name, answer: unknown): JsonObject =>
  routeFor(from, to).answer(answer as JsonObject, [], noUsage);

const url = "https://example.org/a";
const addresses = (count: number) => Array.from({ length: count }, (_none, at) => `${url}/${at}`);
const mib = 1024 * 1024;
const long = "word ".repeat(200_000);
const many = 4000;

const inChat = (content: string, beside: { annotations?: Body[]; citations?: string[] }) => ({
  choices: [
    {
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content, annotations: beside.annotations ?? [] },
    },
  ],
  citations: beside.citations,
});

const inGemini = (text: string, groundingMetadata: Body) => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP", groundingMetadata }],
});

interface Support {
  readonly segment: {
    readonly startIndex: number;
    readonly endIndex: number;
    readonly text?: string;
  };
  readonly groundingChunkIndices: readonly number[];
}

function supportsIn(answer: JsonObject): readonly Support[] {
  const [{ groundingMetadata }] = answer["candidates"] as unknown as [
    { groundingMetadata: { groundingSupports: Support[] } },
  ];
  return groundingMetadata.groundingSupports;
}

function annotationsIn(answer: JsonObject): readonly Body[] {
  const [{ message }] = answer["choices"] as unknown as [{ message: { annotations: Body[] } }];
  return message.annotations;
}

/** Duration of `work`, in milliseconds. Earlier versions took ten seconds and more. */
function timeOf(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
const timeMax = 4000;

it("citations of the whole of a long answer reach responses callers in seconds, whole and streamed", () => {
  const answer = inChat(long, { citations: addresses(many) });
  const route = routeFor("responses", "chat");
  const converted: string[] = [];
  const took = timeOf(() => {
    converted.push(JSON.stringify(route.answer(answer as unknown as JsonObject, [], noUsage)));
    converted.push(JSON.stringify(route.framesOf(answer as unknown as JsonObject, noUsage)));
  });
  expect(took).toBeLessThan(timeMax);
  expect(converted[0]).toContain(`"start_index":0,"end_index":${long.length}`);
  expect(converted[1]).toContain(String.raw`\"start_index\":0,\"end_index\":${long.length}`);
});

it("a search for Gemini's cited words that are not in the text is limited", () => {
  const groundingSupports = Array.from({ length: many }, (_none, at) => ({
    segment: { startIndex: 0, endIndex: 10, text: `word wordx${at}` },
    groundingChunkIndices: [0],
  }));
  const grounding = { groundingChunks: [{ web: { uri: url } }], groundingSupports };
  const converted: JsonObject[] = [];
  const took = timeOf(
    () => void converted.push(answerOf("chat", "generate_content", inGemini(long, grounding))),
  );
  expect(took).toBeLessThan(timeMax);
  expect(annotationsIn(converted[0]!)).toHaveLength(many);
});

it.each([
  ["a page with a long title", "chat", { web: { uri: url, title: "t".repeat(mib) } }],
  ["a file with a long id", "messages", { retrievedContext: { documentName: "d".repeat(mib) } }],
] as const)(
  "%s that is cited many times does not multiply the answer's size",
  (_what, from, chunk) => {
    const groundingSupports = Array.from({ length: 20 }, () => ({
      segment: { startIndex: 0, endIndex: 4 },
      groundingChunkIndices: Array.from({ length: 20 }, () => 0),
    }));
    const answer = inGemini("Köln", { groundingChunks: [chunk], groundingSupports });
    const converted = JSON.stringify(answerOf(from, "generate_content", answer));
    expect(converted.length).toBeGreaterThan(10 * mib);
    expect(converted.length).toBeLessThan(70 * mib);
  },
);

it("CONV-704: citations with the same words share a support", () => {
  const answer = inChat("Köln", { citations: [...addresses(3), `${url}/0`] });
  expect(supportsIn(answerOf("generate_content", "chat", answer))).toEqual([
    { segment: { startIndex: 0, endIndex: 5, text: "Köln" }, groundingChunkIndices: [0, 1, 2] },
  ]);
});

it("overlapping cited words are repeated up to a limit, and then given only by their offsets", () => {
  const annotations = Array.from({ length: 50 }, (_none, at) => ({
    type: "url_citation",
    url_citation: { url, start_index: at, end_index: long.length },
  }));
  const supports = supportsIn(answerOf("generate_content", "chat", inChat(long, { annotations })));
  expect(supports.map(({ segment }) => segment.startIndex)).toEqual(
    annotations.map((_one, at) => at),
  );
  const repeated = supports.map(({ segment }) => segment.text?.length ?? 0);
  expect(repeated[0]).toBe(long.length);
  expect(repeated.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(32 * mib);
  expect(repeated.at(-1)).toBe(0);
});
