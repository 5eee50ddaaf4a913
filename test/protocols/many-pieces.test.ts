/** Vendor answers with very many items, calls or choices: reading them takes time and memory in proportion to their length. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";
import { codecs, type ProtocolName } from "../../src/protocols/index.ts";
import { joinPartials } from "../../src/protocols/generate-content/partial-arguments.ts";
import { costMs } from "../support/cost.ts";
import { answerContext } from "./canonical/support.ts";

const frameOf = (chunk: JsonObject) => ({ data: JSON.stringify(chunk) });

/** The processor time, in ms, to decode these chunks of a stream. */
const decodingMs = (protocol: ProtocolName, chunks: readonly JsonObject[]) => {
  const frames = chunks.map(frameOf);
  return costMs(() => {
    const decoder = codecs[protocol].decodeStream();
    for (const frame of frames) decoder.push(frame);
    decoder.end({ kind: "complete" });
  });
};

it("fifteen thousand items that only the last event of a responses stream has are read in a moment", async () => {
  const item = { type: "reasoning", summary: [{ type: "summary_text", text: "a" }] };
  const response = {
    id: "r",
    status: "completed",
    output: Array.from({ length: 15_000 }, () => item),
  };
  const cost = await decodingMs("responses", [{ type: "response.completed", response }]);
  // Looking through all earlier items for each one took 5 seconds.
  expect(cost).toBeLessThan(1_500);
});

it.each<[string, (index: number) => JsonObject]>([
  ["with ids alone", (index) => ({ id: `c${index}`, function: { name: "f", arguments: "{}" } })],
  [
    "that are all numbered 0",
    (index) => ({ index: 0, id: `c${index}`, function: { name: "f", arguments: "{}" } }),
  ],
])("forty thousand calls of a chat stream %s are told apart in a moment", async (_how, callOf) => {
  const chunks = Array.from({ length: 40_000 }, (_, index) => ({
    id: "a",
    choices: [{ index: 0, delta: { tool_calls: [callOf(index)] } }],
  }));
  // Comparing each with all earlier ones took 3 to 9 seconds.
  expect(await decodingMs("chat", chunks)).toBeLessThan(2_500);
});

it("a frame with many choices and a long member is collected without a copy of the member for each choice", async () => {
  const choices = Array.from({ length: 1_000 }, () => ({ index: 0, delta: { content: "a" } }));
  const frames = [
    frameOf({ id: "a", created: 1, long: "x".repeat(300_000), choices }),
    frameOf({ id: "a", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  ];
  const cost = await costMs(() => {
    const answer = codecs.chat.direct.answerFromFrames(frames) as JsonObject;
    expect(answer).toMatchObject({ choices: [{ message: { content: "a".repeat(1_000) } }] });
  });
  // The copies, 300 MB, took 0.7 seconds.
  expect(cost).toBeLessThan(400);
});

it("ten thousand texts of a generateContent stream whose grounding cites nothing are read in a moment", async () => {
  const chunkOf = (candidate: JsonObject): JsonObject => ({ candidates: [candidate] });
  const parts: JsonObject[] = [{ text: "a" }, { text: "b", thought: true }];
  const first = { content: { parts }, groundingMetadata: { groundingChunks: [{ web: {} }] } };
  const chunks = Array.from({ length: 10_000 }, () => chunkOf({ content: { parts } }));
  // Joining all texts at the end of each one took 12 seconds.
  expect(await decodingMs("generate_content", [chunkOf(first), ...chunks])).toBeLessThan(1_500);
});

it("arguments in pieces have at most ten thousand list items that no piece has", () => {
  const pieceAt = (jsonPath: string) => ({ jsonPath, numberValue: 1 });
  const lists = Array.from({ length: 500 }, (_, index) => pieceAt(`$.a${index}[9000]`));
  // 45 KB of pieces became 22 MB of nulls.
  expect(JSON.stringify(joinPartials({}, lists)).length).toBeLessThan(80_000);
  const items = Array.from({ length: 12_000 }, (_, index) => pieceAt(`$.a[${index}]`));
  expect(joinPartials({}, items)["a"]).toHaveLength(12_000);
  expect(joinPartials({}, [pieceAt("$.a[99999999999999999999]"), pieceAt("$.b")])).toEqual({
    a: [],
    b: 1,
  });
});

it("sixty thousand citations that wait for their text's turn are sent in a moment", async () => {
  const cost = await costMs(() => {
    const encoder = codecs.messages.encodeStream(answerContext);
    encoder.push({ type: "start", protocol: "responses", id: "", createdAt: 0 });
    for (const block of ["a", "b"]) {
      encoder.push({ type: "text_start", block });
      encoder.push({ type: "text_delta", block, text: block });
    }
    const citation = { url: "https://a.example" };
    for (let count = 0; count < 60_000; count += 1)
      encoder.push({ type: "citation", block: "b", citation });
    encoder.push({ type: "text_end", block: "b" });
    expect(encoder.push({ type: "text_end", block: "a" }).length).toBeGreaterThan(60_000);
  });
  // Removing them one by one from the front took 2 seconds.
  expect(cost).toBeLessThan(1_000);
});
