/** Small rules of the HTTP layer: encodings, answer headers, unneeded uploads, connections that do not read. */
import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { parseTrustedProxies } from "../../src/base/client-address.ts";
import { GatewayError, overloaded } from "../../src/base/errors.ts";
import type { ErrorExplainer } from "../../src/base/load-guard.ts";
import { sseKeepAlive } from "../../src/base/sse.ts";
import { keepAliveTicks, keptOpen } from "../../src/calls/index.ts";
import { passAnswer } from "../../src/http/admin/session-answer.ts";
import { decodeBody, encodingOf } from "../../src/http/bodies/content-encoding.ts";
import { addressOf } from "../../src/http/client-address.ts";
import { admitCall } from "../../src/http/callers/rate-headers.ts";
import { answerFailure } from "../../src/http/errors/failure.ts";
import { errorAnswer } from "../../src/http/errors/reply-error.ts";
import { storePicture } from "../../src/http/forms/picture-upload.ts";
import { limitConnections } from "../../src/http/front/connections.ts";
import { createCors } from "../../src/http/front/cors.ts";
import { CommonLines } from "../../src/http/front/fast/head.ts";
import { readPlainRequest } from "../../src/http/front/fast/request.ts";
import { streamOverheadBytes, UnreadWatch } from "../../src/http/front/unread.ts";
import { submitCreation } from "../../src/http/media/create-task.ts";
import { createTextReply } from "../../src/http/text/reply-stream.ts";
import { matchRoute } from "../../src/http/routes.ts";
import { silentLog } from "../support/postgres.ts";

describe("a body's encoding", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    [" Identity ", undefined],
    ["GZIP", "gzip"],
    ["zstd", "zstd"],
  ])("%s selects the decoder %s", (header, decoder) => expect(encodingOf(header)).toBe(decoder));

  it.each(["deflate", "gzip, br", "constructor"])("%s is refused with 415", (header) => {
    expect(() => encodingOf(header)).toThrow(GatewayError);
  });

  it("bodies that arrive at once are all decoded", async () => {
    const limit = { bytesMax: 1_000, setting: "x" } as unknown as Parameters<
      typeof decodeBody
    >[2]["limit"];
    const budget = new ByteBudget(1_000_000);
    const texts = Array.from({ length: 9 }, (_, index) => `body ${index}`);
    const decoded = await Promise.all(
      texts.map((text) => decodeBody(gzipSync(text), "gzip", { limit, lease: budget.lease() })),
    );
    expect(decoded.map(String)).toEqual(texts);
  });
});

describe("the fast path", () => {
  const requestOf = (headers: number) =>
    Buffer.from(
      `POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${"X-More: 1\r\n".repeat(headers - 2)}\r\n`,
    );

  it("takes a request with 500 headers, and leaves one with more to Node", () => {
    expect(readPlainRequest(requestOf(500))).toBeDefined();
    expect(readPlainRequest(requestOf(501))).toBeUndefined();
  });

  it("announces the idle timeout in whole seconds, if there is one", () => {
    expect(new CommonLines(5_900).at(0, false)).toContain("Keep-Alive: timeout=5\r\n");
    expect(new CommonLines(0).at(0, false)).not.toContain("Keep-Alive:");
    expect(new CommonLines(5_900).at(0, true)).toBe(
      "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: close\r\n",
    );
  });
});

it("CORS is off without an allowed origin", () => {
  expect(createCors([])).toBeUndefined();
  expect(createCors(["https://page.example"])).toBeDefined();
});

it("MSG: only errors in the messages protocol carry the id as `request-id` too", () => {
  const error = new GatewayError("overloaded", "Wait.");
  const names = (style: "messages" | "chat") =>
    Object.keys(errorAnswer({ style, error, requestId: "req_1" }).headers);
  expect(names("messages")).toContain("request-id");
  expect(names("chat")).not.toContain("request-id");
});

