/**
 * A refusal of a too long prompt, to a caller that asked for a stream of responses. OpenAI tells it inside the stream, and Codex shortens the
 * conversation only then: at a status of 400 it ends the turn, and its compaction too (openai/codex api_bridge.rs, sse/responses.rs).
 */
import { expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { logRow } from "../rows/world.ts";
import { twoProviders } from "./two-providers.ts";

const message = "This model's maximum context length is 1000 tokens.";
const code = "context_length_exceeded";
const refusal = { error: { message, type: "invalid_request_error", code } };
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
