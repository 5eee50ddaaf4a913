/** Previews of a streamed picture: their times, their numbers, and a slow client. IMG-28, EDIT2-26; STREAM-09. */
import { Readable } from "node:stream";
import { beforeAll, expect, it } from "vitest";
import type { SseEvent } from "../../src/base/sse.ts";
import { Backpressure } from "../../src/calls/backpressure.ts";
import type { ImageContext } from "../../src/calls/image-context.ts";
import { sendPreview } from "../../src/calls/image-previews.ts";
import { picture } from "../images/support.ts";
import { recordAt } from "./support.ts";

let base64: string;
beforeAll(async () => {
  base64 = (await picture()).toString("base64");
});

const startedMs = 1_700_000_000_400;

/** A call whose client reads at once, or, if `slow`, only when the test drains it. */
function calling({ slow = false } = {}) {
  const at = { nowMs: startedMs + 250 };
  const sent: SseEvent[] = [];
  const drains: (() => void)[] = [];
  const record = { ...recordAt(startedMs), beganMs: performance.now() - 250 };
  const context = {
    services: { clock: { now: () => at.nowMs } },
    record,
    request: { images: [], quality: "low", size: "auto", format: "png", background: "auto" },
    reply: {
      gone: false,
      write(frames: readonly SseEvent[]) {
        sent.push(...frames);
        return !slow;
      },
      onDrain: (handler: () => void) => void drains.push(handler),
      onGone: (handler: () => void) => void drains.push(handler),
    },
  } as unknown as ImageContext;
  const source = { stream: new Readable({ read: () => undefined }), held: new Backpressure() };
  const send = (index: number) =>
    sendPreview(context, { type: "partial", base64, index, rendered: {} }, source);
  return { at, sent, record, send, drains, source };
}

it("IMG-28: each preview has its number and the second of its sending; the first one sets the time to first token", async () => {
  const { at, sent, record, send } = calling();
  await send(0);
  const firstTokenMs = record.firstTokenMs!;
  at.nowMs += 2_000;
  Object.assign(record, { beganMs: record.beganMs - 2_000 });
  await send(1);
  const events = sent.map(({ event, data }) => ({ event, ...(JSON.parse(data) as object) }));
  expect(events).toMatchObject([
    { event: "image_generation.partial_image", created_at: 1_700_000_000, partial_image_index: 0 },
    { event: "image_generation.partial_image", created_at: 1_700_000_002, partial_image_index: 1 },
  ]);
  expect(firstTokenMs).toBeGreaterThanOrEqual(250);
  expect(record.firstTokenMs).toBe(firstTokenMs);
});

it("STREAM-09: the next preview waits until the client has read the previous one", async () => {
  const { send, drains } = calling({ slow: true });
  let isOver = false;
  const sending = send(0).then(() => (isOver = true));
  await Promise.resolve();
  expect([isOver, drains.length]).toEqual([false, 2]);
  drains[0]!();
  await sending;
  expect(isOver).toBe(true);
});

it("T62: the wait for a slow client ends with the source stream, and the early end is attributed to the client", async () => {
  const { send, source } = calling({ slow: true });
  const sending = send(0);
  source.stream.destroy();
  await sending;
  expect([source.held.causedEarlyEnd(true), source.held.causedEarlyEnd(false)]).toEqual([
    true,
    false,
  ]);
  await send(1);
});