it("the client's address may come from several X-Forwarded-For headers", () => {
  const socket = { remoteAddress: "10.0.0.1" };
  const address = (forwarded: string | string[]) =>
    addressOf(
      { headers: { "x-forwarded-for": forwarded }, socket },
      parseTrustedProxies("10.0.0.0/8"),
    );
  expect(address("203.0.113.7, 10.0.0.2")).toBe("203.0.113.7");
  expect(address(["203.0.113.7", "10.0.0.2"])).toBe("203.0.113.7");
});

/** A load check that admits every call. */
const load = { admit: () => undefined };

it("LIM-17: the rest of a rate limit is set as a header unless the head was already sent", () => {
  const rates = {
    admit: (_caller: unknown, say: (headers: object) => void) => say({ "x-left": "1" }),
  };
  const said = (headersSent: boolean) => {
    const headers: string[] = [];
    const response = {
      headersSent,
      setHeader: (name: string) => headers.push(name),
      on: () => undefined,
    };
    const caller = { limits: [{}] };
    void admitCall({ rates, load } as never, response as never, caller as never);
    return headers;
  };
  expect([said(false), said(true)]).toEqual([["x-left"], []]);
});

it.each([true, false])(
  "a call's use of its limits ends with its answer, or at once if the client has left (%s)",
  async (destroyed) => {
    let ended = 0;
    const use = { end: () => void (ended += 1) };
    const response = Object.assign(new EventEmitter(), { destroyed, headersSent: false });
    const rates = { admit: () => Promise.resolve(use) };
    const admitted = admitCall(
      { rates, load } as never,
      response as never,
      { limits: [{}] } as never,
    );
    expect(await admitted).toBe(use);
    expect(ended).toBe(destroyed ? 1 : 0);
    response.emit("close");
    expect(ended).toBe(1);
  },
);

describe("an answer of the sign-in library", () => {
  it("is passed on with its own headers, and no empty ones", async () => {
    const headers: Record<string, unknown> = {};
    const reply = {
      code: () => reply,
      header: (name: string, value: unknown) => ((headers[name] = value), reply),
      send: () => reply,
    } as unknown as FastifyReply;
    await passAnswer(reply, new Response(null, { status: 302, headers: { location: "/" } }));
    expect(headers).toEqual({
      "cache-control": "no-store",
      location: "/",
    });
  });
});

describe("an uploaded picture", () => {
  const limits = { fileBytes: 10_000_000, sidePixels: 100, areaPixels: 1_000 };
  const store = {
    async put({ source }: { source: AsyncIterable<Buffer> }) {
      let bytes = 0;
      for await (const piece of source) bytes += piece.length;
      return { name: "file_1", bytes };
    },
  };
  async function* pieces(...all: Buffer[]) {
    yield* all;
  }
  const upload = (...all: Buffer[]) =>
    storePicture("image", pieces(...all), { store: store as never, limits });
  const png = (width: number, height = 1) => {
    const bytes = Buffer.from(
      "89504e470d0a1a0a0000000d49484452000000000000000108060000001f15c489",
      "hex",
    );
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };

  it("is stored with its size; an empty upload is ignored", async () => {
    expect(await upload(png(7))).toMatchObject({ width: 7, height: 1, bytes: 33 });
    expect(await upload(png(50, 20))).toMatchObject({ width: 50, height: 20 });
    expect(await upload()).toBeUndefined();
  });

  it.each([
    [
      "is not a picture",
      Buffer.from("GIF89a, or anything else that is not asked for"),
      "invalid_image_file",
    ],
    ["ends before its size", png(7).subarray(0, 18), "invalid_image_file"],
    ["is wider than it may be", png(101), "image_too_large"],
    ["has more pixels than it may have", png(50, 21), "image_too_large"],
  ])("is refused if it %s", async (_what, bytes, code) => {
    await expect(upload(bytes)).rejects.toMatchObject({ code });
  });
});

