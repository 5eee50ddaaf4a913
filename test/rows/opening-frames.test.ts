/**
 * A vendor that opens its stream and then fails: the opening frames wait, so another provider answers as before the first byte.
 * docs/decisions.md "Opening frames"; BILL-22, T16.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { OpeningFrames } from "../../src/calls/opening-frames.ts";
import { Speed } from "../../src/routing/speed.ts";
import { eventually } from "../support/patience.ts";
import { sse, type Answer } from "../support/recorder.ts";
import {
  answerText,
  byPrice,
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
  answering,
  costAtSecondNano,
  modelRow,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

const keepAliveMs = 30;

let world: World;
beforeAll(async () => {
  const converted = protocols.flatMap((caller) =>
    protocols
      .filter((upstream) => upstream !== caller)
      .map((upstream) =>
        modelRow(`mixed/${caller.name}-at-${upstream.name}`, {
          name: upstream.name,
          endpoint: caller.endpoint,
        }),
      ),
  );
  world = await startWorld({ models: converted.join("\n"), timeouts: "{ idle_s: 0.4 }" });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, value: object): string =>
  `event: ${type}\n${data({ type, ...value })}`;
const responseEvent = (name: string, more: object = {}): string =>
  named(`response.${name}`, {
    response: { id: "resp_1", object: "response", created_at: 1, output: [], ...more },
  });
const chunk = (choices: object[]): string => data({ id: "c", model: "x", choices });

/** The frames with which vendors open a stream. */
const opening: Readonly<Record<Protocol["name"], string>> = {
  chat:
    data({ id: "", choices: [], prompt_filter_results: [] }) +
    chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]),
  responses: ["created", "queued", "in_progress"].map((name) => responseEvent(name)).join(""),
  messages: messages.frames[0]! + named("ping", {}),
  generate_content: data({
    candidates: [{ index: 0, content: { role: "model" } }],
    usageMetadata: { promptTokenCount: 9 },
  }),
};
/** The vendor's overload after them. */
const overload: Readonly<Record<Protocol["name"], string>> = {
  chat: chat.errorFrame,
  responses: responseEvent("failed", {
    status: "failed",
    error: { code: "server_is_overloaded", message: "the accelerator melted" },
  }),
  messages: messages.errorFrame,
  generate_content: generateContent.errorFrame,
};

/** How a stream fails after its opening frames, which have left the vendor before. */
const failures: readonly (readonly [string, (protocol: Protocol) => Answer])[] = [
  ["reports an overload", ({ name }) => opened(name, (end) => end(overload[name]))],
  ["reports it at once", ({ name }) => sse(opening[name] + overload[name])],
  ["closes", ({ name }) => opened(name, (end) => end(""))],
  ["breaks off", ({ name }) => stream([opening[name]], (up) => setTimeout(() => up.destroy(), 20))],
  ["sends garbage", ({ name }) => opened(name, (end) => end("data: <html>oops</html>\n\n"))],
  ["falls silent", ({ name }) => stream([opening[name]], () => undefined)],
];

function opened(name: Protocol["name"], rest: (end: (text: string) => void) => void): Answer {
  return stream([opening[name]], (upstream) => {
    setTimeout(() => rest((text) => void upstream.end(text)), 20);
  });
}

const pairs = protocols.flatMap((caller) =>
  protocols.map((upstream) => ({
    caller,
    upstream,
    names: `${caller.name} from ${upstream.name}`,
    model:
      caller === upstream ? byPrice(caller) : `mixed/${caller.name}-at-${upstream.name}:@price`,
  })),
);

/** The vendor of each protocol answers well. */
const answersAs =
  (upstream: Protocol): Answer =>
  (request, response) =>
    stream(upstream.frames)(request, response);

describe.each(pairs)("a stream of $names whose first provider opens it", (pair) => {
  const { caller, upstream, model } = pair;
  it.each(caller === upstream ? failures : failures.slice(0, 1))(
    "BILL-22: is left for the second provider if the first %s, and only one answer is sent and charged",
    async (_how, failing) => {
      world.second.answer(answersAs(upstream));
      const alone = await world.call(caller, {
        model: model.replace("@price", "second"),
        stream: true,
      });
      const expected = await readEvents(alone);
      world.answer(answersAs(upstream));
      world.first.answer(failing(upstream));
      const before = await world.charged();
      const answer = await world.call(caller, { model, stream: true });
      expect(answer.status).toBe(200);
      const events = await readEvents(answer);
      expect(caller.textOfFrames(events)).toBe(answerText);
      expect(caller.endsNormally(events)).toBe(true);
      expect(withoutIds(events)).toEqual(withoutIds(expected));
      expect((await world.charged()) - before).toBe(costAtSecondNano);
      const row = await world.row(answer);
      expect(row).toMatchObject({ provider: "second", status: "succeeded", http_status: 200 });
      expect(row.attempts.map(({ provider }) => provider)).toEqual(["first", "second"]);
      expect(row.attempts[0]!.outcome).not.toMatch(/^(ok|running)$/);
      expect(row.attempts[1]!.outcome).toBe("ok");
    },
  );

  it("BILL-22: if no provider is left, the caller gets the error with its status, and nothing is charged", async () => {
    world.answer(opened(upstream.name, (end) => end(overload[upstream.name])));
    const before = await world.charged();
    const answer = await world.call(caller, { model, stream: true });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.get("content-type")).toContain("application/json");
    const text = await answer.text();
    expect(parsed({ data: text })).toHaveProperty("error");
    expect(text).not.toContain("melted");
    expect(await world.charged()).toBe(before);
    const row = await world.row(answer);
    expect(row).toMatchObject({ status: "failed", http_status: 503, cost_nano: 0n });
    expect(row.first_token_ms).toBeNull();
    const { ledger, workspaceId } = world.gateway;
    await expect.poll(async () => (await ledger.balance(workspaceId)).heldNano).toBe(0n);
  });

  it("T15: a whole answer that the vendor streams fails over in the same way, with the same error", async () => {
    world.answer(sse(opening[upstream.name] + overload[upstream.name]));
    const refused = await world.call(caller, { model });
    expect(refused.status).toBe(503);
    expect((await world.row(refused)).attempts.map(({ provider }) => provider)).toEqual([
      "first",
      "second",
    ]);
  });
});

