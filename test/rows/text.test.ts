/** The four text endpoints on direct routes: requests to the upstream, and answers. TXT rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import {
  answerText,
  at,
  chat,
  eachProtocol,
  generateContent,
  messages,
  protocols,
  responses,
  upstreamModel,
  type Protocol,
} from "./protocols.ts";
import {
  answering,
  costAtFirstNano,
  modelRow,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      modelRow("acme/narrow", chat, { extra: "parameters: { seed: false, user: false }" }),
      modelRow("acme/narrow-gemini", generateContent, {
        extra: "parameters: { seed: false, temperature: false }",
      }),
    ].join("\n"),
  });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const upstreamRequests = () => [...world.first.requests, ...world.second.requests];

describe("each protocol", () => {
  it.each([
    ["TXT-01 chat-completions", chat, ["choices", 0, "message", "content"], {}],
    ["TXT-02 responses", responses, ["output", 0, "content", 0, "text"], { object: "response" }],
    ["TXT-03 messages", messages, ["content", 0, "text"], { stop_reason: "end_turn" }],
    [
      "TXT-04 generateContent",
      generateContent,
      ["candidates", 0, "content", "parts", 0, "text"],
      {},
    ],
  ] as const)("%s is answered", async (_name, protocol, path, shape) => {
    const answer = await world.call(protocol);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const body: unknown = await answer.json();
    expect(at(body, ...path)).toBe(answerText);
    expect(body).toMatchObject(shape);
  });

  it("TXT-04: the slash of the model id may be escaped, and other spellings of the path are accepted", async () => {
    for (const path of [
      "/v1beta/models/acme%2Fgemini:generateContent",
      "/v1/models/acme/gemini:generateContent",
      "/v1beta/acme/gemini:generateContent",
    ]) {
      const answer = await world.gateway.post(path, generateContent.body("", false));
      expect([path, answer.status]).toEqual([path, 200]);
      expect(generateContent.modelOf((await answer.json()) as never)).toBe("acme/gemini");
    }
  });

  it.each(eachProtocol)(
    "TXT-08 ROUTE-02: a provider suffix decides which provider is called (%s)",
    async (_name, protocol) => {
      for (const [name, other] of [
        ["first", "second"],
        ["second", "first"],
      ] as const) {
        world.answer(answering);
        const answer = await world.call(protocol, { model: `${protocol.model}:${name}` });
        expect(answer.status).toBe(200);
        expect(world[name].requests).toHaveLength(1);
        expect(world[other].requests).toHaveLength(0);
      }
    },
  );

  it.each(eachProtocol)(
    "TXT-10 TXT-11 T37: the answer carries the canonical model id, whatever the upstream calls it (%s)",
    async (_name, protocol) => {
      const model = `${protocol.model}:@price`;
      const whole = await (await world.call(protocol, { model })).text();
      expect(protocol.modelOf(JSON.parse(whole) as never)).toBe(protocol.model);
      expect(whole).not.toContain(upstreamModel);
      const events = await readEvents(await world.call(protocol, { model, stream: true }));
      const text = JSON.stringify(events);
      expect(text).not.toContain(upstreamModel);
      expect(text).toContain(protocol.model);
    },
  );
});

describe("entry points", () => {
  it("TXT-12 TXT-13: a model is refused at an entry point that it does not offer, and no provider is called", async () => {
    for (const protocol of protocols) {
      for (const other of protocols.filter((one) => one !== protocol)) {
        for (const streamed of [false, true]) {
          const answer = await world.call(other, { model: protocol.model, stream: streamed });
          expect([protocol.name, other.name, answer.status]).toEqual([
            protocol.name,
            other.name,
            400,
          ]);
          await answer.text();
        }
      }
    }
    expect(upstreamRequests()).toHaveLength(0);
  });
});

const filtered: readonly (readonly [string, Protocol, string])[] = [
  ["TXT-17 service_tier, chat", chat, "service_tier"],
  ["TXT-17 service_tier, responses", responses, "service_tier"],
  ["TXT-17 service_tier, messages", messages, "service_tier"],
  ["TXT-18 serviceTier, generateContent", generateContent, "serviceTier"],
  ["TXT-19 inference_geo, messages", messages, "inference_geo"],
  ["speed, which may cost six times as much, messages", messages, "speed"],
  ["fallbacks to models of other prices, messages", messages, "fallbacks"],
  ["T74 models, OpenRouter's fallbacks, responses", responses, "models"],
  ["T74 models, OpenRouter's fallbacks, messages", messages, "models"],
];

describe("a field that is never forwarded", () => {
  it.each(filtered)(
    "TXT-09 TXT-14 %s: is reported in gw.droppedParams of a whole answer",
    async (_name, protocol, field) => {
      const answer = await world.call(protocol, { extra: { [field]: "priority" } });
      expect(answer.status).toBe(200);
      expect(upstreamRequests()).toHaveLength(1);
      expect(upstreamRequests()[0]!.body).not.toHaveProperty(field);
      expect(at(await answer.json(), "gw")).toEqual({ droppedParams: [field] });
      expect(answer.headers.has("x-gw-dropped-params")).toBe(false);
      expect((await world.row(answer)).dropped).toEqual([field]);
    },
  );

  it.each(filtered)(
    "TXT-15 %s: is reported in x-gw-dropped-params of a stream",
    async (_name, protocol, field) => {
      const answer = await world.call(protocol, { stream: true, extra: { [field]: "priority" } });
      expect(answer.headers.get("x-gw-dropped-params")).toBe(field);
      const events = await readEvents(answer);
      expect(protocol.endsNormally(events)).toBe(true);
      expect(JSON.stringify(events)).not.toContain("droppedParams");
      expect(upstreamRequests()[0]!.body).not.toHaveProperty(field);
    },
  );

  it("TXT-14 TXT-15: nothing is reported if nothing was dropped", async () => {
    for (const protocol of protocols) {
      expect(await (await world.call(protocol)).json()).not.toHaveProperty("gw");
      const streamed = await world.call(protocol, { stream: true });
      expect(streamed.headers.has("x-gw-dropped-params")).toBe(false);
      await streamed.text();
    }
  });

  it.each(filtered)(
    "TXT-14 RESP-16 %s: is dropped without a report if it is null",
    async (_name, protocol, field) => {
      const extra = { [field]: null, parallel_tool_calls: null };
      const answer = await world.call(protocol, { extra });
      expect(answer.status).toBe(200);
      expect(await answer.json()).not.toHaveProperty("gw");
      expect(upstreamRequests()[0]!.body).not.toHaveProperty(field);
    },
  );

  it("TXT-14 TXT-15: several dropped fields are reported once each, in the order of the request", async () => {
    const extra = {
      previous_response_id: "resp_1",
      parallel_tool_calls: true,
      service_tier: "flex",
    };
    const dropped = ["service_tier", "previous_response_id", "parallel_tool_calls"];
    const body: unknown = await (await world.call(responses, { extra })).json();
    expect([...(at(body, "gw", "droppedParams") as string[])].sort()).toEqual([...dropped].sort());
    const streamed = await world.call(responses, { extra, stream: true });
    const header = streamed.headers.get("x-gw-dropped-params")!;
    expect(header.split(", ")).toEqual(at(body, "gw", "droppedParams"));
    await streamed.text();
    expect(header).toBe("previous_response_id, parallel_tool_calls, service_tier");
  });

  it("ERR-12: a parameter that the model does not have is dropped and reported, not an error", async () => {
    const answer = await world.call(chat, {
      model: "acme/narrow",
      extra: { seed: 7, temperature: 1, user: "me" },
    });
    expect(answer.status).toBe(200);
    expect(at(await answer.json(), "gw", "droppedParams")).toEqual(["seed", "user"]);
    expect(upstreamRequests()[0]!.body).toEqual({
      ...chat.body(upstreamModel, false),
      temperature: 1,
    });
    world.answer(answering);
    const nested = await world.call(generateContent, {
      model: "acme/narrow-gemini",
      extra: { generationConfig: { seed: 7, topP: 0.5, temperature: 1 } },
    });
    expect(at(await nested.json(), "gw", "droppedParams")).toEqual([
      "generationConfig.seed",
      "generationConfig.temperature",
    ]);
    expect(upstreamRequests()[0]!.body["generationConfig"]).toEqual({ topP: 0.5 });
  });

  it("ERR-12: null for a parameter that the model does not have is dropped without a report", async () => {
    const answer = await world.call(chat, { model: "acme/narrow", extra: { seed: null } });
    expect(await answer.json()).not.toHaveProperty("gw");
    expect(upstreamRequests()[0]!.body).toEqual(chat.body(upstreamModel, false));
  });
});

describe("upstream refusals", () => {
  it.each([
    [
      "chat",
      chat,
      { reasoning_effort: "max" },
      {
        error: {
          message: "no such effort: max",
          type: "invalid_request_error",
          param: "reasoning_effort",
          code: "unsupported_value",
        },
      },
    ],
    [
      "responses",
      responses,
      { reasoning: { effort: "max" } },
      {
        error: {
          message: "no such effort: max",
          type: "invalid_request_error",
          param: "reasoning.effort",
          code: "unsupported_value",
        },
      },
    ],
    [
      "messages",
      messages,
      { max_tokens: 6000, thinking: { type: "enabled", budget_tokens: 5000 } },
      { type: "error", error: { type: "invalid_request_error", message: "budget too small" } },
    ],
    [
      "generate_content",
      generateContent,
      { generationConfig: { thinkingConfig: { thinkingLevel: "max" } } },
      { error: { code: 400, message: "no such level", status: "INVALID_ARGUMENT" } },
    ],
  ] as const)(
    "TXT-20: a refusal of a model-dependent value reaches the caller, whole and streamed, unbilled (%s)",
    async (_name, protocol, extra, refusal) => {
      world.answer(json(refusal, 400));
      const before = await world.charged();
      for (const streamed of [false, true]) {
        const answer = await world.call(protocol, { extra, stream: streamed });
        expect(answer.status).toBe(400);
        expect(await answer.json()).toEqual(refusal);
      }
      // A caller's error does not cause failover.
      expect(upstreamRequests()).toHaveLength(2);
      expect(await world.charged()).toBe(before);
    },
  );
});

describe("an upstream that answers in another form than requested", () => {
  it.each(eachProtocol)(
    "T14: its whole answer to a stream request reaches the caller as a stream, billed (%s)",
    async (_name, protocol) => {
      world.answer(json(protocol.whole()));
      const before = await world.charged();
      const answer = await world.call(protocol, { model: `${protocol.model}:first`, stream: true });
      expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
      const events = await readEvents(answer);
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
      expect(JSON.stringify(events)).not.toContain(upstreamModel);
      expect((await world.row(answer)).first_token_ms).toEqual(expect.any(Number));
      expect((await world.charged()) - before).toBe(costAtFirstNano);
    },
  );

  it.each(eachProtocol)(
    "T14: its stream without the right Content-Type is read as a stream; an HTML page is 502 (%s)",
    async (_name, protocol) => {
      for (const headers of [
        {},
        { "content-type": "text/plain" },
        { "content-type": "Text/Event-Stream" },
      ]) {
        world.answer(
          (_request, upstream) =>
            void upstream.writeHead(200, headers).end(protocol.frames.join("")),
        );
        const events = await readEvents(await world.call(protocol, { stream: true }));
        expect(protocol.textOfFrames(events)).toBe(answerText);
        expect(protocol.endsNormally(events)).toBe(true);
      }
      world.answer(
        (_request, upstream) =>
          void upstream.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
      );
      expect((await world.call(protocol, { stream: true })).status).toBe(502);
      expect((await world.call(protocol)).status).toBe(502);
    },
  );

  it("T14: its whole answer is one array in the array form of generateContent", async () => {
    world.answer(json(generateContent.whole()));
    const path = "/v1beta/models/acme/gemini:streamGenerateContent";
    const answer = await world.gateway.post(path, generateContent.body("", true));
    const elements = (await answer.json()) as object[];
    const events = elements.map((element) => ({ data: JSON.stringify(element) }));
    expect(generateContent.textOfFrames(events)).toBe(answerText);
    expect(generateContent.endsNormally(events)).toBe(true);
  });

  it.each(eachProtocol)(
    "T15: its stream for a request without streaming reaches the caller as a whole answer, billed (%s)",
    async (_name, protocol) => {
      world.answer(stream(protocol.frames));
      const before = await world.charged();
      const answer = await world.call(protocol, { model: `${protocol.model}:first` });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
      const body = (await answer.json()) as Record<string, unknown>;
      expect(protocol.textOf(body)).toBe(answerText);
      expect(protocol.modelOf(body)).toBe(protocol.model);
      expect((await world.charged()) - before).toBe(costAtFirstNano);
      expect(protocol.usageOf(body)).toEqual(protocol.usageOf(protocol.whole()));
    },
  );

  it("T15 T47: if its stream has no usage, the whole answer reports the estimate that it was billed by", async () => {
    // The call is no stream, so it did not ask for usage: chat vendors report a stream's usage only on request.
    const silent = chat.frames.filter((frame) => !frame.includes("prompt_tokens"));
    world.answer(stream(silent));
    const answer = await world.call(chat, { model: `${chat.model}:first` });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(chat.textOf(body)).toBe(answerText);
    const row = await world.row(answer);
    expect(row.usage_source).toBe("estimated");
    const { inputTokens = 0, outputTokens = 0 } = row.usage!;
    expect(body["usage"]).toMatchObject({
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    });
    expect(outputTokens).toBeGreaterThan(0);
  });
});
