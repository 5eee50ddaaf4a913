/** Converse answers with more than text and tool calls, whole and streamed. CONV-701 to CONV-704, CONV-713; trap T15. */
import { describe, expect, it } from "vitest";
import type { SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { collect } from "../../src/protocols/canonical/collect.ts";
import type { Part } from "../../src/protocols/canonical/request.ts";
import { upstreamCodecs, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "./route.ts";
import { byName, names, pictureData, pictureDataUrl, type Name } from "./world.ts";

const { converse } = upstreamCodecs;
const page = { url: "https://example.org/a", title: "A page" };
const citation = { title: page.title, location: { web: { url: page.url } } };
const searched = {
  toolUseId: "srv1",
  name: "nova_grounding",
  input: { query: "size" },
  type: "server_tool_use",
};

const whole = {
  output: {
    message: {
      role: "assistant",
      content: [
        { toolUse: searched },
        { toolResult: { toolUseId: "srv1", content: [{ text: "found" }], type: "nova" } },
        { citationsContent: { content: [{ text: "So. " }], citations: [citation] } },
        { image: { format: "png", source: { bytes: pictureData } } },
        { text: "There." },
      ],
    },
  },
  stopReason: "end_turn",
  usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
};

const at = (contentBlockIndex: number, members: object): object => ({
  contentBlockIndex,
  ...members,
});
const bytes = Buffer.from(pictureData, "base64");
const pieceOf = (from: number, to?: number) => ({
  image: { source: { bytes: bytes.subarray(from, to).toString("base64") } },
});
const { input: _input, ...begun } = searched;
const frames: SseEvent[] = (
  [
    ["messageStart", { role: "assistant" }],
    ["contentBlockStart", at(0, { start: { toolUse: begun } })],
    ["contentBlockDelta", at(0, { delta: { toolUse: { input: '{"query":"size"}' } } })],
    ["contentBlockStop", at(0, {})],
    ["contentBlockStart", at(1, { start: { toolResult: { toolUseId: "srv1" } } })],
    ["contentBlockDelta", at(1, { delta: { toolResult: [{ text: "found" }] } })],
    ["contentBlockStop", at(1, {})],
    ["contentBlockDelta", at(2, { delta: { text: "So. " } })],
    ["contentBlockDelta", at(2, { delta: { citation } })],
    ["contentBlockStop", at(2, {})],
    ["contentBlockStart", at(3, { start: { image: { format: "png" } } })],
    ["contentBlockDelta", at(3, { delta: pieceOf(0, 4) })],
    ["contentBlockDelta", at(3, { delta: pieceOf(4) })],
    ["contentBlockStop", at(3, {})],
    ["contentBlockDelta", at(4, { delta: { text: "There." } })],
    ["contentBlockStop", at(4, {})],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: whole.usage }],
  ] as [string, object][]
).map(([event, data]) => ({ event, data: JSON.stringify(data) }));

const expected: Part[] = [
  { type: "text", text: "So. ", citations: [page] },
  {
    type: "media",
    media: "image",
    source: { kind: "base64", mediaType: "image/png", data: pictureData },
  },
  { type: "text", text: "There." },
];

function streamed() {
  const decoder = converse.decodeStream();
  const events = frames.flatMap((frame) => decoder.push(frame));
  return collect([...events, ...decoder.end({ kind: "complete" })]);
}

describe("a Converse answer with a picture, a citation and a vendor's tool", () => {
  it.each([
    ["whole", () => converse.decodeResponse(structuredClone(whole) as unknown as JsonObject)],
    ["streamed", streamed],
  ])("is read %s: the picture arrives, and the vendor's tool is no call", (_form, read) => {
    const { content, finish } = read();
    expect(content).toEqual(expected);
    expect(finish.reason).toBe("stop");
  });

  it.each(names)("T15: is collected from a stream into a whole answer for a %s caller", (from) => {
    const route = routeOf(from, "converse", byName[from].body("acme/x", false));
    const answer = route.answerFromFrames(frames)!;
    expect(converse.decodeResponse(answer).content).toEqual(expected);
    const converted = JSON.stringify(route.answer(answer, [], noUsage));
    expect(converted).toContain(page.url);
    expect(converted.includes(pictureData)).toBe(from !== "messages");
    expect(converted).not.toContain("nova_grounding");
  });

  it("has its picture in the field of chat", () => {
    const caller: Name = "chat";
    const route = routeOf(caller, "converse", byName[caller].body("acme/x", false));
    const converted = route.answer(structuredClone(whole) as unknown as JsonObject, [], noUsage);
    expect(converted["choices"]).toMatchObject([
      { message: { images: [{ image_url: { url: pictureDataUrl } }] }, finish_reason: "stop" },
    ]);
  });
});

it("a picture that began and never arrived is ignored", () => {
  const decoder = converse.decodeStream();
  const start = {
    event: "contentBlockStart",
    data: '{"contentBlockIndex":0,"start":{"image":{}}}',
  };
  const stop = { event: "messageStop", data: '{"stopReason":"end_turn"}' };
  const events = [start, stop].flatMap((frame) => decoder.push(frame));
  expect(collect([...events, ...decoder.end({ kind: "complete" })]).content).toEqual([]);
});

it("T16: a picture that the stream cut off is not sent, as it would look complete", () => {
  const frame = (event: string, data: JsonObject): SseEvent => ({
    event,
    data: JSON.stringify(data),
  });
  const index = { contentBlockIndex: 0 };
  const begun = [
    frame("contentBlockStart", { ...index, start: { image: { format: "png" } } }),
    frame("contentBlockDelta", { ...index, delta: { image: { source: { bytes: pictureData } } } }),
  ];
  const typesOf = (frames: readonly SseEvent[]) => {
    const decoder = upstreamCodecs.converse.decodeStream();
    const events = [...begun, ...frames].flatMap((one) => decoder.push(one));
    return [...events, ...decoder.end({ kind: "complete" })].map(({ type }) => type);
  };
  expect(typesOf([])).toEqual(["start", "error"]);
  expect(typesOf([frame("error", { error: { message: "Broken." } })])).toEqual(["start", "error"]);
  const stop = frame("messageStop", { stopReason: "end_turn" });
  expect(typesOf([stop])).toEqual(["start", "media", "finish"]);
});
