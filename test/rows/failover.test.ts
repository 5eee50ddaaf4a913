/** Failover on direct routes, only before the first byte. docs/routing.md; T74, T75. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { forced } from "../support/gateway.ts";
import { shareOfRows } from "../support/long.ts";
import { json, sse, type Answer } from "../support/recorder.ts";
import { byPrice, answerText, eachProtocol, parsed, type Protocol } from "./protocols.ts";
import {
  answering,
  costAtSecondNano,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ timeouts: "{ first_byte_s: 0.3, idle_s: 0.5 }" });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

/** Failures of the first provider, with the status and the outcome in the log. */
const failures: readonly (readonly [string, Answer, number | null, string])[] = [
  ["500", json({ error: { message: "boom" } }, 500), 500, "upstream_error"],
  [
    "503 with HTML",
    (_request, upstream) =>
      void upstream.writeHead(503, { "content-type": "text/html" }).end("<h1>down</h1>"),
    503,
    "no_provider_available",
  ],
  [
    "429",
    json({ error: { message: "slow down" } }, 429, { "retry-after": "7" }),
    429,
    "rate_limit_exceeded",
  ],
  ["401 for our credential", json({ error: { message: "bad key" } }, 401), 401, "upstream_error"],
  ["404 for its model", json({ error: { message: "no such model" } }, 404), 404, "upstream_error"],
  [
    "a connection cut before the head",
    (_request, upstream) => void upstream.destroy(),
    null,
    "broken",
  ],
  ["200 with an error body", json({ error: { message: "boom" } }), 200, "bad_answer"],
  [
    "200 without valid JSON",
    (_request, upstream) =>
      void upstream.writeHead(200, { "content-type": "application/json" }).end("{"),
    200,
    "bad_answer",
  ],
];

describe.each(eachProtocol)("a call whose first provider fails (%s)", (name, protocol) => {
  // The short form streams only every second failure. With forced conversion it also runs only every second one whole.
  const place = eachProtocol.findIndex(([one]) => one === name) + (forced ? 1 : 0);
  it.each(forced ? shareOfRows(failures, place) : failures)(
    "%s: the second provider answers, and both attempts are in the log",
    async (_what, failure, status, outcome) => {
      world.first.answer(failure);
      const before = await world.charged();
      const answer = await world.call(protocol, { model: byPrice(protocol) });
      expect(answer.status).toBe(200);
      expect(protocol.textOf((await answer.json()) as never)).toBe(answerText);
      expect((await world.charged()) - before).toBe(costAtSecondNano);
      const row = await world.row(answer);
      expect(row.attempts).toMatchObject([
        { provider: "first", status, outcome },
        { provider: "second", status: 200, outcome: "ok" },
      ]);
      expect(row).toMatchObject({ provider: "second", status: "succeeded", http_status: 200 });
      expect(world.first.requests).toHaveLength(1);
      expect(world.second.requests).toHaveLength(1);
      expect(world.second.requests[0]!.text).toBe(world.first.requests[0]!.text);
    },
  );

  it.each(shareOfRows(failures, place))(
    "%s: the second provider streams",
    async (_what, failure) => {
      world.first.answer(failure);
      const answer = await world.call(protocol, { model: byPrice(protocol), stream: true });
      expect(answer.status).toBe(200);
      const events = await readEvents(answer);
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
    },
  );

  it("fails over to the second provider if a stream ends before its first frame", async () => {
    for (const rest of [
      (upstream: Parameters<Answer>[1]) => void setTimeout(() => upstream.destroy(), 20),
      (upstream: Parameters<Answer>[1]) => void upstream.end(),
    ]) {
      world.answer(answering);
      world.first.answer(stream([": hello\n\n"], rest));
      const events = await readEvents(
        await world.call(protocol, { model: byPrice(protocol), stream: true }),
      );
      expect(protocol.endsNormally(events)).toBe(true);
      expect(world.second.requests).toHaveLength(1);
    }
  });

  it("does not fail over after the first frame: the stream ends with an error", async () => {
    world.first.answer(sse(protocol.frames.slice(0, 2).join("")));
    const answer = await world.call(protocol, { model: byPrice(protocol), stream: true });
    const events = await readEvents(answer);
    expect(protocol.endsWithError(events)).toBe(true);
    expect(world.second.requests).toHaveLength(0);
    expect((await world.row(answer)).attempts).toHaveLength(1);
  });

  it.each([400, 413, 422])(
    "%i is the caller's mistake: no other provider is tried",
    async (status) => {
      world.first.answer(json({ error: { message: "not like this" } }, status));
      for (const streamed of [false, true]) {
        const answer = await world.call(protocol, { model: byPrice(protocol), stream: streamed });
        expect(answer.status).toBe(status);
        expect(await answer.text()).toContain("not like this");
      }
      expect(world.second.requests).toHaveLength(0);
    },
  );

  it("answers 502 without the upstream's message when all fail, and costs nothing", async () => {
    world.answer(json({ error: { message: "sk-proj-secret account 42" } }, 500));
    const before = await world.charged();
    const answer = await world.call(protocol, { model: byPrice(protocol) });
    expect(answer.status).toBe(502);
    const text = await answer.text();
    expect(parsed({ data: text })).toHaveProperty("error");
    // The upstream's message may name the operator's account, so callers must not see it.
    expect(text).not.toContain("secret");
    expect(await world.charged()).toBe(before);
    expect(await world.row(answer)).toMatchObject({ status: "failed", http_status: 502 });
  });

  it("answers 429 with Retry-After when every provider limits its rate", async () => {
    world.answer(json({ error: { message: "slow down" } }, 429, { "retry-after": "7" }));
    const answer = await world.call(protocol, { model: byPrice(protocol) });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("7");
    await answer.text();
  });
});

