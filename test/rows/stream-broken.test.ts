/**
 * Broken streams: a cut, garbage, or an error within a stream never looks like a normal end, costs nothing, and is reported in each
 * protocol's own way. T16.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sse, type Answer } from "../support/recorder.ts";
import {
  chat,
  eachProtocol,
  generateContent,
  messages,
  parsed,
  protocols,
  responses,
  type Protocol,
} from "./protocols.ts";
import {
  costAtFirstNano,
  modelRow,
  protocolOf,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  const converted = [
    modelRow("alone/to-messages", { ...messages, name: "chat" }),
    ...[chat, responses, generateContent].map(({ name, endpoint }) =>
      modelRow(`alone/to-${name}`, { name: "messages", endpoint }),
    ),
  ];
  world = await startWorld({ timeouts: "{ idle_s: 0.5 }", models: converted.join("\n") });
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

describe.each(eachProtocol)("a %s stream", (name, protocol) => {
  it.each(breaks)(
    "T16: %s: the stream ends with the protocol's own error, and nothing is charged",
    async (what, answer) => {
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
      expect(row).toMatchObject({ status: "failed", cost_nano: 0n });
      const isOverload = what.startsWith("the upstream sends an error") && name !== "responses";
      expect(row.http_status).toBe(isOverload ? 503 : 502);
      expect(row.attempts).toHaveLength(1);
      expect(row.attempts[0]!.outcome).not.toMatch(/^(ok|running)$/);
      const { ledger, workspaceId } = world.gateway;
      await expect.poll(async () => (await ledger.balance(workspaceId)).heldNano).toBe(0n);
    },
  );
});

/** How clients see in a stream's last event that the vendor is overloaded, or limits its rate. */
const toldLoad = {
  chat: { error: { type: "overloaded_error", code: "no_provider_available" } },
  // OpenAI has no such code: agents take "server_is_overloaded" as final, and try again after "server_error".
  responses: { response: { error: { code: "server_error" } } },
  messages: { type: "error", error: { type: "overloaded_error" } },
  generate_content: { error: { code: 503, status: "UNAVAILABLE" } },
};
const limited =
  'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"oops"}}\n\n';

describe("a stream whose vendor reports its load in the middle", () => {
  const lastOf = async (caller: Protocol, model: string, upstream: Protocol, frame: string) => {
    world.answer(sse(framesBeforeEnd(upstream).join("") + frame));
    const answer = await world.call(caller, { stream: true, model: `${model}:first` });
    const last = (await readEvents(answer)).findLast(({ data }) => data !== "[DONE]")!;
    expect(last.data).not.toMatch(/oops|melted/);
    return JSON.parse(last.data) as { error?: { message?: string } };
  };

  it.each([chat, messages, generateContent])(
    "T16: says so in the words that clients try again after ($name)",
    async (protocol) => {
      const last = await lastOf(protocol, protocol.model, protocol, protocol.errorFrame);
      expect(last).toMatchObject(toldLoad[protocol.name]);
      expect(last.error?.message).toContain("overloaded");
    },
  );

  it.each([
    [chat, messages],
    [responses, messages],
    [messages, chat],
    [generateContent, messages],
  ])("T16: says so after a conversion too ($0.name from $1.name)", async (caller, upstream) => {
    const last = await lastOf(caller, `alone/to-${caller.name}`, upstream, upstream.errorFrame);
    expect(last).toMatchObject(toldLoad[caller.name]);
    expect(JSON.stringify(last)).toContain("it is overloaded now");
  });

  it("T16: a rate limit is one", async () => {
    const last = await lastOf(messages, messages.model, messages, limited);
    expect(last).toMatchObject({ error: { type: "rate_limit_error" } });
    const converted = await lastOf(responses, "alone/to-responses", messages, limited);
    expect(converted).toMatchObject({ response: { error: { code: "rate_limit_exceeded" } } });
  });
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
