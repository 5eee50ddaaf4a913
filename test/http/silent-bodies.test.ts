/** Bodies whose client stops sending: the gateway drops them when other requests need their memory. ERR, LIM. */
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import type { GatewayError } from "../../src/base/errors.ts";
import { readBytes } from "../../src/http/bodies/receive-body.ts";
import type { BodyStream } from "../../src/http/exchange.ts";

const kilobyte = 1_024;
const budgetBytes = 1_000 * kilobyte;
const bodyBytes = 600 * kilobyte;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

class Sent extends EventEmitter implements BodyStream {
  readableEnded = false;
  destroyed = false;
  readonly socket = {};
  pause = () => this;
  resume = () => this;
}

/** Begins to read an announced body. `ended` returns the result of the read. */
function begin(budget: ByteBudget, sent = new Sent()) {
  const lease = budget.lease();
  const head = {
    headers: { "content-type": "application/json", "content-length": `${bodyBytes}` },
  };
  let ended = "under way";
  const read = async () => {
    try {
      await readBytes(head, sent, { limit: { bytesMax: bodyBytes }, lease });
      ended = "read";
    } catch (error) {
      ended = (error as GatewayError).code;
    } finally {
      if (ended !== "read") lease.release();
    }
  };
  void read();
  return {
    ended: () => ended,
    send: (kilobytes: number) => sent.emit("data", Buffer.alloc(kilobytes * kilobyte)),
    end: () => sent.emit("end"),
    lease,
  };
}

it("a body without new bytes for ten seconds is dropped when another request needs its memory", async () => {
  const budget = new ByteBudget(budgetBytes);
  const silent = begin(budget);
  silent.send(500);
  vi.advanceTimersByTime(9_000);
  const early = begin(budget);
  await expect.poll(early.ended).toBe("overloaded");
  expect(silent.ended()).toBe("under way");
  vi.advanceTimersByTime(2_000);
  const next = begin(budget);
  next.send(600);
  next.end();
  await expect.poll(next.ended).toBe("read");
  await expect.poll(silent.ended).toBe("request_timeout");
  // Later bytes of it are ignored.
  silent.send(50);
  expect(budget.heldBytes).toBe(bodyBytes);
});

it("a body is kept if there is room, if bytes arrived lately, and once it is complete", async () => {
  const budget = new ByteBudget(budgetBytes);
  const slow = begin(budget);
  slow.send(300);
  vi.advanceTimersByTime(9_000);
  slow.send(10);
  vi.advanceTimersByTime(9_000);
  const small = budget.lease();
  small.take(100 * kilobyte);
  await expect.poll(begin(budget).ended).toBe("overloaded");
  slow.send(290);
  slow.end();
  await expect.poll(slow.ended).toBe("read");
  vi.advanceTimersByTime(60_000);
  await expect.poll(begin(budget).ended).toBe("overloaded");
  expect(budget.heldBytes).toBe(700 * kilobyte);
});

it("a body that trickles in byte by byte is dropped when another request needs its memory", async () => {
  const budget = new ByteBudget(budgetBytes);
  const [trickling, slow] = [begin(budget), begin(budget)];
  trickling.send(500);
  for (let seconds = 0; seconds < 20; seconds += 1) {
    vi.advanceTimersByTime(1_000);
    trickling.send(1 / kilobyte);
    slow.send(2);
  }
  const next = begin(budget);
  next.send(400);
  next.end();
  await expect.poll(next.ended).toBe("read");
  await expect.poll(trickling.ended).toBe("request_timeout");
  expect(slow.ended()).toBe("under way");
});

it("only as many silent bodies are dropped as other requests need room", async () => {
  const budget = new ByteBudget(budgetBytes);
  const [first, second] = [begin(budget), begin(budget)];
  first.send(10);
  second.send(300);
  first.send(10);
  vi.advanceTimersByTime(11_000);
  const next = begin(budget);
  next.send(400);
  await expect.poll(second.ended).toBe("request_timeout");
  expect([first.ended(), next.ended()]).toEqual(["under way", "under way"]);
});

it("a body whose client left before it was read is refused at once", async () => {
  const gone = new Sent();
  gone.destroyed = true;
  await expect.poll(begin(new ByteBudget(budgetBytes), gone).ended).toBe("malformed_request");
});