/** Runs a check for all protocols, whole and streamed, at once, because each waits for a deadline. */
async function eachAtOnce(check: (protocol: Protocol, streamed: boolean) => Promise<void>) {
  const forms = eachProtocol.flatMap(([, protocol]) => [
    [protocol, false] as const,
    [protocol, true] as const,
  ]);
  await Promise.all(forms.map(([protocol, streamed]) => check(protocol, streamed)));
}

describe("a silent provider", () => {
  it.each([
    ["an answer without a head", () => undefined, null, "first_byte_timeout"],
    ["a head without a frame", stream([": hello\n\n"], () => undefined), 200, "idle_timeout"],
  ] as const)("%s: the second provider answers", async (_what, silence, status, outcome) => {
    world.first.answer(silence);
    await eachAtOnce(async (protocol, streamed) => {
      const answer = await world.call(protocol, { model: byPrice(protocol), stream: streamed });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(" done");
      expect((await world.row(answer)).attempts).toMatchObject([
        { provider: "first", status, outcome },
        { provider: "second", status: 200, outcome: "ok" },
      ]);
    });
  });

  it("the call ends with 504 if every provider is silent", async () => {
    world.answer(() => undefined);
    await eachAtOnce(async (protocol, streamed) => {
      const answer = await world.call(protocol, { model: byPrice(protocol), stream: streamed });
      expect(answer.status).toBe(504);
      await answer.text();
    });
  });
});

describe("the attempts of a call", () => {
  it("T75: the caller's key and headers reach no upstream; each attempt has its provider's credential", async () => {
    world.first.answer(json({}, 500));
    for (const [, protocol] of eachProtocol) {
      await (
        await world.call(protocol, {
          model: byPrice(protocol),
          headers: { cookie: "session=1", "x-custom": "1" },
        })
      ).text();
    }
    const all = [...world.first.requests, ...world.second.requests];
    expect(all).toHaveLength(8);
    for (const { headers, path } of all) {
      const serialized = JSON.stringify(headers);
      expect([serialized.includes("first-secret"), serialized.includes("second-secret")]).toEqual([
        headers.host === new URL(world.first.url).host,
        headers.host === new URL(world.second.url).host,
      ]);
      expect(JSON.stringify(headers) + path).not.toContain(world.gateway.key);
      expect(headers).not.toHaveProperty("cookie");
      expect(headers).not.toHaveProperty("x-custom");
    }
  });

  it("a pinned provider that fails is not replaced by another", async () => {
    world.first.answer(json({}, 500));
    for (const [, protocol] of eachProtocol) {
      const answer = await world.call(protocol, { model: `${protocol.model}:first` });
      expect(answer.status).toBe(502);
      await answer.text();
    }
    expect(world.second.requests).toHaveLength(0);
  });
});
