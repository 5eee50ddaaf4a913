/** Model names of megabytes, in calls that cost nothing: the gateway neither stores them in the request log nor repeats them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";

const long = "a".repeat(1_000_000);
const messages = [{ role: "user", content: "hi" }];

let gateway: AdminGateway;
beforeAll(async () => {
  gateway = await startAdminGateway();
});
afterAll(() => gateway.close());

it.each([
  ["/v1/chat/completions", { messages }, `acme/${long}`, 404],
  ["/v1/chat/completions", { messages }, long, 404],
  ["/v1/chat/completions", { messages }, `sandbox/chat:${long}`, 404],
  ["/v1/chat/completions", { messages }, `sandbox/chat:@${long}`, 404],
  ["/v1/messages", { messages, max_tokens: 1 }, `acme/${long}`, 404],
  ["/v1/responses", { input: "hi" }, `acme/${long}`, 404],
  ["/v1/embeddings", { input: "hi" }, `acme/${long}`, 404],
  ["/v1/tasks", { prompt: "hi" }, `acme/${long}`, 404],
  ["/v1/images/generations", { prompt: "hi" }, `acme/${long}`, 400],
])("%s answers a long model name briefly: %#", async (path, body, model, status) => {
  const answer = await gateway.post(path, { ...body, model });
  expect(answer.status).toBe(status);
  expect((await answer.text()).length).toBeLessThan(2_000);
});

it("the request log keeps only the beginning of a model name of a megabyte", async () => {
  const answer = await gateway.post("/v1/chat/completions", { messages, model: `acme/${long}` });
  const id = answer.headers.get("x-request-id");
  const { json, text } = await eventually(async () => {
    const read = await gateway.admin("GET", `/requests/${id}`);
    return read.status === 200 ? read : undefined;
  }, "the row");
  expect(json.model).toBe(`acme/${long}`.slice(0, 500));
  expect(text.length).toBeLessThan(5_000);
});
