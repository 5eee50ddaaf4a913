/** A rate limit, or an account without money, that a vendor reports after its answer has begun with 200. docs/routing.md. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json, sse, type Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { takeRequestCounts, names, startTrio, type Trio } from "./support.ts";

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({
    prices: { a: 1, b: 2, c: 3 },
    protocols: { a: "messages", b: "responses" },
    twoKeys: true,
    models: 5,
  });
});
afterAll(() => trio.close());
beforeEach(() => {
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

const broken = (type: string): Answer =>
  sse(
    `event: error\ndata: ${JSON.stringify({ type: "error", error: { type, message: "throttlingException: Too many tokens" } })}\n\n`,
  );

it("a rate limit before the first word leads to the next key, then to the next provider", async () => {
  trio.up.a.answer(broken("rate_limit_error"));
  const answer = await trio.call({ model: "acme/talk-1:@price", stream: true });
  expect(answer.status).toBe(200);
  await answer.text();
  const { attempts } = await trio.row(answer);
  expect(attempts.map(({ provider }) => provider)).toEqual(["a", "a", "b"]);
  expect(new Set(attempts.slice(0, 2).map(({ credential }) => credential)).size).toBe(2);
});

it("if every provider reports a rate limit in its answer, the caller gets 429 with Retry-After", async () => {
  trio.up.a.answer(broken("rate_limit_error"));
  trio.up.b.answer(
    json({ status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." } }),
  );
  // Like OpenRouter: the status as a number.
  trio.up.c.answer(json({ error: { code: 429, message: "Provider returned error" } }));
  const answer = await trio.call({ model: "acme/talk-2:@price", stream: true });
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await answer.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
});

it("an empty account reported in the stream pauses its key, and does not count against the provider", async () => {
  trio.up.a.answer(broken("billing_error"));
  const answer = await trio.call({ model: "acme/talk-3:@price", stream: true });
  expect(answer.status).toBe(200);
  await answer.text();
  const { attempts } = await trio.row(answer);
  expect(attempts.map(({ provider }) => provider)).toEqual(["a", "a", "b"]);
  trio.up.a.answer(answering);
  const next = await trio.call({ model: "acme/talk-4:@price" });
  await next.text();
  expect((await trio.row(next)).attempts.map(({ provider }) => provider)).toEqual(["b"]);
});

it("a rate limit given only by its type, in a converted chat stream, gets 429 too", async () => {
  const error = { type: "rate_limit_error", message: "Slow down." };
  trio.up.c.answer(sse(`data: ${JSON.stringify({ error })}\n\n`));
  const answer = await trio.gateway.post("/v1/messages", {
    model: "acme/talk-5:c",
    max_tokens: 10,
    stream: true,
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(answer.status).toBe(429);
});
