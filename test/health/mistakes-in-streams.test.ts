/** A caller's mistake that a vendor reports inside an answer that began with 200. TXT-20, BILL-22; docs/routing.md. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json, sse, type Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { parsed } from "../rows/protocols.ts";
import { createSseParser } from "../../src/base/sse.ts";
import { takeRequestCounts, names, startTrio, type Trio } from "./support.ts";

const response = { id: "resp_1", object: "response", created_at: 1, model: "talk", output: [] };

/** Like OpenAI: the answer begins, and then fails. */
const failed = (error: object): Answer => {
  const frames = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.failed", response: { ...response, status: "failed", error } },
  ];
  return sse(
    frames
      .map((frame, number) => {
        const data = JSON.stringify({ sequence_number: number, ...frame });
        return `event: ${frame.type}\ndata: ${data}\n\n`;
      })
      .join(""),
  );
};

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({
    prices: { a: 1, b: 2, c: 3 },
    protocols: { a: "responses", b: "messages" },
    models: 6,
  });
});
afterAll(() => trio.close());
beforeEach(() => {
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

const calls = 8;

/** Makes more calls than open a circuit, and returns the last answer. */
async function several(model: string, stream: boolean): Promise<{ status: number; text: string }> {
  let last = { status: 0, text: "" };
  for (let index = 0; index < calls; index += 1) {
    const answer = await trio.call({ model: `${model}:@price`, stream });
    last = { status: answer.status, text: await answer.text() };
  }
  return last;
}

const lastFrame = (text: string) => {
  const parser = createSseParser();
  return parsed([...parser.push(new TextEncoder().encode(text)), ...parser.end()].at(-1)!);
};

it("TXT-20: an unreadable picture is reported as the caller's mistake, and the provider stays in use", async () => {
  const vendorMessage = "The image data you provided does not represent a valid image.";
  trio.up.a.answer(failed({ code: "invalid_image", message: vendorMessage }));
  const { status, text } = await several("acme/talk-2", true);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    error: { code: "upstream_rejected", message: vendorMessage },
  });
  expect(takeRequestCounts(trio)).toEqual({ a: calls, b: 0, c: 0 });
});

/** Like Anthropic, in the middle of its answer. */
const blocked = (type: string, message: string): Answer => {
  const start = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "talk",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  };
  const frames = [
    { type: "message_start", message: start },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "La " } },
    { type: "error", error: { details: null, type, message }, request_id: "req_1" },
  ];
  return sse(
    frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join(""),
  );
};

it("TXT-20: an answer blocked by Anthropic's filter midway is reported as such, and the provider stays in use", async () => {
  const vendorMessage = "Output blocked by content filtering policy";
  trio.up.a.answer(json({ error: { message: "down" } }, 500));
  await several("acme/talk-5", false);
  takeRequestCounts(trio);
  trio.up.b.answer(blocked("invalid_request_error", vendorMessage));
  const { text } = await several("acme/talk-5", true);
  expect(lastFrame(text)).toMatchObject({
    error: { code: "upstream_rejected", message: vendorMessage },
  });
  expect(takeRequestCounts(trio)).toMatchObject({ b: calls, c: 0 });
});

it("TXT-20: a value that the vendor refuses in its first event is reported as such, and the provider stays in use", async () => {
  const vendorMessage = "Unsupported value: 'max' is not supported with this model.";
  const error = { message: vendorMessage, type: "BadRequestError", param: null, code: 400 };
  const refusing = sse(`data: ${JSON.stringify({ error })}\n\n`);
  for (const name of names) trio.up[name].answer(refusing);
  const { status, text } = await several("acme/talk-3", true);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ error: { message: vendorMessage } });
  expect(takeRequestCounts(trio).a).toBe(calls);
});

it("an overload reported midway counts against the provider", async () => {
  trio.up.a.answer(json({ error: { message: "down" } }, 500));
  trio.up.b.answer(blocked("overloaded_error", "Overloaded"));
  await several("acme/talk-6", true);
  expect(takeRequestCounts(trio).c).toBeGreaterThan(0);
});

it("a server error reported in the stream counts against the provider", async () => {
  trio.up.a.answer(failed({ code: "server_error", message: "The server had an error." }));
  const { text } = await several("acme/talk-4", true);
  expect(text).not.toContain("The server had an error.");
  expect(takeRequestCounts(trio)).toMatchObject({ a: 5, c: 0 });
});
