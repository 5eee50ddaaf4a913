/**
 * Content that only one provider of a model accepts, while health keeps calls from that provider. CONV-424, TXT-05;
 * docs/routing.md.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { answering } from "../rows/world.ts";
import { failing, takeRequestCounts, startTrio, type Trio } from "./support.ts";

const sound = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
const spoken = { messages: [{ role: "user", content: [sound] }] };

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({
    prices: { a: 1, b: 2, c: 3 },
    protocols: { b: "messages", c: "messages" },
    models: 2,
  });
});
afterAll(() => trio.close());

/** Makes health keep the model's calls from `a`, the only provider that accepts sound. */
async function openCircuitOfA(model: string): Promise<void> {
  trio.up.a.answer(failing);
  for (let index = 0; index < 6; index += 1) await (await trio.call({ model })).text();
  const counts = takeRequestCounts(trio);
  expect(counts).toEqual({ a: 5, b: 6, c: 0 });
}

it.each([false, true])(
  "CONV-424: an excluded provider is asked anyway if only it takes the content, and answers as soon as it can (stream: %s)",
  async (stream) => {
    const model = `acme/talk-${stream ? 2 : 1}:@price`;
    await openCircuitOfA(model);
    const failed = await trio.call({ model, stream, extra: spoken });
    expect(failed.status).toBe(502);
    await failed.text();
    trio.up.a.answer(answering);
    const answer = await trio.call({ model, stream, extra: spoken });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(takeRequestCounts(trio)).toMatchObject({ b: 0, c: 0 });
    expect((await trio.row(answer)).attempts).toMatchObject([{ provider: "a", outcome: "ok" }]);
  },
);

it("CONV-424: content that no provider takes is refused without asking any", async () => {
  const file = { type: "file", file: { file_data: "data:text/plain;base64,QQ==" } };
  trio.up.a.answer(answering);
  const model = "acme/talk:b";
  const answer = await trio.call({
    model,
    extra: { messages: [{ role: "user", content: [file] }] },
  });
  expect(answer.status).toBe(400);
  await answer.text();
  expect(takeRequestCounts(trio)).toEqual({ a: 0, b: 0, c: 0 });
});
