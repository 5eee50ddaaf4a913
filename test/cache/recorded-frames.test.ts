/** The size in the budget of bodies of a stream's frames while they are recorded for the cache. */
import { expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import type { SseEvent } from "../../src/base/sse.ts";
import type { CacheServices } from "../../src/calls/cached-answers.ts";
import type { AnyCall } from "../../src/calls/context.ts";
import type { Reply } from "../../src/calls/reply.ts";
import { cacheOf } from "../../src/calls/response-cache.ts";

/** The reply of a call whose answer may be cached. */
function recording() {
  const lease = new ByteBudget(10_000_000).lease();
  const call = {
    caller: { responseCache: { ttlSeconds: 60, chargePercent: 100 } },
    protocol: "responses",
    body: { source: { bytes: Buffer.from("{}") }, value: {} },
    lease,
  } as unknown as AnyCall;
  const inner = { write: () => true, end: () => undefined, ended: true } as unknown as Reply;
  const { reply } = cacheOf({} as CacheServices, call, inner)!;
  const write = (frame: SseEvent, count: number) =>
    reply.write(Array.from({ length: count }, () => frame));
  return { lease, reply, write };
}

it("frames count with their names, and a tiny one as 64 bytes", () => {
  const { lease, reply, write } = recording();
  write({ event: "x".repeat(300_000), data: "ä" }, 2);
  expect(lease.bytes).toBe(600_004);
  write({ data: "1" }, 100);
  expect(lease.bytes).toBe(606_404);
  expect(reply.kept?.frames).toHaveLength(102);
});

it("a stream of more than a megabyte with the names is not kept, and gives its room back", () => {
  const { lease, reply, write } = recording();
  write({ event: "x".repeat(300_000), data: "{}" }, 4);
  expect([lease.bytes, reply.kept]).toEqual([0, undefined]);
});
