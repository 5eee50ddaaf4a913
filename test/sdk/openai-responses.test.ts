/** The `openai` SDK at `/v1/responses`. Requirements: RESP, ERR. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { responses } from "./responses-sdk.ts";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  paysOnce,
  scenarios,
  waitsOutRateLimit,
} from "./scenarios.ts";
import { useWorld } from "./support.ts";

describe("openai over responses", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, responses));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, responses));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, responses, name),
  );
  it("RESP-55 BILL-23 ERR-09: the SDK does not retry a 402, which never reaches the upstream", () =>
    paysOnce(world, responses));
  it("the SDK waits for a temporary rate limit, and then succeeds", () =>
    waitsOutRateLimit(world, responses));

  it("an answer cut at max_output_tokens is incomplete, with the reason", async () => {
    const client = new OpenAI({ apiKey: world.key, baseURL: `${world.url}/v1`, maxRetries: 0 });
    const input = `Long\n#sandbox ${JSON.stringify({ reply: "word ".repeat(100) })}`;
    const response = await client.responses.create({
      model: responses.model,
      input,
      max_output_tokens: 16,
    });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });
});
