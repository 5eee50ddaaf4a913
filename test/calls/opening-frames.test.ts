/** How long the frames that open a stream wait, and what ends the wait. docs/decisions.md "Opening frames". */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import type { SseEvent } from "../../src/base/sse.ts";
import { relayStream } from "../../src/calls/text-stream.ts";
import type { Reply } from "../../src/calls/reply.ts";
import type { Stoppable } from "../../src/calls/stopping.ts";
import type { StreamTap, WireError } from "../../src/protocols/index.ts";
import { ExchangeError, type Exchange } from "../../src/upstream/index.ts";

type Consumer = Parameters<Exchange["consume"]>[0];

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A stream that has sent one opening frame. */
function opened(frame = "start", budget = new ByteBudget(2_000_000), continues = false) {
  let consumer!: Consumer;
  const sent: string[] = [];
  const stops: { stream: Stoppable | undefined; isSlowed: boolean } = {
    stream: undefined,
    isSlowed: false,
  };
  const seen = {
    isOpening: true,
    continuesAfterDisconnect: continues,
    ended: false,
    characters: 0,
    error: undefined as WireError | undefined,
  };
  const reply = {
    gone: false,
    write: (frames: readonly SseEvent[]) => {
      sent.push(frames.map(({ data }) => data).join());
      return true;
    },
    onDrain: () => undefined,
  };
  const waited: number[] = [];
  const ended = relayStream({
    exchange: {
      consume: (given: Consumer) => void (consumer = given),
      resume: () => undefined,
      abort: () => consumer.fail(new ExchangeError("aborted", "closed")),
    } as Partial<Exchange> as Exchange,
    tap: { seen, push: (event: SseEvent) => [event] } as unknown as StreamTap,
    reply: reply as unknown as Reply,
    lease: budget.lease(),
    onFirstFrame: (waitedMs) => void waited.push(waitedMs),
    stops,
  });
  const outcome = ended.then(
    ({ kind }) => kind,
    (error: Error) => error.message,
  );
  const send = (text: string) => consumer.data(Buffer.from(`data: ${text}\n\n`));
  send(frame);
  return {
    sent,
    seen,
    reply,
    send,
    outcome,
    waited,
    end: () => consumer.end(),
    fail: () => consumer.fail(new ExchangeError("broken", "cut")),
    leave: () => consumer.fail(new ExchangeError("aborted", "left")),
    stop: () => stops.stream!.stop(true),
  };
}

it("opening frames leave in one write with the first frame that says something, and later ones at once", async () => {
  const { sent, seen, send, end, outcome, waited } = opened();
  send("ping");
  expect([sent, waited]).toEqual([[], []]);
  vi.advanceTimersByTime(700);
  seen.isOpening = false;
  send("text");
  expect([sent, waited]).toEqual([["start,ping,text"], [700]]);
  expect(vi.getTimerCount()).toBe(0);
  send("more");
  expect([sent, waited]).toEqual([["start,ping,text", "more"], [700]]);
  seen.ended = true;
  end();
  expect(await outcome).toBe("complete");
});

it("T88: opening frames leave after ten seconds, before a keep-alive; then an error is reported in the stream", async () => {
  const { sent, send, fail, outcome, waited } = opened();
  vi.advanceTimersByTime(6_000);
  // A later frame does not prolong the wait.
  send("ping");
  vi.advanceTimersByTime(3_999);
  expect([sent, waited]).toEqual([[], []]);
  vi.advanceTimersByTime(1);
  expect([sent, waited]).toEqual([["start,ping"], [10_000]]);
  send("ping");
  expect(sent).toEqual(["start,ping", "ping"]);
  fail();
  expect(await outcome).toBe("broken");
});

it("opening frames leave once they are more than half a megabyte", async () => {
  const { sent, send, fail, outcome } = opened("x".repeat(524_288));
  expect(sent).toEqual([]);
  send("y");
  expect(sent).toHaveLength(1);
  fail();
  expect(await outcome).toBe("broken");
});

it.each([
  ["by their names too", `a\nevent: ${"x".repeat(300_000)}`, 2],
  ["tiny ones as 64 characters", "a", 524_288 / 64],
])("opening frames count %s", async (_name, frame, held) => {
  const { sent, send, fail, outcome } = opened();
  for (let count = 2; count <= held; count += 1) send(frame);
  expect(sent.length).toBe(0);
  send(frame);
  expect(sent.length).toBe(1);
  fail();
  expect(await outcome).toBe("broken");
});

it("opening frames count in the budget of bodies while they wait, and leave at once if they have no room", async () => {
  const budget = new ByteBudget(50_000);
  const first = opened("x".repeat(30_000), budget);
  expect([first.sent, budget.heldBytes]).toEqual([[], 30_000]);
  first.send("y".repeat(10_000));
  expect([first.sent, budget.heldBytes]).toEqual([[], 40_000]);
  const second = opened("z".repeat(20_000), budget);
  expect([second.sent.length, budget.heldBytes]).toEqual([1, 40_000]);
  first.fail();
  expect(await first.outcome).toBe("cut");
  expect(budget.heldBytes).toBe(0);
  const third = opened("z".repeat(20_000), budget);
  expect([third.sent, budget.heldBytes]).toEqual([[], 20_000]);
  third.seen.isOpening = false;
  third.send("text");
  expect([third.sent.length, budget.heldBytes]).toEqual([1, 0]);
  for (const one of [second, third]) {
    one.fail();
    expect(await one.outcome).toBe("broken");
  }
});

it("opening frames of a background response leave at once: its caller needs the id, and its vendor goes on after a break", async () => {
  const { sent, fail, outcome } = opened("start", undefined, true);
  expect(sent).toEqual(["start"]);
  fail();
  expect(await outcome).toBe("broken");
});

it("an error while opening frames wait leaves the call to another provider", async () => {
  const { sent, fail, outcome, waited } = opened();
  vi.advanceTimersByTime(9_999);
  fail();
  expect(await outcome).toBe("cut");
  expect([sent, waited, vi.getTimerCount()]).toEqual([[], [], 0]);
});

it("an error that comes with an end is no end", async () => {
  const { sent, seen, send, outcome } = opened();
  seen.ended = true;
  seen.error = { message: "Failed." };
  send("failed");
  expect(await outcome).toContain("Failed.");
  expect(sent).toEqual([]);
});

it("an end without content releases the opening frames", async () => {
  const { sent, seen, send, end, outcome } = opened();
  seen.ended = true;
  send("end");
  expect(sent).toEqual(["start,end"]);
  end();
  expect(await outcome).toBe("complete");
});

it("T62: a client that leaves while opening frames wait has begun to cost, as its vendor has", async () => {
  const { reply, leave, outcome, waited } = opened();
  reply.gone = true;
  leave();
  expect(await outcome).toBe("client_gone");
  expect([waited, vi.getTimerCount()]).toEqual([[], 0]);
});

it("T62: a stream that is drained for a client that left is read to its end", async () => {
  const { sent, reply, seen, send, end, outcome } = opened();
  reply.gone = true;
  vi.advanceTimersByTime(10_000);
  seen.ended = true;
  send("end");
  end();
  expect(await outcome).toBe("complete");
  expect(sent).toEqual([]);
});

it("a stopping gateway takes a stream whose opening frames wait for one that has not begun", async () => {
  const { sent, stop, leave, outcome } = opened();
  stop();
  leave();
  expect(await outcome).toBe("left");
  expect(sent).toEqual([]);
});
