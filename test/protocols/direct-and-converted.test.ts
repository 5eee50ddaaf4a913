/** The same stream is charged, and counts as complete, alike on the direct route and on a converted one. T16, T51. */
import { expect, it } from "vitest";
import { ConvertedTap } from "../../src/protocols/converted-tap.ts";
import { codecs, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { answerContext } from "./canonical/support.ts";

/** The end and the usage that both taps have seen, of a stream that closed after these frames. */
function seenOf(protocol: ProtocolName, frames: readonly JsonObject[]) {
  const { direct } = codecs[protocol];
  const other = protocol === "chat" ? codecs.messages : codecs.chat;
  const taps = [
    direct.tap({ model: "acme/talk", request: {}, inputEstimate: 77, id: "1", createdAt: 5 }),
    new ConvertedTap(codecs[protocol], other, answerContext),
  ];
  return taps.map((tap) => {
    for (const frame of frames) tap.push({ data: JSON.stringify(frame) });
    tap.end?.();
    const { ended, usage } = tap.seen;
    return { ended, usage };
  });
}

const said = (text: string, more: JsonObject = {}, usage: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 3, ...usage },
});

const delta = (stop: string | null, output: number): JsonObject => ({
  type: "message_delta",
  delta: { stop_reason: stop },
  usage: { output_tokens: output },
});

it.each<[ProtocolName, JsonObject[]]>([
  [
    "messages",
    [
      { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 3 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } },
      delta(null, 1),
      { type: "content_block_stop", index: 0 },
      delta("end_turn", -1),
      { type: "message_stop" },
    ],
  ],
  [
    "generate_content",
    [
      said("H", {}, { candidatesTokenCount: 1 }),
      said("i", { finishReason: "STOP" }, { candidatesTokenCount: -1 }),
    ],
  ],
])("T51: counts of %s before one that cannot be true are not charged", (protocol, frames) => {
  const seen = { ended: true, usage: undefined };
  expect(seenOf(protocol, frames)).toEqual([seen, seen]);
});

it("T16: a generateContent stream that continues after its finish reason, and gives no other, broke off", () => {
  const seen = { ended: false, usage: expect.objectContaining({ outputTokens: 2 }) };
  const counted = { candidatesTokenCount: 2 };
  const frames = [said("H", { finishReason: "STOP" }, counted), said("i", {}, counted)];
  expect(seenOf("generate_content", frames)).toEqual([seen, seen]);
  const [direct, converted] = seenOf("generate_content", [frames[1]!, frames[0]!]);
  expect([direct?.ended, converted?.ended]).toEqual([true, true]);
});
