/** Earlier reasoning whose signature one provider accepts and another does not, on direct routes. T43; docs/routing.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json, sse, type Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { failing, takeRequestCounts, names, startTrio, type Trio } from "./support.ts";

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({ prices: { a: 1, b: 2, c: 3 }, models: 4 });
});
afterAll(() => trio.close());
beforeEach(() => {
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

const error = {
  message: "The encrypted content could not be verified.",
  type: "invalid_request_error",
  param: null,
  code: "invalid_encrypted_content",
};
const refusing: Answer = json({ error }, 400);

it("T43: a provider that accepts the signature answers, and no provider's health suffers", async () => {
  trio.up.a.answer(refusing);
  for (let calls = 0; calls < 8; calls += 1) {
    const answer = await trio.call({ model: "acme/talk-1:@price" });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  expect(takeRequestCounts(trio)).toEqual({ a: 8, b: 8, c: 0 });
});

it("T43: if no provider accepts the signature, the caller gets the vendor's own error", async () => {
  for (const name of names) trio.up[name].answer(refusing);
  const answer = await trio.call({ model: "acme/talk-2:@price" });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ error });
  expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 1, c: 1 });
});

it("T43: while the provider that may accept the signature fails, the caller gets a retryable error", async () => {
  trio.up.a.answer(failing);
  trio.up.b.answer(refusing);
  trio.up.c.answer(refusing);
  const answer = await trio.call({ model: "acme/talk-3:@price" });
  expect(answer.status).toBe(502);
  expect(await answer.json()).toMatchObject({ error: { code: "upstream_error" } });
});

it("T60: a malformed call of Groq's model goes to the next provider, and Groq stays in use", async () => {
  const failed = {
    message: "Failed to call a function. Please adjust your prompt.",
    type: "invalid_request_error",
    code: "tool_use_failed",
    failed_generation: "look{",
  };
  trio.up.a.answer(json({ error: failed }, 400));
  for (let calls = 0; calls < 8; calls += 1) {
    const answer = await trio.call({ model: "acme/talk-4:@price" });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  expect(takeRequestCounts(trio)).toEqual({ a: 8, b: 8, c: 0 });
  const last = await trio.call({ model: "acme/talk-4:a" });
  expect([last.status, await last.json()]).toMatchObject([400, { error: failed }]);
});

describe("a provider with two accounts", () => {
  let two: Trio;
  beforeAll(async () => {
    two = await startTrio({ prices: { a: 1, b: 2, c: 3 }, twoKeys: true });
  });
  afterAll(() => two.close());

  /** An upstream that accepts the signature only with this key, whose account made it. */
  const acceptingKey =
    (key: string): Answer =>
    (request, response) =>
      (request.headers.authorization === `Bearer ${key}` ? answering : refusing)(request, response);

  it("T43: answers with the account that made the signature, whichever key is asked first, and pauses no key", async () => {
    two.up.a.answer(acceptingKey("a-two"));
    const asked = new Set<string>();
    for (let calls = 0; calls < 12; calls += 1) {
      const answer = await two.call({ model: "acme/talk:@price" });
      expect(answer.status).toBe(200);
      await answer.text();
      const { provider, attempts } = await two.row(answer);
      expect(provider).toBe("a");
      expect(attempts.at(-1)).toMatchObject({ credential: "two", outcome: "ok" });
      for (const { credential } of attempts.slice(0, 1)) asked.add(credential);
    }
    expect([...asked].sort()).toEqual(["one", "two"]);
    expect(takeRequestCounts(two)).toMatchObject({ b: 0, c: 0 });
  });

  it("T43: is asked once for each account if neither accepts the signature, before the next provider", async () => {
    two.up.a.answer(refusing);
    const answer = await two.call({ model: "acme/talk:@price" });
    expect(answer.status).toBe(200);
    await answer.text();
    const { attempts } = await two.row(answer);
    expect(attempts.map(({ provider }) => provider)).toEqual(["a", "a", "b"]);
    expect(
      attempts
        .slice(0, 2)
        .map(({ credential }) => credential)
        .sort(),
    ).toEqual(["one", "two"]);
  });
});

describe("a provider that refuses the reasoning inside its stream", () => {
  let streaming: Trio;
  beforeAll(async () => {
    const protocols = { a: "responses", b: "messages" } as const;
    streaming = await startTrio({ prices: { a: 1, b: 2, c: 3 }, protocols, models: 4 });
  });
  afterAll(() => streaming.close());

  const response = { id: "resp_1", object: "response", created_at: 1, output: [] };
  const failed = (code: string | undefined, message: string): Answer =>
    sse(
      [
        { type: "response.created", response },
        {
          type: "response.failed",
          response: { ...response, status: "failed", error: { code, message } },
        },
      ]
        .map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
        .join(""),
    );
  const broken = (message: string): Answer =>
    sse(
      `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } })}\n\n`,
    );
  const signature = "messages.1.content.0: Invalid `signature` in `thinking` block";

  it.each([
    [
      "acme/talk-1",
      failed("invalid_encrypted_content", "The encrypted content could not be verified."),
    ],
    [
      "acme/talk-2",
      failed(undefined, "Encrypted function output content could not be decrypted or decoded."),
    ],
    // Another gateway of this kind, whose own providers all refuse it.
    ["acme/talk-4", failed("upstream_rejected", error.message)],
  ])("T43: stays in use, and the next provider answers (%s)", async (model, refusal) => {
    streaming.up.a.answer(refusal);
    for (let calls = 0; calls < 8; calls += 1) {
      const answer = await streaming.call({ model: `${model}:@price`, stream: true });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    expect(takeRequestCounts(streaming)).toEqual({ a: 8, b: 8, c: 0 });
  });

  it("T43: leaves the vendor's words to the caller if no provider accepts it", async () => {
    const { a, b, c } = streaming.up;
    a.answer(failed("invalid_encrypted_content", error.message));
    b.answer(broken(signature));
    c.answer(refusing);
    const all = await streaming.call({ model: "acme/talk-3:@price", stream: true });
    expect(all.status).toBe(400);
    expect(await all.json()).toMatchObject({ error: { message: error.message } });
    expect(takeRequestCounts(streaming)).toEqual({ a: 1, b: 1, c: 1 });
    const one = await streaming.call({ model: "acme/talk-3:b", stream: true });
    expect(one.status).toBe(400);
    expect(await one.json()).toMatchObject({ error: { message: signature } });
  });
});
