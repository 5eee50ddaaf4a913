/** One request to a media vendor over real sockets: its bytes, the answer, and the known outcome of a failure. */
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  ask,
  AskFailure,
  askForStream,
  createPools,
  type AnswerRoom,
  type AskLimits,
  type MediaAsk,
} from "../../src/upstream/index.ts";
import { heldBytes } from "../support/held-bytes.ts";
import { json, startRecorder, type Answer } from "../support/recorder.ts";
import { eventually } from "../support/patience.ts";
import { provider } from "./media-support.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function askAt(url: string, request: Partial<MediaAsk> = {}, limits: AskLimits = {}) {
  const pools = createPools();
  closers.push(() => pools.close());
  const fullRequest = { method: "POST", path: "/x", headers: {}, body: "{}", ...request } as const;
  return ask(pools.forMedia(url, 20_000), provider("xai", url), fullRequest, {
    totalMs: 60_000,
    ...limits,
  });
}

async function recorder(answer: Answer) {
  const upstream = await startRecorder(answer);
  closers.push(() => upstream.close());
  return upstream;
}

/** Listens on a free port. Returns the base URL. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AskFailure);
  const { failure, sent } = error as AskFailure;
  return `${failure}, ${sent ? "sent" : "not sent"}`;
}

/** An answer room that counts with `onBytes`, and collects the values of `onEnd` in `ended`. */
const roomOf = (onBytes: AnswerRoom["onBytes"], ended: boolean[] = []): AnswerRoom => ({
  bytesMax: Infinity,
  onStart: () => undefined,
  onBytes,
  onEnd: (isWhole) => void ended.push(isWhole),
});

const mebibyte = Buffer.alloc(1024 * 1024, "x");

/** A streamed body of `count` MiB. `onRead` is called before each MiB, and may throw. */
const streamed = (
  count: number,
  onRead: (index: number) => void = () => undefined,
): MediaAsk["body"] => ({
  contentLength: count * mebibyte.length,
  open: () =>
    Readable.from(
      (function* () {
        for (let index = 0; index < count; index += 1) {
          onRead(index);
          yield mebibyte;
        }
      })(),
    ),
});

describe("a request to a media vendor", () => {
  it.each(["GET", "POST", "DELETE"] as const)(
    "is sent as %s, and its answer is read with any status",
    async (method) => {
      const upstream = await recorder(json({ code: "no" }, 418, { "retry-after": "7" }));
      const body = method === "POST" ? '{"a":1}' : undefined;
      const answer = await askAt(upstream.url, {
        method,
        path: "/v1/t/1?x=2",
        headers: { "x-a": "b" },
        body,
      });
      expect(answer.status).toBe(418);
      expect(answer.headers["retry-after"]).toBe("7");
      expect(answer.body.toString()).toBe('{"code":"no"}');
      expect(upstream.requests).toMatchObject([{ method, path: "/v1/t/1?x=2", text: body ?? "" }]);
      expect(upstream.requests[0]!.headers["x-a"]).toBe("b");
    },
  );

  it("with a stream of known length is sent as it is read, without buffering it in memory", async () => {
    let received = 0;
    let ahead = 0;
    let announced: string | undefined;
    const server = createHttpServer((request, response) => {
      announced = request.headers["content-length"];
      request.on("data", (chunk: Buffer) => (received += chunk.length));
      request.on("end", () => response.end("ok"));
    });
    closers.push(() => void server.close());
    const url = await listen(server);
    // Measure the bytes read from the source that have not arrived, because heap size would include garbage.
    const body = streamed(200, (index) => {
      ahead = Math.max(ahead, index * mebibyte.length - received);
    });
    const answer = await askAt(url, { body });
    expect(answer.body.toString()).toBe("ok");
    expect(announced).toBe(String(200 * mebibyte.length));
    expect(received).toBe(200 * mebibyte.length);
    expect(ahead).toBeLessThan(64 * mebibyte.length);
  });

  it("takes memory in proportion to the answer's bytes, even for one-byte chunks", async () => {
    const count = 2_000_000;
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const server = createServer((socket) => {
      socket
        .on("error", () => undefined)
        .once("data", () => {
          socket.write(head);
          socket.write("1\r\nx\r\n".repeat(count));
          closers.push(() => void socket.destroy());
        });
    });
    closers.push(() => void server.close());
    const url = await listen(server);
    let kept = 0;
    const before = heldBytes();
    const asked = askAt(url, {}, { room: roomOf((bytes) => void (kept += bytes)) });
    asked.catch(() => undefined);
    await eventually(() => kept === count, "all of it is read");
    // Stored as separate chunks, they took 200 MB.
    expect(heldBytes() - before).toBeLessThan(60e6);
  });

  it("passes on a refusal that comes before the body was sent", async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(413, { connection: "close" }).end("too much");
    });
    closers.push(() => void server.close());
    const work = askAt(await listen(server), { body: streamed(64) });
    // The vendor may close before its answer is read: then the connection is broken, and the vendor began nothing.
    const outcome = await work.then(
      ({ status }) => `answered ${status}`,
      (error: unknown) => (error as AskFailure).failure,
    );
    expect(["answered 413", "broken"]).toContain(outcome);
  });
});

