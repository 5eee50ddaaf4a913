/** The openai-like vendor's chat completions, called by the official SDK over a real socket. */
import OpenAI, { AuthenticationError, RateLimitError } from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources";
import { describe, expect, it } from "vitest";
import { pixel } from "../support/pixel.ts";
import { schemaOf, scripted, useSandbox, weather } from "./support.ts";

const sandbox = useSandbox();
const model = "sandbox-large";
const client = (apiKey = "sandbox") =>
  new OpenAI({ apiKey, baseURL: `${sandbox.url}/openai/v1`, maxRetries: 0 });
const ask = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });
const tools: ChatCompletionTool[] = [{ type: "function", function: weather }];

async function chunksOf(body: OpenAI.ChatCompletionCreateParamsNonStreaming) {
  const stream = await client().chat.completions.create({ ...body, stream: true });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe("chat completions", () => {
  it("answers a whole body with a dated model name", async () => {
    const answer = await client().chat.completions.create(ask(scripted({ reply: "Hi there" })));
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "Hi there", refusal: null },
    });
    expect(answer.model).toBe("sandbox-large-2026-10-01");
  });

  it("names itself as the sandbox and echoes the question if there is no script", async () => {
    const answer = await client().chat.completions.create({
      model,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "What is the capital of France?" },
      ],
    });
    expect(answer.choices[0]!.message.content).toBe(
      "This is the sandbox. You said: What is the capital of France?",
    );
    expect(answer.usage!.total_tokens).toBe(
      answer.usage!.prompt_tokens + answer.usage!.completion_tokens,
    );
  });

  it("streams the same text in chunks, with usage only if requested", async () => {
    const body = ask(scripted({ reply: "Hi there", chunk_chars: 3 }));
    const chunks = await chunksOf(body);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: "assistant", content: "", refusal: null },
      { content: "Hi " },
      { content: "the" },
      { content: "re" },
      {},
    ]);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("stop");
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    const counted = await chunksOf({ ...body, stream_options: { include_usage: true } });
    expect(counted.map((chunk) => chunk.usage !== null)).toEqual([
      ...chunks.map(() => false),
      true,
    ]);
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 2 } });
  });

  it("whole answers and chunks satisfy the vendor's own schema", async ({ skip }) => {
    const whole = schemaOf("openai-slice.json", "CreateChatCompletionResponse");
    const piece = schemaOf("openai-slice.json", "CreateChatCompletionStreamResponse");
    if (!whole || !piece) return skip("the vendor's schemas are not beside the repository");
    for (const script of [{ reply: "Hi" }, { tool_calls: [{ name: "weather" }, { name: "b" }] }]) {
      const body = { ...ask(scripted(script)), tools };
      expect(whole(await client().chat.completions.create(body))).toEqual([]);
      for (const chunk of await chunksOf(body)) expect(piece(chunk)).toEqual([]);
    }
  });

  it("calls the first tool with valid arguments, then quotes its result", async () => {
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "Weather in Rome?" }];
    const first = await client().chat.completions.create({ model, messages, tools });
    const message = first.choices[0]!.message;
    const call = message.tool_calls![0]!;
    expect(first.choices[0]!.finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    expect(call).toMatchObject({
      type: "function",
      function: { name: "weather", arguments: '{"city":"sample city","unit":"celsius"}' },
    });
    messages.push(message, { role: "tool", tool_call_id: call.id, content: "21 degrees" });
    const second = await client().chat.completions.create({ model, messages, tools });
    expect(second.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "This is the sandbox. The tool answered: 21 degrees" },
    });
  });

  it("streams parallel calls by index, with id and name only in the first chunk", async () => {
    const calls = [
      { name: "weather", arguments: { city: "Rome" } },
      { name: "weather", arguments: { city: "Oslo" } },
    ];
    const body = { ...ask(scripted({ reply: "Both.", tool_calls: calls, chunk_chars: 8 })), tools };
    const pieces = (await chunksOf(body)).flatMap((one) => one.choices[0]!.delta.tool_calls ?? []);
    for (const [index, call] of calls.entries()) {
      const own = pieces.filter((piece) => piece.index === index);
      expect(own.map((piece) => piece.function!.arguments).join("")).toBe(
        JSON.stringify(call.arguments),
      );
      expect(own.map((piece) => piece.id !== undefined)).toEqual([true, false, false]);
      const names = own.map((piece) => piece.function!.name);
      expect(names).toEqual([call.name, undefined, undefined]);
    }
  });

  it("obeys tool_choice: none, and a named tool", async () => {
    const other = { ...weather, name: "other" };
    const body = {
      ...ask("Hello"),
      tools: [...tools, { type: "function" as const, function: other }],
    };
    const none = await client().chat.completions.create({ ...body, tool_choice: "none" });
    expect(none.choices[0]!.message.tool_calls).toBeUndefined();
    const named = await client().chat.completions.create({
      ...body,
      tool_choice: { type: "function", function: { name: "other" } },
    });
    expect(named.choices[0]!.message.tool_calls![0]).toMatchObject({ function: { name: "other" } });
  });

  it("counts images, honours stop and max tokens, and shows reasoning as reasoning_content", async () => {
    const image = {
      type: "image_url" as const,
      image_url: { url: `data:image/png;base64,${pixel}` },
    };
    const seen = await client().chat.completions.create({
      model,
      messages: [{ role: "user", content: [{ type: "text", text: "Look" }, image, image] }],
    });
    expect(seen.choices[0]!.message.content).toContain("I see 2 images.");
    const reply = scripted({ reply: "one two three", reasoning: "hmm" });
    const stopped = await client().chat.completions.create({
      ...ask(reply),
      stop: ["three", "two"],
    });
    expect(stopped.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "one ", reasoning_content: "hmm" },
    });
    const cut = await client().chat.completions.create({ ...ask(reply), max_tokens: 2 });
    expect(cut.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "one " } });
  });

  it("reports scripted usage with cached tokens inside the prompt and reasoning inside the completion", async () => {
    const usage = { input: 100, output: 20, cache_read: 60, cache_write: 10, reasoning: 5 };
    const reported = await client().chat.completions.create(ask(scripted({ reply: "x", usage })));
    expect(reported.usage).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    const unreported = await client().chat.completions.create(ask(scripted({ usage: null })));
    expect(unreported).not.toHaveProperty("usage");
  });

  it("answers JSON that fits the requested schema", async () => {
    const answer = await client().chat.completions.create({
      ...ask("Weather as JSON"),
      response_format: {
        type: "json_schema",
        json_schema: { name: "w", schema: weather.parameters },
      },
    });
    expect(JSON.parse(answer.choices[0]!.message.content!)).toEqual({
      city: "sample city",
      unit: "celsius",
    });
  });

  it("maps errors to the SDK's classes", async () => {
    await expect(client("wrong").chat.completions.create(ask("Hi"))).rejects.toMatchObject({
      constructor: AuthenticationError,
      code: "invalid_api_key",
    });
    const limited = ask(scripted({ status: 429, error: "Slow down", retry_after: 3 }));
    const error = await client()
      .chat.completions.create(limited)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      constructor: RateLimitError,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
    });
    expect((error as InstanceType<typeof OpenAI.APIError>).headers!.get("retry-after")).toBe("3");
    const broken = chunksOf(ask(scripted({ reply: "abcdef", chunk_chars: 1, stream_error: 2 })));
    await expect(broken).rejects.toMatchObject({ type: "server_error" });
  });

  it("lists its models", async () => {
    const { data } = await client().models.list();
    expect(data.map(({ id }) => id)).toEqual(["sandbox-large", "sandbox-embedding"]);
  });
});
