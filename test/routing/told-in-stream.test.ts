/**
 * Errors that a caller of a stream of responses gets inside it, because Codex acts on them only there (openai/codex api_bridge.rs,
 * sse/responses.rs). After the refusal of a too long prompt it shortens the conversation. After a rate limit that the vendor reported inside
 * its own stream it tries again. At the status it ends the turn.
 */
import { expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { json, sse, startRecorder } from "../support/recorder.ts";
import { logRow } from "../rows/world.ts";
import { twoProviders } from "./two-providers.ts";

const message = "This model's maximum context length is 1000 tokens.";
const code = "context_length_exceeded";
const refusal = { error: { message, type: "invalid_request_error", code } };
const rate = "rate_limit_exceeded";
const words = "Rate limit reached for gpt-5 on tokens per min. Please try again in 11.05s.";
const protocols = ["chat", "responses"] as const;

const dataOf = (text: string): object[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as object);

it.each(protocols)(
  "a prompt that is too long for an upstream of %s is told in a stream of responses, as OpenAI does it, and elsewhere by its status",
  async (protocol) => {
    const vendor = await startRecorder(json(refusal, 400));
    const gateway = await startTestGateway({ config: twoProviders({ url: vendor.url, protocol }) });
    await gateway.credit("10");
    const ask = (path: string, input: object) =>
      gateway.post(path, { model: "lab/chat", max_tokens: 50, ...input });
    const messages = [{ role: "user", content: "long" }];

    const streamed = await ask("/v1/responses", { input: "long", stream: true });
    expect(streamed.status).toBe(200);
    const events = dataOf(await streamed.text());
    expect(events.at(-2)).toMatchObject({ type: "error", code, error: { code, message } });
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      sequence_number: events.length - 1,
      response: { status: "failed", output: [], usage: null, error: { code, message } },
    });
    expect(await logRow(gateway, streamed.headers.get("x-request-id")!)).toMatchObject({
      status: "failed",
      http_status: 400,
      cost_nano: 0n,
    });

    for (const [path, input] of [
      ["/v1/responses", { input: "long" }],
      ["/v1/chat/completions", { messages, stream: true }],
      ["/v1/messages", { messages, stream: true }],
    ] as const)
      expect((await ask(path, input)).status).toBe(400);
    await gateway.close();
    await vendor.close();
  },
);

const opened = { type: "response.created", response: { id: "resp_1", output: [] } };
const failed = {
  type: "response.failed",
  response: { id: "resp_1", status: "failed", output: [], error: { code: rate, message: words } },
};
const limitedInStream = [opened, failed].map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const limited = json({ error: { message: words, type: rate, code: rate } }, 429);

it("a rate limit that a vendor reports inside its stream is reported in a stream of responses too, and elsewhere by its status", async () => {
  const vendor = await startRecorder(sse(limitedInStream));
  const gateway = await startTestGateway({
    config: twoProviders({ url: vendor.url, protocol: "responses" }),
  });
  await gateway.credit("10");
  const ask = (path: string, input: object) =>
    gateway.post(path, { model: "lab/chat", max_tokens: 50, stream: true, ...input });

  const streamed = await ask("/v1/responses", { input: "hello" });
  expect(streamed.status).toBe(200);
  expect(dataOf(await streamed.text()).at(-1)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: rate } },
  });
  expect(await logRow(gateway, streamed.headers.get("x-request-id")!)).toMatchObject({
    http_status: 429,
    cost_nano: 0n,
  });
  const messages = [{ role: "user", content: "hello" }];
  expect((await ask("/v1/chat/completions", { messages })).status).toBe(429);

  vendor.answer(limited);
  expect((await ask("/v1/responses", { input: "hello" })).status).toBe(429);
  await gateway.close();
  await vendor.close();
});

it.each([
  ["inside its stream", sse(limitedInStream), 200],
  ["by its status", limited, 429],
] as const)(
  "T43: a rate limit that a provider tells %s is told in that way too if the next refuses the reasoning of another account",
  async (_how, first, status) => {
    const words = { message: "The encrypted content could not be verified.", code: "server_error" };
    const foreign = { type: "response.failed", response: { status: "failed", error: words } };
    const refusals = {
      200: json({ error: { ...words, type: "invalid_request_error" } }, 400),
      429: sse(`data: ${JSON.stringify(foreign)}\n\n`),
    };
    const vendor = await startRecorder((request, response) =>
      (request.path.startsWith("/first/") ? first : refusals[status])(request, response),
    );
    const gateway = await startTestGateway({
      config: twoProviders({ url: vendor.url, protocol: "responses" }),
    });
    await gateway.credit("10");
    const model = "lab/chat:@price";
    const answer = await gateway.post("/v1/responses", { model, input: "hello", stream: true });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(rate);
    expect(vendor.requests).toHaveLength(2);
    await gateway.close();
    await vendor.close();
  },
);
