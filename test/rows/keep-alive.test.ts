/** What keeps a silent stream open, and what may still happen after it. T88. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, type Answer } from "../support/recorder.ts";
import { answerText, eachProtocol, generateContent, parsed } from "./protocols.ts";
import { costAtFirstNano, readEvents, startWorld, stream, type World } from "./world.ts";

const intervalMs = 60;
const silenceMs = intervalMs * 4;

let world: World;
beforeAll(async () => {
  world = await startWorld({ keepAliveMs: intervalMs });
});
afterAll(() => world.close());

const late =
  (answer: Answer): Answer =>
  async (request, upstream) => {
    await sleep(silenceMs);
    return answer(request, upstream);
  };

const arrayPath = "/v1beta/models/acme/gemini:first:streamGenerateContent";

describe("while the upstream is silent", () => {
  it.each(eachProtocol)(
    "T88: comments arrive at once and again, then the answer, whose headers were right from the start (%s)",
    async (_name, protocol) => {
      world.answer(late(stream(protocol.frames)));
      const before = await world.charged();
      const started = performance.now();
      const answer = await world.call(protocol, {
        stream: true,
        model: `${protocol.model}:first`,
        extra: { service_tier: "flex" },
      });
      // The head came with the first comment, long before the upstream's first byte.
      expect(performance.now() - started).toBeLessThan(silenceMs);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-gw-dropped-params")).toBe("service_tier");
      const text = await answer.text();
      // A comment is a frame of its own: there are SDKs that skip a whole frame for one.
      expect(text).toMatch(/^(: keep-alive\n\n){2,}(event|data): /);
      expect(text.lastIndexOf(": keep-alive")).toBeLessThan(text.indexOf("data: "));
      const events = await readEvents(new Response(text));
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
      expect((await world.charged()) - before).toBe(costAtFirstNano);
    },
  );

  it("T88: silence before the head and silence after it are the same", async () => {
    for (const [, protocol] of eachProtocol) {
      world.answer((_request, upstream) => {
        upstream.writeHead(200, { "content-type": "text/event-stream" });
        upstream.flushHeaders();
        setTimeout(() => upstream.end(protocol.frames.join("")), silenceMs);
      });
      const text = await (await world.call(protocol, { stream: true })).text();
      expect(text).toMatch(/^(: keep-alive\n\n){2,}/);
      expect(protocol.endsNormally(await readEvents(new Response(text)))).toBe(true);
    }
  });

  it("T88: the array form stays one valid JSON array", async () => {
    world.answer(late(stream(generateContent.frames)));
    const answer = await world.gateway.post(arrayPath, generateContent.body("", true));
    const text = await answer.text();
    expect(text).toMatch(/^\n{2,}\[/);
    const events = (JSON.parse(text) as object[]).map((one) => ({ data: JSON.stringify(one) }));
    expect(generateContent.textOfFrames(events)).toBe(answerText);
  });

  it("T88: a whole answer is not begun before it is there", async () => {
    for (const [, protocol] of eachProtocol) {
      world.answer(late(json({ error: { message: "too hot" } }, 500)));
      const answer = await world.call(protocol);
      expect(answer.status).toBe(502);
      expect(parsed({ data: await answer.text() })).toHaveProperty("error");
    }
  });
});

const failures: readonly (readonly [string, Answer])[] = [
  ["status 500", json({ error: { message: "too hot" } }, 500)],
  ["a refusal", json({ error: { message: "no such effort", code: "invalid_value" } }, 400)],
  ["a cut", (_request, upstream) => void upstream.destroy()],
];

describe("after the first keep-alive", () => {
  it.each(failures)(
    "T88: %s of every provider travels inside the stream, unbilled",
    async (_what, failure) => {
      for (const [name, protocol] of eachProtocol) {
        world.answer(late(failure));
        const before = await world.charged();
        const answer = await world.call(protocol, {
          stream: true,
          model: `${protocol.model}:first`,
        });
        expect(answer.status).toBe(200);
        const events = await readEvents(answer);
        expect([name, protocol.endsWithError(events)]).toEqual([name, true]);
        expect(await world.charged()).toBe(before);
      }
    },
  );

  it("T88: an error in the array form is its one element", async () => {
    world.answer(late(failures[0]![1]));
    const answer = await world.gateway.post(arrayPath, generateContent.body("", true));
    expect(await answer.json()).toEqual([
      {
        error: expect.objectContaining({
          code: 502,
          status: expect.any(String) as string,
        }) as object,
      },
    ]);
  });

  it("T88: a refusal inside the stream still has the upstream's own words", async () => {
    for (const [, protocol] of eachProtocol) {
      world.answer(late(failures[1]![1]));
      const text = await (await world.call(protocol, { stream: true })).text();
      expect(text).toContain("no such effort");
    }
  });

  it.each(eachProtocol)("T88: the next provider still may answer (%s)", async (_name, protocol) => {
    world.first.answer(late(failures[0]![1]));
    world.second.answer(stream(protocol.frames));
    const answer = await world.call(protocol, { stream: true, model: `${protocol.model}:@price` });
    const text = await answer.text();
    expect(text).toContain(": keep-alive");
    const events = await readEvents(new Response(text));
    expect(protocol.endsNormally(events)).toBe(true);
    expect(protocol.textOfFrames(events)).toBe(answerText);
    expect((await world.row(answer)).attempts.map(({ provider }) => provider)).toEqual([
      "first",
      "second",
    ]);
  });
});