/** Events without the ids of their call. */
const withoutIds = (events: readonly { data: string }[]): string =>
  events
    .map(({ data }) => data)
    .join("\n")
    .replaceAll(/req_[0-9a-z]{26}|(?<=_)[0-9a-z]{26}/g, "own")
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');

it("T88: a keep-alive does not end the wait: the other provider still answers", async () => {
  const quick = await startWorld({ keepAliveMs, beside: world });
  for (const [, protocol] of eachProtocol) {
    world.answer(answering);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.first.answer(async (_request, upstream) => {
      upstream.writeHead(200, { "content-type": "text/event-stream" });
      upstream.write(opening[protocol.name]);
      await promise;
      upstream.end(overload[protocol.name]);
    });
    const answer = await quick.call(protocol, { model: byPrice(protocol), stream: true });
    // The head came with a keep-alive.
    expect(answer.status).toBe(200);
    resolve();
    const events = await readEvents(answer);
    expect(protocol.textOfFrames(events)).toBe(answerText);
    expect(protocol.endsNormally(events)).toBe(true);
  }
  await quick.close();
});

it("TXT-20: a refusal after the opening frames is the caller's error, and no other provider is asked", async () => {
  const message = "The image data you provided does not represent a valid image.";
  const error = { code: "invalid_image", message };
  world.first.answer(sse(opening.responses + responseEvent("failed", { status: "failed", error })));
  const answer = await world.call(responses, { model: byPrice(responses), stream: true });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { message, code: "upstream_rejected" } });
  expect(world.second.requests).toHaveLength(0);
});

it("TXT-20: a conversation that is too long is reported to Codex inside the stream, as OpenAI does", async () => {
  const error = { code: "context_length_exceeded", message: "Your input exceeds the context." };
  world.answer(sse(opening.responses + responseEvent("failed", { status: "failed", error })));
  const answer = await world.call(responses, { model: byPrice(responses), stream: true });
  expect(answer.status).toBe(200);
  const last = (await readEvents(answer)).findLast(({ event }) => event === "response.failed")!;
  expect(parsed(last)).toMatchObject({ response: { error: { code: error.code } } });
});

it("T62: a client that leaves while opening frames wait pays for the input that the vendor counted", async () => {
  using waiting = vi.spyOn(OpeningFrames.prototype, "wait");
  world.first.answer(stream([opening.messages], () => undefined));
  const before = await world.charged();
  const controller = new AbortController();
  const { url, key } = world.gateway;
  const answer = fetch(url + messages.path(messages.model, true), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(messages.body(byPrice(messages), true)),
    signal: controller.signal,
  });
  answer.catch(() => undefined);
  await eventually(() => waiting.mock.lastCall, "opening frames that wait");
  controller.abort();
  const charged = async () => (await world.charged()) - before || undefined;
  // 60 tokens of input, 40 from the cache, and the one of output that the start reports.
  expect(await eventually(charged, "the charge")).toBe(60n * 1_000n + 40n * 100n + 10_000n);
  expect(world.second.requests).toHaveLength(0);
});

it("a stream's tokens a second count from its opening, while the model may have been at work in silence", async () => {
  using waiting = vi.spyOn(OpeningFrames.prototype, "wait");
  using measured = vi.spyOn(Speed.prototype, "add");
  world.first.answer(
    stream([opening.messages], (upstream) => {
      const rest = () => upstream.end(messages.frames.slice(1).join(""));
      const wait = eventually(() => waiting.mock.lastCall, "opening frames that wait");
      void wait.then(() => setTimeout(rest, 20));
    }),
  );
  const answer = await world.call(messages, { model: byPrice(messages), stream: true });
  await readEvents(answer);
  await world.row(answer);
  const { firstTokenMs, waitedMs = 0 } = measured.mock.lastCall![0];
  // Timers may fire a little early.
  expect(waitedMs).toBeGreaterThan(15);
  expect(firstTokenMs).toBeGreaterThan(15);
});

it("a stream that goes well is the same, byte for byte, whether its opening frames waited or not", async () => {
  for (const [, protocol] of eachProtocol) {
    const rest = protocol.frames.slice(protocol === generateContent ? 0 : 1).join("");
    const textOf = async (answer: Answer): Promise<string> => {
      world.answer(answer);
      const options = { model: byPrice(protocol), stream: true };
      return withoutIds([{ data: await (await world.call(protocol, options)).text() }]);
    };
    const atOnce = await textOf(sse(opening[protocol.name] + rest));
    const apart = await textOf(opened(protocol.name, (end) => end(rest)));
    expect(apart).toBe(atOnce);
    expect(apart).toContain("Größe");
  }
});