describe("a counted answer", () => {
  /** A vendor that answers with `bytes` bytes. */
  async function sending(bytes: number): Promise<string> {
    const server = createHttpServer((_request, response) => response.end(Buffer.alloc(bytes, "x")));
    closers.push(() => void server.close());
    return listen(server);
  }

  it("waits for room, and is then read on, while other requests do not wait", async () => {
    const url = await sending(8 * mebibyte.length);
    const ended: boolean[] = [];
    let [kept, meanwhile] = [0, 0];
    let resume: (() => void) | undefined;
    const room = roomOf((bytes) => {
      kept += bytes;
      if (resume !== undefined) meanwhile += bytes;
      if (kept < mebibyte.length || resume !== undefined) return undefined;
      return new Promise<void>((resolve) => (resume = resolve));
    }, ended);
    const asked = askAt(url, {}, { room });
    await eventually(() => resume !== undefined, "it waits");
    // Other requests do not wait.
    expect((await askAt(url)).body.length).toBe(8 * mebibyte.length);
    expect(meanwhile).toBe(0);
    resume!();
    expect((await asked).body.length).toBe(8 * mebibyte.length);
    expect([kept, ended]).toEqual([8 * mebibyte.length, [true]]);
  });

  it("is limited by the shared room, but one of the size of a single picture always passes", async () => {
    const ended: boolean[] = [];
    const room = { ...roomOf(() => undefined, ended), bytesMax: mebibyte.length };
    const long = await sending(50 * mebibyte.length);
    expect(await failureOf(askAt(long, {}, { room }))).toBe("too_large, sent");
    const picture = await sending(47 * mebibyte.length);
    expect((await askAt(picture, {}, { room })).body.length).toBe(47 * mebibyte.length);
    expect(ended).toEqual([false, true]);
  });

  it("can be given up by the code that counts it, as if its vendor fell silent", async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { "content-length": "9" }).write("x");
      closers.push(() => void response.destroy());
    });
    closers.push(() => void server.close());
    let giveUp!: () => void;
    const room = {
      ...roomOf(() => (giveUp(), undefined)),
      onStart: (given: () => void) => (giveUp = given),
    };
    expect(await failureOf(askAt(await listen(server), {}, { room }))).toBe("idle_timeout, sent");
  });
});

describe("a failed request to a media vendor", () => {
  it("was not sent if the connection is refused", async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(askAt(url))).toBe("connect, not sent");
  });

  it("was not sent if it was aborted before", async () => {
    const upstream = await recorder(json({}));
    expect(await failureOf(askAt(upstream.url, {}, { signal: AbortSignal.abort() }))).toBe(
      "aborted, not sent",
    );
    await sleep(50);
    expect(upstream.requests).toEqual([]);
  });

  it("was not sent if its body ended early, because the vendor never had the whole request", async () => {
    const upstream = await recorder(json({}));
    const body = streamed(8, (index) => {
      if (index === 3) throw new Error("the disk is gone");
    });
    expect(await failureOf(askAt(upstream.url, { body }))).toBe("broken, not sent");
    await sleep(50);
    expect(upstream.requests).toEqual([]);
  });

  it("may have been accepted if no answer comes in time", async () => {
    const upstream = await recorder(() => {});
    expect(await failureOf(askAt(upstream.url, {}, { firstByteMs: 50 }))).toBe(
      "first_byte_timeout, sent",
    );
    expect(await failureOf(askAt(upstream.url, {}, { totalMs: 50 }))).toBe("total_timeout, sent");
    expect(await failureOf(askAt(upstream.url, { body: streamed(2) }, { totalMs: 300 }))).toBe(
      "total_timeout, sent",
    );
    expect(upstream.requests.length).toBe(3);
  });

  it("may have been accepted if the connection breaks after the request", async () => {
    const cut = await recorder((_request, response) => void response.destroy());
    expect(await failureOf(askAt(cut.url))).toBe("broken, sent");
    const half = await recorder((_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc", () => response.destroy());
    });
    expect(await failureOf(askAt(half.url))).toBe("broken, sent");
  });

  it("closes the connection at once when it is aborted", async () => {
    const upstream = await recorder(() => {});
    const controller = new AbortController();
    const failure = failureOf(askAt(upstream.url, {}, { signal: controller.signal }));
    while (upstream.requests.length === 0) await sleep(5);
    controller.abort();
    expect(await failure).toBe("aborted, sent");
    while (!upstream.requests[0]!.aborted) await sleep(5);
  });

  it("has limits for silence and for the length of the answer", async () => {
    const silent = await recorder((_request, response) => void response.writeHead(200).write("a"));
    expect(await failureOf(askAt(silent.url, {}, { idleMs: 50 }))).toBe("idle_timeout, sent");
    const endless = await recorder((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x".repeat(1_000)), 1);
      response.on("close", () => clearInterval(timer));
    });
    expect(await failureOf(askAt(endless.url, {}, { bytesMax: 5_000 }))).toBe("too_large, sent");
  });
});

