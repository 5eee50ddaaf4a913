/** `@anthropic-ai/sdk` at `/v1/messages`. Requirements: TXT; docs/decisions.md "Key carriers". */
import Anthropic from "@anthropic-ai/sdk";
import type { MessageParam } from "@anthropic-ai/sdk/resources";
import { describe, expect, it } from "vitest";
import { messages } from "./messages-sdk.ts";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  paysOnce,
  scenarios,
  stopsAtSequence,
  waitsOutRateLimit,
} from "./scenarios.ts";
import { failureOf, scripted, useWorld } from "./support.ts";

describe("@anthropic-ai/sdk over messages", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, messages));
  it("stop sequences end the text", () => stopsAtSequence(world, messages));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, messages));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, messages, name),
  );
  it("BILL-23 ERR-09: the SDK does not retry a 402, which never reaches the upstream", () =>
    paysOnce(world, messages));
  it("the SDK waits for a temporary rate limit, and then succeeds", () =>
    waitsOutRateLimit(world, messages));

  const hello = { model: "sandbox/messages", max_tokens: 100 };

  it.each([
    ["apiKey", (key: string) => ({ apiKey: key })],
    ["authToken", (key: string) => ({ apiKey: null, authToken: key })],
    [
      "x-api-key",
      (key: string) => ({ apiKey: "x", defaultHeaders: { "x-api-key": key, authorization: null } }),
    ],
  ])("the key may be given as %s", async (_name, credential) => {
    const client = new Anthropic({ ...credential(world.key), baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { reply: "Come in." });
    const answer = await client.messages.create({
      ...hello,
      messages: [{ role: "user", content }],
    });
    expect(answer.content).toMatchObject([{ type: "text", text: "Come in." }]);
  });

  it("the vendor's own 529 is an overloaded error too, with Retry-After", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { status: 529 });
    const asked = client.messages.create({ ...hello, messages: [{ role: "user", content }] });
    const error = (await failureOf(asked)) as InstanceType<typeof Anthropic.APIError>;
    expect(error).toMatchObject({ status: 503, type: "overloaded_error" });
    expect(error.headers?.get("retry-after")).toBe("5");
  });

  it("T44: a stream reports input tokens at its start, and the true usage at its end", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { reply: "Hello.", usage: { input: 77, output: 3 } });
    const stream = client.messages.stream({ ...hello, messages: [{ role: "user", content }] });
    let atStart = 0;
    stream.on("streamEvent", (event) => {
      if (event.type === "message_start") atStart = event.message.usage.input_tokens;
    });
    const { usage } = await stream.finalMessage();
    expect(atStart).toBe(77);
    expect(usage).toMatchObject({ input_tokens: 77, output_tokens: 3 });
  });

  it("thinking keeps its signature, and can be sent back unchanged with a tool result", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const script = {
      reasoning: "A city is asked for.",
      tool_calls: [{ name: "weather", arguments: { city: "Bonn" } }],
      next: { reply: "Rain." },
    };
    const question: MessageParam = { role: "user", content: scripted("Weather?", script) };
    const common = {
      model: "sandbox/messages",
      max_tokens: 4000,
      thinking: { type: "enabled" as const, budget_tokens: 2000 },
      tools: [{ name: "weather", input_schema: { type: "object" as const } }],
    };
    const first = await client.messages.stream({ ...common, messages: [question] }).finalMessage();
    const [thinking, call] = first.content;
    expect(thinking).toMatchObject({ type: "thinking", thinking: "A city is asked for." });
    if (call?.type !== "tool_use") throw new Error("a tool call was expected");
    // The sandbox, like the vendor, refuses foreign signatures.
    const second = await client.messages.create({
      ...common,
      messages: [
        question,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "wet" }] },
      ],
    });
    expect(second.content).toMatchObject([{ type: "text", text: "Rain." }]);
  });

  it("TXT-03: all models are listed without duplicates, and one can be read", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain("sandbox/messages");
    expect(new Set(ids).size).toBe(ids.length);
    const read = {
      id: "sandbox/messages",
      type: "model",
      display_name: "sandbox/messages",
      created_at: "2026-01-01T00:00:00.000Z",
      max_input_tokens: 200_000,
      max_tokens: 32_000,
    };
    const id = expect.stringMatching(/^req_/) as string;
    expect(await client.models.retrieve("sandbox/messages").withResponse()).toMatchObject({
      data: read,
      request_id: id,
    });
    const page = await client.beta.models.list();
    expect(page.data).toContainEqual(expect.objectContaining(read));
    expect([page.has_more, page.last_id]).toEqual([false, ids.at(-1)]);
    await expect(client.models.retrieve("sandbox/none")).rejects.toMatchObject({
      status: 404,
      requestID: id,
      error: { type: "error", error: { type: "not_found_error" }, request_id: id },
    });
  });
});