it.each([
  ["queue_full", 1],
  ["database_unavailable", 0],
] as const)(
  "uploads of a task that is refused with %s are removed %s times",
  async (code, times) => {
    let removed = 0;
    const tasks = { submit: () => Promise.reject(new GatewayError(code, "No.")) };
    const request = { caller: {}, headers: {}, raw: { headers: {} } } as unknown as FastifyRequest;
    const uploads = { discard: () => Promise.resolve((removed += 1)) };
    const creation = { model: "m", input: { fields: {} }, uploads };
    await expect(
      submitCreation({ tasks } as never, request, creation as never),
    ).rejects.toMatchObject({ code });
    expect(removed).toBe(times);
  },
);

it("a text reply reports a client's disconnect also to listeners that are added later", () => {
  let written = 0;
  const raw = Object.assign(new EventEmitter(), {
    destroyed: false,
    headersSent: true,
    write: () => (written += 1),
  });
  const reply = createTextReply(raw as never, { headers: {}, jsonArray: false });
  let calls = 0;
  reply.onGone(() => (calls += 1));
  expect(calls).toBe(0);
  const silence = () => {
    for (let ticks = 0; ticks < keepAliveTicks; ticks += 1) reply.keepAlive();
  };
  silence();
  raw.emit("close");
  silence();
  expect(written).toBe(1);
  reply.onGone(() => (calls += 1));
  expect(calls).toBe(2);
});

it("T88: no silence of a stream is longer than the interval of keep-alives, whenever it began", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const sent: (readonly [ms: number, text: string])[] = [];
  const start = Date.now();
  const raw = Object.assign(new EventEmitter(), {
    destroyed: false,
    headersSent: true,
    write: (text: string) => sent.push([Date.now() - start, text]),
  });
  const reply = createTextReply(raw as never, {
    headers: {},
    jsonArray: false,
    protocol: "messages",
  });
  const work = Promise.withResolvers<void>();
  const over = keptOpen({ reply, services: { keepAliveMs: 15_000 } }, () => work.promise);
  await vi.advanceTimersByTimeAsync(14_999);
  // Until then, an error has a status of its own.
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(5_002);
  reply.write([{ data: "{}" }]);
  await vi.advanceTimersByTimeAsync(80_000);
  work.resolve();
  await over;
  expect(vi.getTimerCount()).toBe(0);
  expect(sent.slice(0, 2)).toEqual([
    [15_000, sseKeepAlive],
    [20_001, "data: {}\n\n"],
  ]);
  const times = sent.map(([ms]) => ms);
  const gaps = times.slice(1).map((ms, index) => ms - times[index]!);
  expect(Math.max(...gaps)).toBe(15_000);
});

describe("an error of the framework or a process", () => {
  const answerTo = (thrown: unknown, path = "/v1/tasks", load?: ErrorExplainer) => {
    let status: number | undefined;
    let text = "";
    const response = {
      headersSent: false,
      destroyed: false,
      writeHead: (code: number) => void (status = code),
      end: (body: string) => void (text = body),
    };
    const match = matchRoute("POST", path);
    answerFailure(
      { log: silentLog, ...(load && { load: { ...load, admit: vi.fn(), check: vi.fn() } }) },
      { raw: { headers: {} }, match, id: "req_1", response } as never,
      thrown,
    );
    return { status, code: (JSON.parse(text) as { error: { code: string } }).error.code };
  };
  it.each([
    ["/v1/chat/completions", "overloaded"],
    // The task may have been accepted, so the answer does not say that a retry is free.
    ["/v1/tasks", "database_unavailable"],
  ])("after a delay of the process is answered on %s with %s", (path, code) => {
    const late = { explain: () => overloaded("It was late.") };
    const away = new GatewayError("database_unavailable", "It is away.");
    expect(answerTo(away, path, late)).toEqual({ status: 503, code });
    expect(answerTo(away, path).code).toBe("database_unavailable");
  });

  it.each([
    [400, 400],
    [413, 400],
    [499, 400],
    [500, 500],
    [399, 500],
  ])("with the status %s is answered with %s", (statusCode, status) => {
    expect(answerTo(Object.assign(new Error("No."), { statusCode })).status).toBe(status);
  });
});

