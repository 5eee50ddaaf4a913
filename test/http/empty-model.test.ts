// A body whose model is an empty text: refused in the protocol's format, with the field's name, on every path with a model.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

async function post(path: string, body: string | FormData) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(typeof body === "string" && { "content-type": "application/json" }),
    },
    body,
  });
  return { status: response.status, body: await response.json() };
}

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

const message = "The field model must not be empty.";
const messages = [{ role: "user", content: "Hello" }];
const prompt = "A boat";
const openaiError = {
  error: { type: "invalid_request_error", code: "invalid_value", param: "model", message },
};
const messagesError = { type: "error", error: { type: "invalid_request_error", message } };

describe("a request with an empty model", () => {
  it.each([
    ["/v1/chat/completions", { messages }, openaiError],
    ["/v1/responses", { input: "Hello" }, openaiError],
    ["/v1/embeddings", { input: "Hello" }, openaiError],
    ["/v1/messages", { messages, max_tokens: 50 }, messagesError],
    ["/v1/messages/count_tokens", { messages }, messagesError],
    ["/v1/tasks", { prompt }, openaiError],
    ["/v1/videos/generations", { prompt }, openaiError],
    ["/v1/images/generations", { prompt }, openaiError],
  ])("is refused at %s with 400 and the field's name", async (path, fields, error) => {
    const refused = await post(path, JSON.stringify({ model: "", ...fields }));
    expect(refused).toMatchObject({ status: 400, body: error });
  });

  it.each(["/v1/tasks", "/v1/images/edits"])(
    "is refused in a form at %s with 400 and the field's name",
    async (path) => {
      const refused = await post(path, form({ model: "", prompt }));
      expect(refused).toMatchObject({ status: 400, body: openaiError });
    },
  );
});
