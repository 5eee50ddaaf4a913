// OpenAI reports a prompt that is too long inside a stream that began with 200. Other callers' calls stay with the provider.
import { expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { startRecorder } from "../support/recorder.ts";
import { twoProviders } from "./two-providers.ts";

const message = "Your input exceeds the context window of this model.";
const error = { type: "invalid_request_error", code: "context_length_exceeded", message };
const response = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [] };
const content = [{ type: "output_text", text: "Hello", annotations: [] }];
const item = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content,
};
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const createdEvent = { type: "response.created", response: { ...response, status: "in_progress" } };
const refusal = [
  createdEvent,
  { type: "error", error: { ...error, param: "input" } },
  {
    type: "response.failed",
    response: { ...response, status: "failed", error: { code: error.code, message } },
  },
];
const answer = [
  createdEvent,
  { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
  {
    type: "response.output_text.delta",
    output_index: 0,
    content_index: 0,
    item_id: "msg_1",
    delta: "Hello",
  },
  { type: "response.output_item.done", output_index: 0, item },
  {
    type: "response.completed",
    response: { ...response, status: "completed", output: [item], usage },
  },
];

const streamOf = (events: readonly { readonly type: string }[]): string =>
  events
    .map(
      (event, index) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
    )
    .join("");

it("a stream that reports a prompt as too long reaches the caller without failover, and the next call goes to the same provider", async () => {
  const vendor = await startRecorder((request, reply) => {
    reply.writeHead(200, { "content-type": "text/event-stream" });
    reply.end(streamOf(request.text.includes("long") ? refusal : answer));
  });
  const gateway = await startTestGateway({
    config: twoProviders({ url: vendor.url, protocol: "responses" }),
  });
  await gateway.credit("10");
  const ask = async (path: string, input: object): Promise<string> => {
    const sent = { model: "lab/chat:@price", stream: true, max_tokens: 50, ...input };
    return (await gateway.post(path, sent)).text();
  };
  const asks = (content: string) => ({ messages: [{ role: "user", content }] });
  for (let calls = 0; calls < 4; calls += 1) {
    expect(await ask("/v1/chat/completions", asks("long"))).toContain(
      `"error":{"message":"${message}","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}`,
    );
    const own = await ask("/v1/responses", { input: "long" });
    expect(own).toContain(`"error":{"code":"context_length_exceeded","message":"${message}"}`);
    expect(await ask("/v1/messages", asks("long"))).toContain(`prompt is too long: ${message}`);
    expect(await ask("/v1/chat/completions", asks("good"))).toContain('"content":"Hello"');
  }
  expect(vendor.requests.map(({ path }) => path.split("/")[1])).toEqual(
    Array.from({ length: 16 }, () => "first"),
  );
  await gateway.close();
  await vendor.close();
}, 60_000);
