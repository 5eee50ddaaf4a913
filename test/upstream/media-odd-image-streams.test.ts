/** Image streams of vendors that send other events than OpenAI. */
import { expect, it } from "vitest";
import { createImageEventReader, type ImageEvent } from "../../src/upstream/index.ts";
import { bytes, dialectOf, image } from "./media-support.ts";

const frames = (events: readonly { readonly type: string }[]): string =>
  events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");

function read(text: string): ImageEvent[] {
  const reader = createImageEventReader();
  return [...reader.push(Buffer.from(text)), ...reader.end()];
}

const url = "https://ark.example/made.jpeg";
const seedream = [
  { type: "image_generation.partial_succeeded", image_index: 0, url, size: "2048x2048" },
  { type: "image_generation.completed", usage: { generated_images: 1, output_tokens: 16_384 } },
];

it("IMG-28: Seedream's picture comes in an event before the one with its usage", () => {
  expect(read(`${frames(seedream)}data: [DONE]\n\n`)).toMatchObject([
    {
      type: "completed",
      result: { from: "url", url },
      reported: { outputImageTokens: 16_384 },
    },
  ]);
});

it("the room of Seedream's picture counts until its usage is there", () => {
  const reader = createImageEventReader();
  const made = { type: "image_generation.partial_succeeded", b64_json: "AAAA" };
  reader.push(Buffer.from(frames([made])));
  expect(reader.heldBytes).toBe(4);
});

it("a picture that Seedream withholds ends the stream with its reason", () => {
  const error = { code: "OutputImageSensitiveContentDetected", message: "It is withheld." };
  const failed = [{ type: "image_generation.partial_failed", error }, seedream[1]!];
  expect(read(frames(failed))).toMatchObject([{ type: "error", refusal: { code: error.code } }]);
});

it("an error after the picture of an unrequested stream does not lose the picture", () => {
  const made = { type: "image_generation.completed", b64_json: "AAAA" };
  const late = { type: "error", error: { message: "The connection closed.", code: "closed" } };
  const job = { request: image(), upstreamModel: "m", open: () => process.stdin };
  const read = (events: (typeof made | typeof late)[]) =>
    dialectOf("openai", "image").readSubmit(200, bytes(frames(events)), job);
  expect(read([made, late])).toMatchObject({
    state: "succeeded",
    results: [{ from: "base64", base64: "AAAA" }],
  });
  expect(read([late, made])).toMatchObject({ state: "refused", code: "closed" });
});
