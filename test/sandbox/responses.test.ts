/** The openai-like vendor's responses, called by the official SDK. Objects and events are checked against Open Responses. */
import OpenAI, { BadRequestError } from "openai";
import type { ResponseInput, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { pixel } from "../support/pixel.ts";
import { schemaOf, scripted, useSandbox, weather } from "./support.ts";

const sandbox = useSandbox();
const model = "sandbox-large";
const client = () =>
  new OpenAI({ apiKey: "sandbox", baseURL: `${sandbox.url}/openai/v1`, maxRetries: 0 });
const tools = [{ type: "function" as const, strict: null, ...weather }];

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

async function eventsOf(body: Body): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of await client().responses.create({ ...body, stream: true })) {
    events.push(event);
  }
  return events;
}

const openResponses = "openresponses-openapi-2026-04-24.json";

/** The schema of an event type: ResponseOutputTextDeltaStreamingEvent for `response.output_text.delta`, and so on. */
function schemaNameOf(type: string): string {
  const words = type.replace("response.", "").split(/[._]/);
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
  return `Response${name.replace("SummaryText", "Summary")}StreamingEvent`;
}

describe("responses", () => {
  it("answers text, with instructions and images read", async () => {
    const answer = await client().responses.create({
      model,
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Look at this" },
            { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${pixel}` },
          ],
        },
      ],
    });
    expect(answer.output_text).toBe("This is the sandbox. I see 1 image. You said: Look at this");
    expect(answer).toMatchObject({ status: "completed", model: "sandbox-large-2026-10-01" });
    expect(answer.instructions).toBe("Be brief.");
  });

  it("streams the full sequence of named events, numbered from 0", async () => {
    const script = { reasoning: "hm", reply: "Hi", tool_calls: [{ name: "weather" }] };
    const events = await eventsOf({ model, input: scripted(script), tools });
    expect(events.map((event) => event.type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect(last.response.output.map((item) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
    ]);
  });

  it("objects and events satisfy Open Responses", async ({ skip }) => {
    const whole = schemaOf(openResponses, "ResponseResource");
    if (!whole) return skip("the Open Responses schemas are not beside the repository");
    const scripts = [
      { reply: "Hi there", reasoning: "hm" },
      { tool_calls: [{ name: "weather" }, { name: "weather", arguments: { city: "Oslo" } }] },
      { reply: "cut", finish: "length" },
      { finish: "failed" },
    ];
    for (const script of scripts) {
      const body: Body = { model, input: scripted(script), tools };
      expect(whole(await client().responses.create(body))).toEqual([]);
      for (const event of await eventsOf(body)) {
        const check = schemaOf(openResponses, schemaNameOf(event.type))!;
        expect([event.type, ...check(event)]).toEqual([event.type]);
      }
    }
  });

  it("makes a round trip of parallel calls, then quotes the results", async () => {
    const calls = [
      { name: "weather", arguments: { city: "Rome" } },
      { name: "weather", arguments: { city: "Oslo" } },
    ];
    const input: ResponseInput = [{ role: "user", content: scripted({ tool_calls: calls }) }];
    const first = await client().responses.create({ model, input, tools });
    const made = first.output.filter((item) => item.type === "function_call");
    expect(made.map((call) => call.arguments)).toEqual(['{"city":"Rome"}', '{"city":"Oslo"}']);
    for (const call of made) input.push(call);
    for (const [at, { call_id: id }] of made.entries()) {
      input.push({ type: "function_call_output", call_id: id, output: `${at}0 degrees` });
    }
    const second = await client().responses.create({ model, input, tools });
    expect(second.output_text).toBe(
      "This is the sandbox. The tool answered: 00 degrees; 10 degrees",
    );
  });

  it("is incomplete if tokens run out or content is filtered", async () => {
    const cut = await client().responses.create({
      model,
      input: scripted({ reply: "one two three four" }),
      max_output_tokens: 2,
    });
    expect(cut).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete", content: [{ text: "one two " }] }],
    });
    const filtered = await eventsOf({ model, input: scripted({ finish: "content_filter" }) });
    expect(filtered.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "content_filter" } },
    });
  });

  it("returns encrypted reasoning only if requested, and accepts only its own", async () => {
    const body: Body = { model, input: scripted({ reasoning: "hm", reply: "Hi" }) };
    const plain = await client().responses.create(body);
    expect(plain.output[0]).not.toHaveProperty("encrypted_content");
    const asked = await client().responses.create({
      ...body,
      include: ["reasoning.encrypted_content"],
    });
    const [reasoning] = asked.output;
    const back = (item: object) =>
      client().responses.create({
        model,
        input: [item, { role: "user", content: "Go on" }] as never,
      });
    expect((await back(reasoning!)).status).toBe("completed");
    await expect(back({ ...reasoning, encrypted_content: "Zm9yZWlnbg==" })).rejects.toMatchObject({
      constructor: BadRequestError,
      code: "invalid_encrypted_content",
    });
  });

  it("reports scripted usage, and ends a broken stream with the scripted error", async () => {
    const usage = { input: 100, output: 20, cache_read: 60, reasoning: 5 };
    const answer = await client().responses.create({
      model,
      input: scripted({ reply: "x", usage }),
    });
    expect(answer.usage).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 120,
    });
    const broken = scripted({ reply: "abc", chunk_chars: 1, stream_error: 1, error: "Broken" });
    await expect(eventsOf({ model, input: broken })).rejects.toThrow("Broken");
  });
});
