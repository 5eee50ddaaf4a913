/** Vendor answers with very many items, calls or choices: reading them takes time and memory in proportion to their length. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";
import { codecs, type ProtocolName } from "../../src/protocols/index.ts";
import { costMs } from "../support/cost.ts";

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

/** Citations of a text that began after another one, which is still open. */
const waitingCitations = (count: number): JsonObject[] => {
  const place = (index: number) => ({ output_index: index, content_index: 0 });
  const annotation = { type: "url_citation", url: "https://a" };
  return [
    { type: "response.output_text.delta", ...place(0), delta: "a" },
    { type: "response.output_text.delta", ...place(1), delta: "b" },
    ...Array.from({ length: count }, () => ({
      type: "response.output_text.annotation.added",
      ...place(1),
      annotation,
    })),
    { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
  ];
};

it("a hundred thousand citations that wait for another text are sent in a moment", async () => {
  const decoder = codecs.responses.decodeStream();
  const events = waitingCitations(100_000).flatMap((chunk) => decoder.push(frameOf(chunk)));
  const request = { protocol: "messages", model: "", stream: true, native: [], names: {} } as const;
  const context = { model: "m", id: "1", createdAt: 0, request, inputEstimate: 1 };
  const encoder = codecs.messages.encodeStream(context);
  let sent = 0;
  const cost = await costMs(() => {
    for (const event of events) sent += encoder.push(event).length;
  });
  expect(sent).toBeGreaterThan(100_000);
  // Taking each from the start of the list moved all others: 3 seconds.
  expect(cost).toBeLessThan(1_200);
});

it("texts that each end with a signature are read in a moment beside grounding without a page", async () => {
  const grounding = { groundingChunks: [{ web: { uri: "ftp://a" } }] };
  const part = { text: "a".repeat(20), thoughtSignature: "s" };
  const chunks = Array.from({ length: 8_000 }, (_, at) => ({
    candidates: [
      { content: { parts: [part] }, ...(at === 0 ? { groundingMetadata: grounding } : {}) },
    ],
  }));
  // Joining all texts so far for each one took several seconds.
  expect(await decodingMs("generate_content", chunks)).toBeLessThan(1_500);
});

it("items far behind the end of many lists of arguments are left out", () => {
  const partialArgs = Array.from({ length: 300 }, (_, at) => ({
    jsonPath: `$.list${at}[10000]`,
    stringValue: "a",
  }));
  const calls: JsonObject[] = [{ name: "f", willContinue: true }, { partialArgs }];
  const decoder = codecs.generate_content.decodeStream();
  const events = calls.flatMap((functionCall) =>
    decoder.push(frameOf({ candidates: [{ content: { parts: [{ functionCall }] } }] })),
  );
  const [written] = events.flatMap((event) => (event.type === "tool_call_delta" ? event : []));
  // Each list with 10,000 nulls before its item was 50 KB: together 15 MB for 15 KB.
  expect(written!.arguments.length).toBeLessThan(100_000);
  expect(JSON.parse(written!.arguments)).toMatchObject({ list299: [] });
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
