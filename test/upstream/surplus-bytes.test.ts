/**
 * Bytes after an answer, on reused connections. After the first such bytes, neither client reuses connections of that origin.
 * Bytes within the first moments never reach another call.
 */
import { describe, expect, it } from "vitest";
import { silentLog, type Log } from "../../src/base/log.ts";
import { ask, type Pools } from "../../src/upstream/index.ts";
import { IdleList } from "../../src/upstream/idle-list.ts";
import { Suspects, suspicionMs } from "../../src/upstream/surplus.ts";
import {
  asker,
  sleep,
  startLateSender,
  startRaw,
  resultOf,
  until,
  usePools,
  type RawUpstream,
} from "./http1-support.ts";
import { provider } from "./media-support.ts";

const ok = (body = "hello"): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const chunked = (body = "hello"): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const connectionsOf = ({ requests }: RawUpstream) => requests.map(({ connection }) => connection);

/** A log that collects its warnings. */
function collectingLog() {
  const warnings: object[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
  return { log, warnings };
}

type Client = (pools: Pools, url: string) => Promise<string>;

const clients: readonly (readonly [string, Client])[] = [
  ["text", async (pools, url) => (await resultOf(asker(url, pools)())).body ?? "none"],
  [
    "media",
    async (pools, url) => {
      const request = { method: "POST", path: "/x", headers: {}, body: "{}" } as const;
      const answer = await ask(pools.forMedia(url, 1_000), provider("openai", url), request);
      return answer.body.toString();
    },
  ],
];

/** Bytes after an answer, and their delay in ms. */
const surpluses: readonly (readonly [string, (text: string) => string, number | undefined])[] = [
  ["a second answer in the same packet", (text) => text + ok("surplus"), undefined],
  ["a second answer at once", () => ok("surplus"), 0],
  ["a second answer 20 ms later", () => ok("surplus"), 20],
  ["bytes that are not HTTP, 20 ms later", () => "garbage\r\n", 20],
  ["bytes that are not HTTP in the same packet", (text) => `${text}\0\0`, undefined],
];

describe.each(clients)("the client for %s", (_name, call) => {
  it.each(surpluses)(
    "delivers %s to no call, and does not reuse the connection",
    async (_, more, ms) => {
      const checkSurplus = async (text: string): Promise<void> => {
        const upstream = await startRaw((socket) => {
          if (ms === undefined) return void socket.write(more(text), "latin1");
          socket.write(text);
          setTimeout(() => socket.write(more(text), "latin1"), ms);
        });
        const { log, warnings } = collectingLog();
        const pools = usePools({ log });
        // Each call starts directly after the last answer: a reused connection would deliver the surplus.
        for (let calls = 0; calls < 5; calls += 1)
          expect(await call(pools, upstream.url)).toBe("hello");
        await until(() => warnings.length > 0);
        upstream.answer((socket) => void socket.write(ok()));
        const before = upstream.requests.length;
        for (let calls = 0; calls < 3; calls += 1) {
          expect(await call(pools, upstream.url)).toBe("hello");
          await sleep(150);
        }
        expect(new Set(connectionsOf(upstream).slice(before)).size).toBe(3);
        expect(warnings).toEqual([{ origin: upstream.url, seconds: 600 }]);
        await until(() => upstream.sockets.every((socket) => socket.destroyed));
      };
      await Promise.all([ok(), chunked()].map(checkSurplus));
    },
  );

  it.each([
    ["bytes", ok("surplus")],
    ["a close", ""],
  ])(
    "reads %s that came while the process was busy before it reuses a connection",
    async (_what, after) => {
      const upstream = await startLateSender(ok(), after);
      const pools = usePools();
      for (let times = 0; times < 3; times += 1) {
        expect(await call(pools, upstream.url)).toBe("hello");
        upstream.block();
      }
    },
  );

  it("reuses a connection that has been quiet", async () => {
    const upstream = await startRaw((socket) => void socket.write(ok()));
    const pools = usePools({});
    expect(await call(pools, upstream.url)).toBe("hello");
    expect(await call(pools, upstream.url)).toBe("hello");
    await sleep(150);
    expect(await call(pools, upstream.url)).toBe("hello");
    expect(connectionsOf(upstream)).toEqual([0, 1, expect.any(Number)]);
    expect(upstream.sockets).toHaveLength(2);
  });
});

it("surplus bytes close the idle connections of both clients and of all timeouts", async () => {
  const upstream = await startRaw((socket) => void socket.write(ok()));
  const { log, warnings } = collectingLog();
  const pools = usePools({ log });
  await clients[1]![1](pools, upstream.url);
  await resultOf(asker(upstream.url, { ...pools, get: (origin) => pools.get(origin, 1_234) })());
  upstream.answer((socket) => void socket.write(ok() + ok("surplus")));
  await resultOf(asker(upstream.url, pools)());
  await until(() => upstream.sockets.every((socket) => socket.destroyed));
  expect(upstream.sockets).toHaveLength(3);
  expect(warnings).toHaveLength(1);
});

it("an origin is suspected for ten minutes after its last surplus, and warned about once in ten minutes", () => {
  const { log, warnings } = collectingLog();
  let nowMs = 5;
  const suspects = new Suspects(log, () => nowMs);
  expect(suspects.has("http://a")).toBe(false);
  suspects.add("http://a");
  nowMs += suspicionMs - 1;
  expect([suspects.has("http://a"), suspects.has("http://b")]).toEqual([true, false]);
  suspects.add("http://a");
  expect(warnings).toHaveLength(1);
  nowMs += suspicionMs - 1;
  expect(suspects.has("http://a")).toBe(true);
  suspects.add("http://a");
  expect(warnings).toHaveLength(2);
  nowMs += suspicionMs;
  expect(suspects.has("http://a")).toBe(false);
});

it("the oldest of many waiting connections is taken, and the others go on waiting", () => {
  const list = new IdleList<number>(100);
  for (let item = 0; item < 256; item += 1) list.release(item, 1_000 + item / 1_000);
  expect(list.take(1_010)).toBe(0);
  expect(list.take(1_010)).toBeUndefined();
  list.remove(255);
  expect(list.take(1_200)).toBe(254);
  expect(list.clear()).toHaveLength(253);
  expect(list.take(9_999)).toBeUndefined();
});
