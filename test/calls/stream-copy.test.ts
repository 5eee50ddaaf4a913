/** The texts and frames of a call that are kept: bounded by their own size, and by the budget of bodies in flight. */
import { expect, it, onTestFinished } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import { Keeper } from "../../src/calls/keep.ts";
import { OpeningFrames } from "../../src/calls/opening-frames.ts";
import type { Reply } from "../../src/calls/reply.ts";
import { CachedCall } from "../../src/calls/response-cache.ts";
import { heldBytes } from "../support/held-bytes.ts";

const reply = { write: () => true } as unknown as Reply;
const frame = { data: "x".repeat(1_000) };

/** Keeps `frames` frames of a stream within the budget, and the request. */
function keep(frames: number, budget: ByteBudget, request = Buffer.from("{}")) {
  const lease = budget.lease();
  const body = { source: { bytes: request } };
  const caller = { keepBodies: "all" };
  const call = { id: "req_1", protocol: "chat", body, caller, lease };
  const keeper = new Keeper(call as unknown as ConstructorParameters<typeof Keeper>[0], reply);
  for (let count = 0; count < frames; count += 1) keeper.write([frame]);
  const { answer, truncated } = keeper.bodies({ status: "succeeded" } as never)!;
  return { length: answer!.length, truncated, lease };
}

it("the events of a stream are kept up to 256 KiB, and count in the budget as they grow", () => {
  const budget = new ByteBudget(1e9);
  const { length, truncated, lease } = keep(100, budget);
  expect([length, truncated]).toEqual([100 * 1_008, []]);
  expect(budget.heldBytes).toBe(length);
  lease.release();
  expect(budget.heldBytes).toBe(0);
  const long = keep(1_000, budget);
  expect([long.length, long.truncated]).toEqual([256 * 1024, ["answer"]]);
});

it("the kept copy is cut if bodies in flight leave no room for it, and is listed as truncated", () => {
  const budget = new ByteBudget(50_000);
  const { length, truncated } = keep(100, budget);
  expect([length, truncated]).toEqual([49 * 1_008, ["answer"]]);
  expect(budget.heldBytes).toBe(49 * 1_008);
});

it("a long request is cut without a copy of all of it, which would block other calls", () => {
  const request = Buffer.alloc(64 * 2 ** 20, "x");
  const before = process.memoryUsage().arrayBuffers;
  const { truncated } = keep(1, new ByteBudget(1e9), request);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  expect(truncated).toEqual(["request"]);
});

/** The record of a stream for the response cache. */
function recording() {
  const body = { source: { bytes: Buffer.from("{}") }, value: {} };
  const call = { protocol: "chat", body, lease: new ByteBudget(1e9).lease() };
  const ended = { ...reply, ended: true } as Reply;
  return new CachedCall({} as never, {} as never, call as never, ended).reply;
}

function opening() {
  const frames = new OpeningFrames(new ByteBudget(1e9).lease(), () => undefined);
  onTestFinished(() => void frames.end());
  return {
    write: (more: readonly SseEvent[]) => {
      frames.add(more);
      frames.wait();
    },
  };
}

it.each([
  ["that open a stream", opening],
  ["of the response cache", recording],
])("frames %s do not keep the reads in which they came", (_what, keeping) => {
  const parser = createSseParser();
  // Vendors send comments as data too, which reach no caller.
  const chunk = Buffer.from(`data: : ${"x".repeat(60_000)}\n\ndata: {"a":"twenty characters"}\n\n`);
  const before = heldBytes();
  const keeper = keeping();
  const pass = (frames: readonly SseEvent[]): void => {
    keeper.write(frames.filter(({ data }) => !data.startsWith(":")));
  };
  for (let count = 0; count < 500; count += 1) pass(parser.push(chunk));
  // The comments are 30 MB.
  expect(heldBytes() - before).toBeLessThan(5e6);
  pass([]);
});

it("a frame that is kept keeps its name and what follows it", () => {
  const kept = recording();
  const frames = [
    { event: "a long name of an event", data: "x".repeat(20), tail: ": end\n" },
    frame,
  ];
  kept.write(frames);
  expect(kept.kept?.frames).toEqual(frames);
});
