/** Vendors whose answers are compressed, or begin with a byte order mark: answered and charged like any other. T14, T17. */
import { brotliCompressSync, createGzip, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Answer } from "../support/recorder.ts";
import { answerText, eachProtocol } from "./protocols.ts";
import {
  answering,
  costAtFirstNano,
  protocolOf,
  readEvents,
  startWorld,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const encoders: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: (text) => gzipSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
};

/** Answers in the protocol, with a content encoding. */
const encodedAnswer =
  (coding: string, streamed: boolean, mark = ""): Answer =>
  (request, upstream) => {
    const protocol = protocolOf(request.path);
    const text = mark + (streamed ? protocol.frames.join("") : JSON.stringify(protocol.whole()));
    const type = streamed ? "text/event-stream" : "application/json";
    const encode = encoders[coding];
    upstream.writeHead(200, {
      "content-type": type,
      ...(encode ? { "content-encoding": coding } : undefined),
    });
    upstream.end(encode ? encode(text) : text);
  };

describe.each(eachProtocol)("an answer (%s)", (_name, protocol) => {
  it.each([
    ["gzip", ""],
    ["br", ""],
    ["zstd", ""],
    ["identity", "\ufeff"],
    ["gzip", "\ufeff"],
  ])("in %s, after %j, is delivered and charged, whole and streamed", async (coding, mark) => {
    world.answer(encodedAnswer(coding, false, mark));
    const before = await world.charged();
    const model = `${protocol.model}:first`;
    const whole = await world.call(protocol, { model });
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-encoding")).toBeNull();
    expect(protocol.textOf((await whole.json()) as never)).toBe(answerText);
    expect((await world.charged()) - before).toBe(costAtFirstNano);
    world.answer(encodedAnswer(coding, true, mark));
    const events = await readEvents(await world.call(protocol, { model, stream: true }));
    expect(protocol.textOfFrames(events)).toBe(answerText);
    expect(protocol.endsNormally(events)).toBe(true);
    expect((await world.charged()) - before).toBe(2n * costAtFirstNano);
    expect(world.second.requests).toHaveLength(0);
    // The gateway did not ask for compression, because a compressor may delay events.
    expect(world.first.requests.map(({ headers }) => headers["accept-encoding"])).toEqual([
      undefined,
    ]);
  });

  it("reaches the caller before its end if it streams through gzip (T17)", async () => {
    const compressor = createGzip();
    let send = (_frame: string): void => undefined;
    world.answer((_request, upstream) => {
      upstream.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      compressor.pipe(upstream);
      send = (frame) => {
        compressor.write(frame);
        compressor.flush(constants.Z_SYNC_FLUSH);
      };
      send(protocol.frames[0]!);
      send(protocol.frames[1]!);
    });
    const answer = await world.call(protocol, { stream: true });
    const reader = answer.body!.getReader();
    let received = "";
    while (!received.includes("data:")) {
      const { value = new Uint8Array() } = await reader.read();
      received += Buffer.from(value).toString();
    }
    for (const frame of protocol.frames.slice(2)) send(frame);
    compressor.end();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      received += Buffer.from(part.value).toString();
    expect(received.length).toBeGreaterThan(100);
    expect((await world.row(answer)).status).toBe("succeeded");
  });

  it("in an unknown content encoding is a failure of the provider, and the attempt names the encoding", async () => {
    const unknown: Answer = (_request, upstream) =>
      void upstream.writeHead(200, { "content-encoding": "rot13" }).end("{}");
    world.first.answer(unknown);
    const answer = await world.call(protocol, { model: `${protocol.model}:@price` });
    expect(answer.status).toBe(200);
    await answer.text();
    const { attempts } = await world.row(answer);
    expect(attempts).toMatchObject([
      { provider: "first", status: 200, outcome: "unreadable" },
      { provider: "second", status: 200, outcome: "ok" },
    ]);
    expect(JSON.stringify(attempts)).toContain("rot13");
  });
});
