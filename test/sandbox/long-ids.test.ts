/** The openai-like vendor accepts ids of at most 64 characters, like the real one, and names the one that is longer. */
import { describe, expect, it } from "vitest";
import { useSandbox } from "./support.ts";
import { endpoints } from "./vendors.ts";

const sandbox = useSandbox();
const user = { role: "user", content: "Hi" };

const callsOf: Readonly<Record<string, (id: string) => object>> = {
  chat: (id) => ({
    messages: [
      user,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "21" },
    ],
  }),
  responses: (id) => ({
    input: [
      user,
      { type: "function_call", call_id: id, name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: "21" },
    ],
  }),
};
const placeOf: Readonly<Record<string, string>> = {
  chat: "messages[1].tool_calls[0].id",
  responses: "input[1].call_id",
};

describe.each(endpoints.filter(({ name }) => name in callsOf))("$name", (endpoint) => {
  const post = (more: object) =>
    fetch(sandbox.url + endpoint.path, {
      method: "POST",
      headers: endpoint.headers,
      body: JSON.stringify({ ...endpoint.body("Hi", false), ...more }),
    });

  it.each([
    ["an end-user id", "user", (id: string) => ({ user: id })],
    ["a call's id", placeOf[endpoint.name]!, callsOf[endpoint.name]!],
  ])("%s of 65 characters is refused, and of 64 is accepted", async (_what, param, bodyOf) => {
    expect((await post(bodyOf("x".repeat(64)))).status).toBe(200);
    const refused = await post(bodyOf("x".repeat(65)));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        message: `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.`,
        param,
        code: "string_above_max_length",
      },
    });
  });
});
