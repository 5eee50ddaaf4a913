/** Keep-alives of silent streams, and events after them. T88. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, type Answer } from "../support/recorder.ts";
import {
  answerText,
  chat,
  eachProtocol,
  generateContent,
  parsed,
  type Protocol,
} from "./protocols.ts";
import { costAtFirstNano, readEvents, startWorld, stream, type World } from "./world.ts";

const intervalMs = 20;

let world: World;
beforeAll(async () => {
  world = await startWorld({ keepAliveMs: intervalMs });
});
afterAll(() => world.close());

/** The upstream's silence. It ends when the caller got two keep-alives, or after a timeout. */
interface Silence {
  readonly over: Promise<unknown>;
  isOver: boolean;
  end(): void;
}
let silence: Silence;
function newSilence(): Silence {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = Promise.race([promise, sleep(10_000, undefined, { ref: false })]);
  return (silence = {
    over: over.then(() => (silence.isOver = true)),
    isOver: false,
    end: resolve,
  });
}

/** An upstream that is silent at first. */
function afterSilence(answer: Answer): Answer {
  const { over } = newSilence();
  return async (request, upstream) => {
    await over;
    return answer(request, upstream);
  };
}

/**
 * At least two keep-alives and the start of an event. Clients that read event by event skip one that begins with a comment, so comments are
 * events of their own. Google's SDKs fail at any: there they are white space within the event.
 */
const keptAlive = ({ name }: Protocol): string =>
  name === "generate_content" ? "data: {2,}\\{" : "(: keep-alive\n\n){2,}(event|data): ";

/** Reads an answer to its end. Ends the upstream's silence after two keep-alives. */
async function readToEnd(
  answer: Response,
  twice = /(: keep-alive\n{1,2}){2}|data: {2}/,
): Promise<string> {
  let text = "";
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (twice.test(text)) silence.end();
  }
  return text;
}

const arrayPath = "/v1beta/models/acme/gemini:first:streamGenerateContent";

describe("a call whose upstream is silent", () => {
  it.each(eachProtocol)(
    "T88: gets keep-alives at once and again, then the answer; its headers are complete from the start (%s)",
    async (_name, protocol) => {
      world.answer(afterSilence(stream(protocol.frames)));
      const before = await world.charged();
      const answer = await world.call(protocol, {
        stream: true,
        model: `${protocol.model}:first`,
        extra: { service_tier: "flex" },
      });
      // The head came with the first comment, long before the upstream's first byte.
      expect(silence.isOver).toBe(false);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-gw-dropped-params")).toBe("service_tier");
      const text = await readToEnd(answer);
      expect(text).toMatch(new RegExp(`^${keptAlive(protocol)}`));
      expect(text.lastIndexOf(": keep-alive")).toBeLessThan(text.indexOf("data: "));
      const events = await readEvents(new Response(text));
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
      expect((await world.charged()) - before).toBe(costAtFirstNano);
    },
  );

  it("T88: gets comments without a blank line in OpenAI's SDK for Go, which takes each blank line for the end of an event", async () => {
    for (const [, protocol] of eachProtocol.filter(([name]) => name !== "generate_content")) {
      world.answer(afterSilence(stream(protocol.frames)));
      const headers = { "x-stainless-lang": "go" };
      const text = await readToEnd(await world.call(protocol, { stream: true, headers }));
      expect(text).toMatch(/^(: keep-alive\n){2,}(event|data): /);
      expect(protocol.endsNormally(await readEvents(new Response(text)))).toBe(true);
    }
  });

  it("T88: loses no text to a keep-alive in Dify, which reads event by event and skips those that begin as comments", async () => {
    const { frames } = chat;
    world.answer(async (_request, upstream) => {
      const { over } = newSilence();
      upstream.writeHead(200, { "content-type": "text/event-stream" });
      upstream.write(frames[0]);
      await over;
      upstream.end(frames.slice(1).join(""));
    });
    const text = await readToEnd(await world.call(chat, { stream: true }));
    expect(text).toContain(": keep-alive");
    const read = text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
    expect(chat.textOfFrames(read.map((event) => ({ data: event.slice("data: ".length) })))).toBe(
      answerText,
    );
  });

  it("T88: gets keep-alives if the upstream is silent after its head too", async () => {
    for (const [, protocol] of eachProtocol) {
      const { over } = newSilence();
      world.answer(async (_request, upstream) => {
        upstream.writeHead(200, { "content-type": "text/event-stream" });
        upstream.flushHeaders();
        await over;
        upstream.end(protocol.frames.join(""));
      });
      const text = await readToEnd(await world.call(protocol, { stream: true }));
      expect(text).toMatch(new RegExp(`^${keptAlive(protocol)}`));
      expect(protocol.endsNormally(await readEvents(new Response(text)))).toBe(true);
    }
  });

  it("T88: gets keep-alives between two frames too, as while a model thinks after the start of its answer", async () => {
    for (const [, protocol] of eachProtocol) {
      const { over } = newSilence();
      world.answer(async (_request, upstream) => {
        upstream.writeHead(200, { "content-type": "text/event-stream" });
        upstream.write(protocol.frames.slice(0, 2).join(""));
        await over;
        upstream.end(protocol.frames.slice(2).join(""));
      });
      const answer = await world.call(protocol, { stream: true });
      const text = await readToEnd(answer, /\}\n\n((: keep-alive\n{1,2}){2}|data: {2})/);
      expect(text).toMatch(new RegExp(`\\}\n\n${keptAlive(protocol)}`));
      const events = await readEvents(new Response(text));
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
    }
  });

  it("T88: the array form stays one valid JSON array", async () => {
    world.answer(afterSilence(stream(generateContent.frames)));
    const answer = await world.gateway.post(arrayPath, generateContent.body("", true));
    const text = await readToEnd(answer, /\n[^]*\n/);
    expect(text).toMatch(/^\n{2,}\[/);
    const events = (JSON.parse(text) as object[]).map((one) => ({ data: JSON.stringify(one) }));
    expect(generateContent.textOfFrames(events)).toBe(answerText);
  });

  it("T88: without a stream, the answer does not begin before it is complete", async () => {
    for (const [, protocol] of eachProtocol) {
      world.answer(afterSilence(json({ error: { message: "too hot" } }, 500)));
      const asked = world.call(protocol);
      await sleep(4 * intervalMs);
      silence.end();
      const answer = await asked;
      expect(answer.status).toBe(502);
      expect(parsed({ data: await answer.text() })).toHaveProperty("error");
    }
  });
});