describe("connections", () => {
  const socketOf = (remoteAddress: string, more: object = {}) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroyed: false,
      bytesWritten: 0,
      writableLength: 0,
      destroy: () => void (socket.destroyed = true),
      resetAndDestroy: () => void (socket.destroyed = true),
      ...more,
    });
    return socket;
  };

  it("LIM: are limited per address, except for trusted proxies", () => {
    const server = Object.assign(new EventEmitter(), { closeIdleConnections: () => undefined });
    let served = 0;
    server.on("connection", () => (served += 1));
    const rules = {
      totalMax: 20,
      perAddressMax: 2,
      refusedMax: 5,
      unreadMs: 1e9,
      pendingBytesMax: 1e9,
    };
    const trustedProxies = parseTrustedProxies("10.0.0.0/8");
    limitConnections(server as Server, { connections: rules, trustedProxies, log: silentLog });
    const connect = (address: string) => {
      const socket = socketOf(address);
      server.emit("connection", socket);
      return socket;
    };
    const [first] = ["203.0.113.7", "203.0.113.7", "203.0.113.7"].map(connect);
    expect(served).toBe(2);
    first!.emit("close");
    for (const address of ["203.0.113.7", "203.0.113.8", "10.0.0.1", "10.0.0.1", "10.0.0.1"])
      connect(address);
    expect(served).toBe(7);
    server.emit("close");
  });

  it("lose the one with the most queued bytes if all hold too much and several progressed in the same check", () => {
    const watch = new UnreadWatch({
      unreadMs: 100,
      pendingBytesMax: 2 * streamOverheadBytes + 200,
    });
    const closeStalled = (sockets: ReturnType<typeof socketOf>[], nowMs: number) =>
      watch.closeStalled(sockets as unknown as Socket[], nowMs);
    const large = (name: string, handle: { writeQueueSize: number }) =>
      socketOf(name, { writableLength: 100, bytesWritten: 100, _handle: handle });
    const kernel = { writeQueueSize: 90 };
    const read = large("a", kernel);
    expect(closeStalled([read], 0)).toEqual({ late: 0, crowded: 0 });
    kernel.writeQueueSize = 40;
    const come = [large("b", { writeQueueSize: 90 }), large("c", { writeQueueSize: 95 })];
    expect(closeStalled([read, ...come], 50)).toEqual({ late: 0, crowded: 1 });
    expect([read, ...come].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
  });

  it("without progress for `unreadMs` are closed; if all together hold too much, the one that stalled longest is", () => {
    const watch = new UnreadWatch({ unreadMs: 100, pendingBytesMax: 3 * streamOverheadBytes + 50 });
    const closeStalled = (sockets: ReturnType<typeof socketOf>[], nowMs: number) =>
      watch.closeStalled(sockets as unknown as Socket[], nowMs);
    const slow = socketOf("a", { writableLength: 20, bytesWritten: 100 });
    const still = socketOf("b", { writableLength: 20, bytesWritten: 100 });
    expect(closeStalled([slow, still], 0)).toEqual({ late: 0, crowded: 0 });
    // A new write that waits completely is no progress; bytes that the kernel took are.
    still.writableLength += 10;
    still.bytesWritten += 10;
    slow.writableLength -= 10;
    expect(closeStalled([slow, still], 99)).toEqual({ late: 0, crowded: 0 });
    expect(closeStalled([slow, still], 100)).toEqual({ late: 1, crowded: 0 });
    expect([slow.destroyed, still.destroyed]).toEqual([false, true]);
    const crowd = [socketOf("c", { writableLength: 42 }), socketOf("d", { writableLength: 5 })];
    expect(closeStalled([slow, ...crowd], 120)).toEqual({ late: 0, crowded: 1 });
    expect([slow.destroyed, ...crowd.map(({ destroyed }) => destroyed)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
