/** The `openai` SDK at `/v1/chat/completions`. Requirements: TXT, ERR. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { chat } from "./chat-sdk.ts";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  paysOnce,
  scenarios,
  stopsAtSequence,
  waitsOutRateLimit,
} from "./scenarios.ts";
import { useWorld } from "./support.ts";

describe("openai over chat completions", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, chat));
  it("stop sequences end the text", () => stopsAtSequence(world, chat));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, chat));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, chat, name),
  );
  it("BILL-23 ERR-09: the SDK does not retry a 402, which never reaches the upstream", () =>
    paysOnce(world, chat));
  it("the SDK waits for a temporary rate limit, and then succeeds", () =>
    waitsOutRateLimit(world, chat));

  it("several choices are streamed side by side", async () => {
    const client = new OpenAI({ apiKey: world.key, baseURL: `${world.url}/v1`, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({
        model: chat.model,
        n: 2,
        messages: [{ role: "user", content: 'Twice\n#sandbox {"reply":"the same words"}' }],
      })
      .finalChatCompletion();
    expect(completion.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "the same words"],
      [1, "the same words"],
    ]);
  });
});
