// A stream that ends too early: whether the vendor or the client, which had held it back, is the cause. T62.
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { relayStream, type StreamEnd } from "../../src/calls/text-stream.ts";
import type { Reply } from "../../src/calls/reply.ts";
import type { Stoppable } from "../../src/calls/stopping.ts";
import type { SseEvent } from "../../src/base/sse.ts";
import type { StreamTap } from "../../src/protocols/index.ts";
import { ExchangeError, type Exchange } from "../../src/upstream/index.ts";

type Consumer = Parameters<Exchange["consume"]>[0];

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A stream with one frame sent, which its client did not read at once. */
function held(budget = new ByteBudget(1)) {
  let consumer!: Consumer;
  let drain!: () => void;
  const stops: { stream: Stoppable | undefined; isSlowed: boolean } = {
    stream: undefined,
    isSlowed: false,
  };
  let flows = true;
  const exchange = {
    consume: (given: Consumer) => void (consumer = given),
    pause: () => void (flows = false),
    resume: () => void (flows = true),
    abort: () => undefined,
  } as Partial<Exchange> as Exchange;
  const seen = { text: "Hello", ended: false };
  const tap = { seen, push: (event: SseEvent) => [event] } as unknown as StreamTap;
  const reply = {
    gone: false,
    takes: false,
    write: () => reply.takes,
    onDrain: (handler: () => void) => void (drain = handler),
  };
  const options = {
    exchange,
    tap,
    reply: reply as unknown as Reply,
    lease: budget.lease(),
    onFirstFrame: () => undefined,
    stops,
  };
  const ended: Promise<StreamEnd> = relayStream(options);
  let isOver = false;
  void ended.then(() => (isOver = true));
  const send = () => consumer.data(Buffer.from("data: {}\n\n"));
  send();
  expect(flows).toBe(false);
  const settled = async () => {
    await Promise.resolve();
    return isOver;
  };
  return {
    ended,
    reply,
    seen,
    send,
    settled,
    drain: () => drain(),
    consumer: () => consumer,
    stop: () => stops.stream?.stop(true),
    isSlowed: () => stops.isSlowed,
  };
}

const broken = () => new ExchangeError("broken", "the connection to the upstream broke");
const kindOf = async (ended: Promise<StreamEnd>) => (await ended).kind;

it.each([
  { when: "after it was held back for long", heldMs: 10_000, isRead: true, kind: "ended_here" },
  { when: "after it was held back for a moment", heldMs: 9_999, isRead: true, kind: "broken" },
  { when: "while it is held back for long", heldMs: 10_000, isRead: false, kind: "ended_here" },
  // For example a vendor that sends much at once, and closes.
  { when: "while it is held back for a moment", heldMs: 5, isRead: false, kind: "broken" },
])(
  "BILL-21, BILL-22: a stream that breaks $when has the right cause",
  async ({ heldMs, isRead, kind }) => {
    const { ended, drain, consumer } = held();
    vi.advanceTimersByTime(heldMs);
    if (isRead) drain();
    consumer().fail(broken());
    expect(await kindOf(ended)).toBe(kind);
  },
);

it.each([
  { when: "held back", isRead: false, kind: "ended_here" },
  { when: "read", isRead: true, kind: "broken" },
])(
  "BILL-21, BILL-22: a stream that is $when when its call's time ends has the right cause",
  async ({ isRead, kind }) => {
    const { ended, drain, consumer } = held();
    if (isRead) drain();
    consumer().fail(new ExchangeError("total_timeout", "no complete answer"));
    expect(await kindOf(ended)).toBe(kind);
  },
);

it.each([
  { when: "is held back", isRead: false, kind: "ended_here" },
  { when: "is read", isRead: true, kind: "broken" },
])(
  "BILL-21, BILL-22: an event that stalls while its stream $when gives way with the right cause",
  async ({ isRead, kind }) => {
    const budget = new ByteBudget(65_536);
    const { ended, drain, consumer } = held(budget);
    if (isRead) drain();
    consumer().data(Buffer.from(`data: ${"x".repeat(20_000)}`));
    vi.advanceTimersByTime(10_001);
    budget.lease().take(60_000);
    expect(await kindOf(ended)).toBe(kind);
  },
);

it("BILL-22: several short waits do not add up to a long one", async () => {
  const { ended, drain, send, consumer } = held();
  for (let wait = 0; wait < 3; wait += 1) {
    vi.advanceTimersByTime(6_000);
    drain();
    send();
  }
  drain();
  consumer().fail(broken());
  expect(await kindOf(ended)).toBe("broken");
});

it("BILL-21: a stream that its vendor closes after its client stopped reading for long ended because of the client", async () => {
  const { ended, drain, send, consumer } = held();
  // A frame that arrives meanwhile does not restart the wait.
  vi.advanceTimersByTime(6_000);
  send();
  vi.advanceTimersByTime(6_000);
  drain();
  consumer().end();
  expect(await kindOf(ended)).toBe("ended_here");
});

it("BILL-22: a stream that breaks while it is drained for a client that has left counts against its vendor", async () => {
  const { ended, reply, consumer } = held();
  vi.advanceTimersByTime(60_000);
  reply.gone = true;
  consumer().fail(broken());
  expect(await kindOf(ended)).toBe("broken");
});

it("T47: after an answer's end the gateway reads on while the client is slow, and one second longer", async () => {
  const { ended, reply, seen, send, settled, drain } = held();
  seen.ended = true;
  send();
  vi.advanceTimersByTime(60_000);
  expect(await settled()).toBe(false);
  reply.takes = true;
  drain();
  vi.advanceTimersByTime(900);
  // For example the usage, which was behind the held-back frames.
  send();
  expect(await settled()).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(await kindOf(ended)).toBe("complete");
});

it("T47: usage that arrived during a long turn of the event loop is read before the wait for the close is over", async () => {
  const { seen, send, settled, drain } = held();
  seen.ended = true;
  drain();
  vi.advanceTimersByTime(1_000);
  // The vendor goes on: the end was none.
  seen.ended = false;
  send();
  await setImmediate();
  expect(await settled()).toBe(false);
});

it.each([
  { when: "which is whole", isWhole: true, kind: "complete" },
  { when: "which is not", isWhole: false, kind: "ended_here" },
])("T47 T62: a stopping gateway ends a stream $when", async ({ isWhole, kind }) => {
  const { ended, seen, send, stop } = held();
  seen.ended = isWhole;
  send();
  stop();
  expect(await kindOf(ended)).toBe(kind);
});

it.each([
  { heldMs: 100, isSlowed: true },
  { heldMs: 99, isSlowed: false },
])("a stream that its client held back for $heldMs ms was slowed by it: $isSlowed", async (row) => {
  const { ended, drain, consumer, seen, isSlowed } = held();
  vi.advanceTimersByTime(row.heldMs);
  drain();
  seen.ended = true;
  consumer().end();
  expect(await kindOf(ended)).toBe("complete");
  expect(isSlowed()).toBe(row.isSlowed);
});
