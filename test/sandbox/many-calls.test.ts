/**
 * The simulated vendors handle a conversation of thousands of calls in linear time, because with `TOLLGATE_SANDBOX` they run in
 * the gateway's own process.
 */
import { expect, it } from "vitest";
import { costMs } from "../support/cost.ts";
import { useSandbox } from "./support.ts";
import { endpoints } from "./vendors.ts";

const sandbox = useSandbox();
const count = 4_000;
const ids = Array.from({ length: count }, (_, index) => `c${index}`);
const user = { role: "user", content: "Hi" };

/** The results are in the reverse order of the calls. */
const bodies = {
  messages: {
    model: "sandbox-large",
    max_tokens: 9,
    messages: [
      user,
      {
        role: "assistant",
        content: ids.map((id) => ({ type: "tool_use", id, name: "t", input: {} })),
      },
      {
        role: "user",
        content: ids.toReversed().map((id) => ({
          type: "tool_result",
          tool_use_id: id,
          content: "a",
        })),
      },
    ],
  },
  responses: {
    model: "sandbox-large",
    input: [
      ...ids.map((id) => ({ type: "function_call", call_id: id, name: "t", arguments: "{}" })),
      ...ids.toReversed().map((id) => ({ type: "function_call_output", call_id: id, output: "a" })),
    ],
  },
} as const;

it.each(["messages", "responses"] as const)(
  "a conversation of 4,000 calls costs less than 400 ms (%s)",
  async (name) => {
    const endpoint = endpoints.find((one) => one.name === name)!;
    const post = async () => {
      const answer = await fetch(sandbox.url + endpoint.path, {
        method: "POST",
        headers: endpoint.headers,
        body: JSON.stringify(bodies[name]),
      });
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
    };
    await post();
    expect(await costMs(post)).toBeLessThan(400);
  },
);
