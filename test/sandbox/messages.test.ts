/** The anthropic-like vendor's messages, called by the official SDK over a real socket. */
import Anthropic, { AuthenticationError, OverloadedError } from "@anthropic-ai/sdk";
import type { MessageParam, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources";
import { describe, expect, it } from "vitest";
import { pixel } from "../support/pixel.ts";
import { scripted, useSandbox, weather } from "./support.ts";

const sandbox = useSandbox();
const model = "sandbox-large";
const client = (apiKey = "sandbox") =>
  new Anthropic({ apiKey, baseURL: `${sandbox.url}/anthropic`, maxRetries: 0 });
const ask = (content: string): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 4000,
  messages: [{ role: "user", content }],
});
const tools = [
  { name: weather.name, description: weather.description, input_schema: weather.parameters },
];

async function eventsOf(body: Anthropic.MessageCreateParamsNonStreaming) {
  const events: RawMessageStreamEvent[] = [];
  for await (const event of await client().messages.create({ ...body, stream: true })) {
    events.push(event);
  }
  return events;
}

describe("messages", () => {
  it("answers text with a system prompt and an image, under a dated model name", async () => {
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: pixel },
    };
    const answer = await client().messages.create({
      ...ask(""),
      system: "Be brief.",
      messages: [{ role: "user", content: [{ type: "text", text: "Look" }, image] }],
    });
    expect(answer.content).toEqual([
      { type: "text", text: "This is the sandbox. I see 1 image. You said: Look" },
    ]);
    expect(answer).toMatchObject({ model: "sandbox-large-2026-10-01", stop_reason: "end_turn" });
    const [entry] = sandbox.journal.list({ model });
    expect(entry!.body).toMatchObject({ system: "Be brief." });
  });

  it("streams blocks one after another, with cumulative usage at the end", async () => {
    const script = { reasoning: "hm", reply: "Hi", tool_calls: [{ name: "weather" }] };
    const events = await eventsOf({ ...ask(scripted(script)), tools });
    expect(events.map((event) => ("index" in event ? `${event.type} ${event.index}` : event.type)))
      // The SDK does not pass pings on.
      .toEqual([
        "message_start",
        "content_block_start 0",
        "content_block_delta 0",
        "content_block_delta 0",
        "content_block_stop 0",
        "content_block_start 1",
        "content_block_delta 1",
        "content_block_stop 1",
        "content_block_start 2",
        "content_block_delta 2",
        "content_block_stop 2",
        "message_delta",
        "message_stop",
      ]);
    const whole = await client().messages.create({ ...ask(scripted(script)), tools });
    const { input_tokens: input, output_tokens: output } = whole.usage;
    expect(output).toBeGreaterThan(1);
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: input } } });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "tool_use" },
      usage: { input_tokens: input, output_tokens: output },
    });
  });

  it("writes frames with an event line each, a ping among them, and no [DONE]", async () => {
    const response = await fetch(`${sandbox.url}/anthropic/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": "sandbox", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ ...ask(scripted({ reply: "Hi" })), stream: true }),
    });
    expect(response.headers.get("request-id")).toMatch(/^req_/);
    const frames = (await response.text()).split("\n\n").filter(Boolean);
    expect(frames[2]).toBe('event: ping\ndata: {"type":"ping"}');
    expect(frames.every((frame) => /^event: (\w+)\ndata: \{"type":"\1"/.test(frame))).toBe(true);
    expect(frames.at(-1)).toContain("message_stop");
  });

  it("records in the journal that the client left a stream", async () => {
    const script = { reply: "one two three", chunk_chars: 1, chunk_delay_ms: 20 };
    const stream = await client().messages.create({ ...ask(scripted(script)), stream: true });
    for await (const event of stream) {
      if (event.type === "content_block_delta") stream.controller.abort();
    }
    await expect
      .poll(() => sandbox.journal.list({ model }).map(({ aborted, status }) => [aborted, status]))
      .toEqual([[true, 200]]);
  });

  it("streams parallel calls that the SDK's accumulator can rebuild", async () => {
    const calls = [
      { name: "weather", arguments: { city: "Rome" } },
      { name: "weather", arguments: {} },
    ];
    const body = { ...ask(scripted({ tool_calls: calls, chunk_chars: 4 })), tools };
    const message = await client().messages.stream(body).finalMessage();
    expect(message.content).toMatchObject([
      { type: "tool_use", name: "weather", input: { city: "Rome" } },
      { type: "tool_use", name: "weather", input: {} },
    ]);
  });

  it("makes a tool round trip with signed thinking, and refuses missing or altered thinking", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const body = { ...ask("Weather in Rome?"), tools, thinking };
    const first = await client().messages.create(body);
    expect(first.content.map((block) => block.type)).toEqual(["thinking", "tool_use"]);
    const [thought, call] = first.content as [Anthropic.ThinkingBlock, Anthropic.ToolUseBlock];
    const second = (blocks: Anthropic.ContentBlockParam[]) => {
      const result = { type: "tool_result" as const, tool_use_id: call.id, content: "21 degrees" };
      const messages: MessageParam[] = [
        ...body.messages,
        { role: "assistant", content: blocks },
        { role: "user", content: [result] },
      ];
      return client().messages.create({ ...body, messages });
    };
    const answer = await second([thought, call]);
    expect(answer.content.at(-1)).toMatchObject({
      text: "This is the sandbox. The tool answered: 21 degrees",
    });
    await expect(second([call])).rejects.toThrow("Expected `thinking`");
    await expect(second([{ ...thought, thinking: "altered" }, call])).rejects.toThrow(
      "Invalid `signature`",
    );
  });

  it("accepts a later step of a tool loop without thinking, if the loop began with it", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const body = { ...ask("Weather in Rome?"), tools, thinking };
    const [thought, call] = (await client().messages.create(body)).content as [
      Anthropic.ThinkingBlock,
      Anthropic.ToolUseBlock,
    ];
    const result = (id: string): MessageParam => ({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: "21 degrees" }],
    });
    const loop = (start: Anthropic.ContentBlockParam[]) =>
      client().messages.create({
        ...body,
        messages: [
          ...body.messages,
          { role: "assistant", content: start },
          result(call.id),
          { role: "assistant", content: [{ ...call, id: "toolu_later" }] },
          result("toolu_later"),
        ],
      });
    expect((await loop([thought, call])).stop_reason).toBe("end_turn");
    await expect(loop([call])).rejects.toThrow("messages.1.content.0.type: Expected `thinking`");
  });

  it("accepts a budget that is not below max_tokens for interleaved thinking with tools, as Qwen Code sends it", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 4000 };
    const between = { headers: { "anthropic-beta": "interleaved-thinking-2025-05-14" } };
    const body = { ...ask("Weather in Rome?"), thinking };
    const answer = await client().messages.create({ ...body, tools }, between);
    expect(answer.content.map((block) => block.type)).toEqual(["thinking", "tool_use"]);
    const refused = "greater than `thinking.budget_tokens`";
    await expect(client().messages.create({ ...body, tools })).rejects.toThrow(refused);
    await expect(client().messages.create(body, between)).rejects.toThrow(refused);
  });

  it("reports the stop sequence that ended it, max_tokens, and a refusal", async () => {
    const body = ask(scripted({ reply: "one two three" }));
    const stopped = await client().messages.create({ ...body, stop_sequences: ["two"] });
    expect(stopped).toMatchObject({
      stop_reason: "stop_sequence",
      stop_sequence: "two",
      content: [{ text: "one " }],
    });
    const cut = await client().messages.create({ ...body, max_tokens: 1 });
    expect(cut).toMatchObject({ stop_reason: "max_tokens", content: [{ text: "one " }] });
    const refused = await client().messages.create(ask(scripted({ finish: "content_filter" })));
    expect(refused).toMatchObject({ stop_reason: "refusal", stop_details: { type: "refusal" } });
  });

  it("reports scripted usage with cached tokens beside the input", async () => {
    const usage = { input: 100, output: 20, cache_read: 60, cache_write: 10, reasoning: 5 };
    const body = ask(scripted({ reply: "x", usage }));
    const expected = {
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    };
    expect((await client().messages.create(body)).usage).toMatchObject(expected);
    expect((await client().messages.stream(body).finalMessage()).usage).toMatchObject(expected);
  });

  it("counts tokens the way it bills them", async () => {
    const body = ask("How many tokens is this?");
    const { max_tokens: _limit, ...counted } = body;
    const { input_tokens: count } = await client().messages.countTokens(counted);
    expect(count).toBe((await client().messages.create(body)).usage.input_tokens);
  });

  it("maps errors to the SDK's classes, in a stream too", async () => {
    await expect(client("wrong").messages.create(ask("Hi"))).rejects.toBeInstanceOf(
      AuthenticationError,
    );
    await expect(client().messages.create(ask(scripted({ status: 529 })))).rejects.toMatchObject({
      constructor: OverloadedError,
      error: { type: "error", error: { type: "overloaded_error" } },
    });
    const broken = ask(scripted({ reply: "abc", chunk_chars: 1, stream_error: 1 }));
    await expect(eventsOf(broken)).rejects.toMatchObject({
      error: { error: { type: "overloaded_error" } },
    });
  });

  it("refuses sampling parameters under the newest version, and requires a version", async () => {
    const headers = { "x-api-key": "sandbox", "content-type": "application/json" };
    const post = (version: object, body: object) =>
      fetch(`${sandbox.url}/anthropic/v1/messages`, {
        method: "POST",
        headers: { ...headers, ...version },
        body: JSON.stringify(body),
      });
    const warm = { ...ask("Hi"), temperature: 0.5 };
    expect((await post({ "anthropic-version": "2023-06-01" }, warm)).status).toBe(200);
    expect((await post({ "anthropic-version": "2026-10-21" }, warm)).status).toBe(400);
    expect((await post({}, ask("Hi"))).status).toBe(400);
  });
});