const failures: readonly (readonly [string, Answer])[] = [
  ["status 500", json({ error: { message: "too hot" } }, 500)],
  ["a refusal", json({ error: { message: "no such effort", code: "invalid_value" } }, 400)],
  ["a cut connection", (_request, upstream) => void upstream.destroy()],
];

describe("a stream after its first keep-alive", () => {
  it.each(failures)(
    "T88: reports %s of every provider inside the stream, unbilled",
    async (_what, failure) => {
      for (const [name, protocol] of eachProtocol) {
        world.answer(afterSilence(failure));
        const before = await world.charged();
        const answer = await world.call(protocol, {
          stream: true,
          model: `${protocol.model}:first`,
        });
        expect(answer.status).toBe(200);
        const events = await readEvents(new Response(await readToEnd(answer)));
        expect([name, protocol.endsWithError(events)]).toEqual([name, true]);
        expect(await world.charged()).toBe(before);
      }
    },
  );

  it("T88: reports an error in the array form as the array's only element", async () => {
    world.answer(afterSilence(failures[0]![1]));
    const answer = await world.gateway.post(arrayPath, generateContent.body("", true));
    expect(JSON.parse(await readToEnd(answer, /\n[^]*\n/))).toEqual([
      {
        error: expect.objectContaining({
          code: 502,
          status: expect.any(String) as string,
        }) as object,
      },
    ]);
  });

  it("T16 T88: repeats the error of generateContent after its event: Google's clients find it only there", async () => {
    world.answer(afterSilence(failures[0]![1]));
    const text = await readToEnd(await world.call(generateContent, { stream: true }));
    const [event = "", bare] = text.split("\n\n");
    expect(event).toMatch(/^data: {2,}\{"error"/);
    expect(bare).toBe(event.replace(/^data: */, ""));
  });

  it("T88: reports a refusal with the upstream's own message", async () => {
    for (const [, protocol] of eachProtocol) {
      world.answer(afterSilence(failures[1]![1]));
      const text = await readToEnd(await world.call(protocol, { stream: true }));
      expect(text).toContain("no such effort");
    }
  });

  it.each(eachProtocol)("T88: may fail over to the next provider (%s)", async (_name, protocol) => {
    world.first.answer(afterSilence(failures[0]![1]));
    world.second.answer(stream(protocol.frames));
    const answer = await world.call(protocol, { stream: true, model: `${protocol.model}:@price` });
    const text = await readToEnd(answer);
    expect(text).toMatch(new RegExp(keptAlive(protocol)));
    const events = await readEvents(new Response(text));
    expect(protocol.endsNormally(events)).toBe(true);
    expect(protocol.textOfFrames(events)).toBe(answerText);
    expect((await world.row(answer)).attempts.map(({ provider }) => provider)).toEqual([
      "first",
      "second",
    ]);
  });
});