describe("a streamed answer", () => {
  async function askStreamAt(url: string, limits: AskLimits = {}) {
    const pools = createPools();
    closers.push(() => pools.close());
    const request = { method: "POST", path: "/x", headers: {}, body: "{}" } as const;
    return askForStream(pools.forMedia(url, 20_000), provider("openai", url), request, limits);
  }

  /** Starts a vendor that sends events until the client leaves. */
  async function endless() {
    const written = { bytes: 0, closed: false };
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", () => (written.closed = true));
      const write = (): void => {
        while (!written.closed && response.write(mebibyte)) written.bytes += mebibyte.length;
        if (!written.closed) response.once("drain", write);
      };
      write();
    });
    const url = await listen(server);
    closers.push(() => server.closeAllConnections());
    return { url, written };
  }

  it("is delivered as it is sent, and ends with its source", async () => {
    const { url } = await recorder((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("one ");
      setTimeout(() => response.end("two"), 50);
    });
    const answer = await askStreamAt(url);
    if (!("stream" in answer)) throw new Error("it is no stream");
    expect(answer.status).toBe(200);
    expect(Buffer.concat(await answer.stream.toArray()).toString()).toBe("one two");
  });

  it("is read whole if it is not a stream of events", async () => {
    const { url } = await recorder(json({ error: "no" }, 400));
    expect(await askStreamAt(url)).toMatchObject({ status: 400, body: expect.any(Buffer) });
  });

  it("is slowed by a reader that does not read", async () => {
    const { url, written } = await endless();
    const answer = await askStreamAt(url);
    await sleep(300);
    const before = written.bytes;
    await sleep(300);
    expect(written.bytes).toBe(before);
    expect(before).toBeLessThan(32 * mebibyte.length);
    if ("stream" in answer) answer.stream.destroy();
  });

  it("is closed when its reader leaves or its signal aborts", async () => {
    for (const leave of ["reader", "signal"]) {
      const { url, written } = await endless();
      const leaving = new AbortController();
      const answer = await askStreamAt(url, { signal: leaving.signal });
      if (!("stream" in answer)) throw new Error("it is no stream");
      const reading = (async () => {
        for await (const chunk of answer.stream) if (leave === "reader" && chunk) return "read";
        return "ended";
      })();
      if (leave === "signal") leaving.abort();
      const ended = leave === "reader" ? await reading : await failureOf(reading);
      expect(ended).toBe(leave === "reader" ? "read" : "aborted, sent");
      await expect.poll(() => written.closed).toBe(true);
    }
  });

  it("fails if it breaks, falls silent or is too long, and even a late reader gets the error", async () => {
    const cut = await recorder((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("one");
      setTimeout(() => response.destroy(), 30);
    });
    const silent = await recorder((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("one");
    });
    const long = await endless();
    for (const [url, limits, failure] of [
      [cut.url, {}, "broken, sent"],
      [silent.url, { idleMs: 50 }, "idle_timeout, sent"],
      [long.url, { bytesMax: 100_000 }, "too_large, sent"],
    ] as const) {
      const answer = await askStreamAt(url, limits);
      if (!("stream" in answer)) throw new Error("it is no stream");
      await sleep(100);
      expect(await failureOf(answer.stream.toArray())).toBe(failure);
    }
  });
});
