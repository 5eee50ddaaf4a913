/**
 * The unfinished event of a stream counts in the budget of bodies, and is returned at its end. docs/load.md "Bodies and
 * memory".
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import type { SseEvent } from "../../src/base/sse.ts";
import type { Reply } from "../../src/calls/reply.ts";
import { relayStream } from "../../src/calls/text-stream.ts";
import type { StreamTap } from "../../src/protocols/index.ts";
import { ExchangeError, type Exchange } from "../../src/upstream/index.ts";

type BodyConsumer = Parameters<Exchange["consume"]>[0];

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const budgetBytes = 400_000;

/** A relayed stream that has received nothing yet. */
function relayed(budget: ByteBudget) {
  let consumer!: BodyConsumer;
  let isAborted = false;
  const seen = { text: "", ended: false, characters: 0 };
  const ended = relayStream({
    exchange: {
      consume: (given: BodyConsumer) => void (consumer = given),
      resume: () => undefined,
      abort() {
        if (isAborted) return;
        isAborted = true;
        consumer.fail(new ExchangeError("aborted", "the gateway closed the connection"));
      },
    } as Partial<Exchange> as Exchange,
    tap: { seen, push: (event: SseEvent) => [event] } as unknown as StreamTap,
    reply: { gone: false, write: () => true, onDrain: () => undefined } as unknown as Reply,
    lease: budget.lease(),
    onFirstFrame: () => undefined,
    stops: { stream: undefined, isSlowed: false },
  }).catch((error: unknown) => error);
  return {
    ended,
    send: (text: string) => consumer.data(Buffer.from(text)),
    onPartialFrame: (bytes: number) => consumer.onPartialFrame!(bytes),
    end: () => {
      seen.ended = true;
      consumer.end();
    },
    isAborted: () => isAborted,
  };
}

const held = (budget: ByteBudget) => budget.heldBytes;

it("an unfinished event counts in the budget as it grows and is returned at its end; small ones do not count", async () => {
  const budget = new ByteBudget(budgetBytes);
  const { send, ended, end } = relayed(budget);
  send(`data: ${"x".repeat(10_000)}`);
  expect(held(budget)).toBe(0);
  send("x".repeat(90_000));
  // Each piece in which it came costs 64 bytes more.
  expect(held(budget)).toBe(100_006 + 2 * 64);
  send("x".repeat(50_000));
  expect(held(budget)).toBe(150_006 + 3 * 64);
  send("\ndata: second");
  expect(held(budget)).toBe(150_000 + 12 + 64);
  send("\n\n");
  expect(held(budget)).toBe(0);
  send(`data: ${"x".repeat(90_000)}`);
  expect(held(budget)).toBe(90_006 + 64);
  end();
  expect(await ended).toEqual({ kind: "complete" });
  expect(held(budget)).toBe(0);
});

it("bytes that the response's framing holds back count in the budget, too", () => {
  const budget = new ByteBudget(budgetBytes);
  const { onPartialFrame, send } = relayed(budget);
  onPartialFrame(200_000);
  expect(held(budget)).toBe(200_000);
  send("data: {}\n\n");
  onPartialFrame(4);
  expect(held(budget)).toBe(0);
});

it.each([
  ["nothing was sent: the call is refused, and no other provider is asked", ""],
  ["the answer had begun: it ends there, and not by its provider's fault", "data: {}\n\n"],
])("an event that does not fit next to others ends its stream: %s", async (_what, first) => {
  const budget = new ByteBudget(budgetBytes);
  const other = relayed(budget);
  other.send(`data: ${"x".repeat(200_000)}`);
  const { send, ended, isAborted } = relayed(budget);
  if (first !== "") send(first);
  send(`data: ${"x".repeat(190_000)}`);
  expect(isAborted()).toBe(false);
  send("x".repeat(10_000));
  expect(isAborted()).toBe(true);
  const error = expect.objectContaining({ code: "overloaded", retryAfterSeconds: 2 });
  expect(await ended).toEqual(first === "" ? error : { kind: "ended_here", error });
  expect(held(budget)).toBe(200_006 + 64);
});

it("an event that stalls gives way to others after ten seconds, and counts against its provider", async () => {
  const budget = new ByteBudget(budgetBytes);
  const silent = relayed(budget);
  silent.send(`data: ${"x".repeat(200_000)}`);
  const { send, isAborted } = relayed(budget);
  vi.advanceTimersByTime(10_001);
  silent.send("x");
  send(`data: ${"x".repeat(200_000)}`);
  expect([silent.isAborted(), isAborted()]).toEqual([true, false]);
  expect(await silent.ended).toMatchObject({
    name: "BadAnswerError",
    message: "an event of its stream does not come to its end",
  });
  expect(held(budget)).toBe(200_006 + 64);
});
