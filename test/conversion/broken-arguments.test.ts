/** Invalid tool arguments from a chat vendor, as Anthropic's SDK reads them in a stream. Traps T2, T3. */
import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { sse } from "../support/recorder.ts";
import { conversions, modelOf } from "./world.ts";

const world = conversions();

const frames = (pieces: readonly string[]): string =>
  [
    { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "look" } }] },
    ...pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  ]
    .map((delta) => ({ id: "c", choices: [{ index: 0, delta, finish_reason: null }] }))
    .concat([{ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }] as never)
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join("") + "data: [DONE]\n\n";

/** The call's input, as the SDK assembled it. */
async function inputOf(pieces: readonly string[]): Promise<unknown> {
  const { url, key } = world.gateway();
  world.upstream().answer(sse(frames(pieces)));
  const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
  const stream = client.messages.stream({
    model: modelOf("chat"),
    max_tokens: 100,
    messages: [{ role: "user", content: "Look." }],
    tools: [{ name: "look", input_schema: { type: "object" } }],
  });
  const { content, stop_reason } = await stream.finalMessage();
  expect(stop_reason).toBe("tool_use");
  return content.find((block) => block.type === "tool_use")?.input;
}

it.each([
  ['{"path":"/x"', "} and that is it"],
  ['{"path":"/x"}', '{"path":"/y"}'],
  ['{"path":"a', '\\d"}'],
  ["{'path'", ":'/x'}"],
  ['{"path":', '"/x",}'],
  ['{"path":"/x"', ', "text":"half of '],
])("T3: %s%s does not break the stream, and its whole text arrives", async (...pieces) => {
  const input = await inputOf(pieces);
  expect(input).toMatchObject({ arguments: pieces.join("") });
  expect(Object.values(input as object).filter((value) => value !== null)).toHaveLength(1);
});

it("T2: a valid object arrives as it was written", async () => {
  expect(await inputOf(['{"path":"/x","n":[1', ",2]} "])).toEqual({ path: "/x", n: [1, 2] });
});
