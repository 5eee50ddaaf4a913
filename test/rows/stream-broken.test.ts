/**
 * Broken streams: a cut, garbage, or an error within a stream never looks like a normal end, costs nothing, and is reported in each
 * protocol's own way. T16.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sse, type Answer } from "../support/recorder.ts";
import { eachProtocol, generateContent, parsed, protocols, type Protocol } from "./protocols.ts";
import {
  costAtFirstNano,
  protocolOf,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ timeouts: "{ idle_s: 0.5 }" });
});
afterAll(() => world.close());

/** All frames without those that mark the end. */
const framesBeforeEnd = (protocol: Protocol) => protocol.frames.slice(0, -protocol.endFrames);

const breaks: readonly (readonly [string, (protocol: Protocol) => Answer])[] = [
  [
    "the connection is cut",
    (protocol) =>
      stream(framesBeforeEnd(protocol), (upstream) => setTimeout(() => upstream.destroy(), 30)),
  ],
  ["the upstream closes before the end", (protocol) => sse(framesBeforeEnd(protocol).join(""))],
  [
    "a frame is cut in half",
    (protocol) =>
      sse(framesBeforeEnd(protocol).join("") + framesBeforeEnd(protocol)[1]!.slice(0, -12)),
  ],
  [
    "a frame is garbage",
    (protocol) =>
      sse(
        `${framesBeforeEnd(protocol).join("")}data: <html>oops</html>\n\n${protocol.frames.slice(-protocol.endFrames).join("")}`,
      ),
  ],
  [
    "a frame is JSON but not an object",
    (protocol) =>
      sse(
        `${framesBeforeEnd(protocol).join("")}data: 42\n\n${protocol.frames.slice(-protocol.endFrames).join("")}`,
      ),
  ],
  [
    "the upstream sends an error",
    (protocol) => sse(framesBeforeEnd(protocol).join("") + protocol.errorFrame),
  ],
  [
    "the upstream sends an error and then ends normally",
    (protocol) =>
      sse(
        framesBeforeEnd(protocol).join("") +
          protocol.errorFrame +
          protocol.frames.slice(-protocol.endFrames).join(""),
      ),
  ],
  ["the upstream falls silent", (protocol) => stream(framesBeforeEnd(protocol), () => undefined)],
];

describe.each(eachProtocol)("a %s stream", (_name, protocol) => {
  it.each(breaks)(
    "T16: %s: the stream ends with the protocol's own error, and nothing is charged",
    async (_what, answer) => {
      world.answer(answer(protocol));
      const before = await world.charged();
      const response = await world.call(protocol, {
        stream: true,
        model: `${protocol.model}:first`,
      });
      expect(response.status).toBe(200);
      const events = await readEvents(response);
      expect(protocol.textOfFrames(events)).not.toBe("");
      expect(protocol.endsWithError(events)).toBe(true);
      expect(protocol.endsNormally(events)).toBe(false);
      expect(await world.charged()).toBe(before);
      // The upstream's own message is only for the operator.
      expect(JSON.stringify(events)).not.toContain("oops");
      const row = await world.row(response);
      expect(row).toMatchObject({ status: "failed", http_status: 502, cost_nano: 0n });
      expect(row.attempts).toHaveLength(1);
      expect(row.attempts[0]!.outcome).not.toMatch(/^(ok|running)$/);
      const { ledger, workspaceId } = world.gateway;
      await expect.poll(async () => (await ledger.balance(workspaceId)).heldNano).toBe(0n);
    },
  );
});

describe("the array form of generateContent", () => {
  it.each(breaks)(
    "T16: %s: the array is valid JSON, and its last element is the error",
    async (_what, answer) => {
      world.answer(answer(generateContent));
      const response = await world.gateway.post(
        "/v1beta/models/acme/gemini:first:streamGenerateContent",
        generateContent.body("", true),
      );
      const elements = (await response.json()) as object[];
      const events = elements.map((element) => ({ data: JSON.stringify(element) }));
      expect(generateContent.endsWithError(events)).toBe(true);
    },
  );
});

describe("a stream that only looks broken", () => {
  it.each(eachProtocol)(
    "T16: is a complete answer if the connection is reset after its last frame (%s)",
    async (_name, protocol) => {
      world.answer(stream(protocol.frames, (upstream) => setTimeout(() => upstream.destroy(), 30)));
      const before = await world.charged();
      const events = await readEvents(
        await world.call(protocol, { stream: true, model: `${protocol.model}:first` }),
      );
      expect(protocol.endsNormally(events)).toBe(true);
      expect((await world.charged()) - before).toBe(costAtFirstNano);
    },
  );

  it("T16: ends after its last frame, even if the upstream leaves the connection open", async () => {
    // In this gateway, an upstream may be silent for two minutes.
    const patient = await startWorld();
    patient.answer((request, upstream) =>
      stream(protocolOf(request.path).frames, () => undefined)(request, upstream),
    );
    const ends = async (protocol: Protocol): Promise<void> => {
      const started = performance.now();
      const events = await readEvents(await patient.call(protocol, { stream: true }));
      expect(protocol.endsNormally(events)).toBe(true);
      expect(performance.now() - started).toBeLessThan(60_000);
    };
    await Promise.all(protocols.map(ends));
    await patient.close();
  });

  it("T16: is answered with an error status if it fails before its first frame", async () => {
    for (const protocol of protocols) {
      world.answer(sse(protocol.errorFrame));
      const response = await world.call(protocol, {
        stream: true,
        model: `${protocol.model}:first`,
      });
      // The frames of the other three report an overload.
      const status = protocol.name === "responses" ? 502 : 503;
      expect([protocol.name, response.status]).toEqual([protocol.name, status]);
      expect(response.headers.has("retry-after")).toBe(status === 503);
      expect(parsed({ data: await response.text() })).toHaveProperty("error");
    }
  });
});
