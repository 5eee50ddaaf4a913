/** Fields of the responses endpoint on its direct route. RESP rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { errorCode } from "./endpoints.ts";
import { at, parsed, responses, upstreamModel } from "./protocols.ts";
import { answering, readEvents, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const upstreamRequests = () => [...world.first.requests, ...world.second.requests];

/** Makes a call with these fields. `up` is the upstream's body; undefined if no upstream was called. */
async function send(
  extra: object,
): Promise<{ status: number; text: string; up: Record<string, unknown> | undefined }> {
  world.answer(answering);
  const answer = await world.call(responses, { extra });
  return { status: answer.status, text: await answer.text(), up: upstreamRequests()[0]?.body };
}

async function expectAccepted(fields: readonly object[]): Promise<void> {
  for (const field of fields) {
    const { status, up } = await send(field);
    expect([field, status]).toEqual([field, 200]);
    expect(up).toMatchObject(field);
  }
}

async function expectRefused(fields: readonly object[]): Promise<void> {
  for (const field of fields) {
    const { status, text, up } = await send(field);
    expect([field, status, up]).toEqual([field, 400, undefined]);
    const [name] = Object.keys(field);
    expect(JSON.parse(text)).toMatchObject({
      error: { param: expect.stringContaining(name!) as string },
    });
  }
}

describe("required fields and the model", () => {
  it("RESP-01: a body that is not a JSON object is refused, and so is another Content-Type", async () => {
    expect((await world.call(responses)).status).toBe(200);
    const body = JSON.stringify(responses.body(responses.model, false));
    for (const [type, text, status] of [
      ["application/json; charset=utf-8", body, 200],
      ["text/plain", body, 415],
      ["application/x-www-form-urlencoded", "model=a", 415],
      ["application/json", "{", 400],
      ["application/json", "[]", 400],
      ["application/json", "", 400],
    ] as const) {
      const answer = await world.gateway.post("/v1/responses", text, { "content-type": type });
      expect([type, text, answer.status]).toEqual([type, text, status]);
    }
  });

  it("RESP-02: a body without a valid model is 400", async () => {
    const answer = await world.gateway.post("/v1/responses", { input: "hi" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { param: "model", code: "missing_required_parameter" },
    });
    for (const model of [7, null, ["acme/responses"]]) {
      expect((await world.gateway.post("/v1/responses", { model, input: "hi" })).status).toBe(400);
    }
  });

  it("RESP-03: the model id is vendor/model; an unknown id or one without a vendor is 404", async () => {
    expect((await world.call(responses)).status).toBe(200);
    for (const model of ["responses", "/responses", "acme/", "acme/nothing"]) {
      const answer = await world.call(responses, { model });
      expect([model, answer.status]).toEqual([model, 404]);
      expect(errorCode(await answer.text())).toBe("model_not_found");
    }
  });

  it("RESP-04: provider and strategy suffixes are accepted, and unknown ones are 400", async () => {
    for (const suffix of ["first", "second", "@price", "@latency", "@throughput", "@balanced"]) {
      expect((await world.call(responses, { model: `acme/responses:${suffix}` })).status).toBe(200);
    }
    for (const suffix of ["", "@", "@cheapest", "nobody", "fi rst"]) {
      const answer = await world.call(responses, { model: `acme/responses:${suffix}` });
      expect([suffix, answer.status]).toEqual([suffix, 400]);
    }
  });

  it("RESP-05: the two suffixes combined are 400, and no provider is called", async () => {
    for (const suffix of ["first:@price", "@price:first"]) {
      const answer = await world.call(responses, { model: `acme/responses:${suffix}` });
      expect([answer.status, errorCode(await answer.text())]).toEqual([
        400,
        "invalid_model_suffix",
      ]);
    }
    expect(upstreamRequests()).toHaveLength(0);
  });

  it("RESP-06: a body without input is 400", async () => {
    const answer = await world.gateway.post("/v1/responses", { model: responses.model });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { param: "input", code: "missing_required_parameter" },
    });
    expect(upstreamRequests()).toHaveLength(0);
  });
});

const tool = {
  type: "function",
  name: "look",
  description: "looks",
  parameters: { type: "object", properties: { where: { type: "string" } } },
};

describe("fields", () => {
  it("RESP-10: max_output_tokens is an integer", async () => {
    await expectAccepted([{ max_output_tokens: 16 }]);
    await expectRefused([
      { max_output_tokens: "x" },
      { max_output_tokens: 1.5 },
      { max_output_tokens: 0 },
    ]);
  });

  it("RESP-11 ERR-05: temperature is a number from 0 to 2", async () => {
    await expectAccepted([{ temperature: 0 }, { temperature: 1.3 }, { temperature: 2 }]);
    await expectRefused([{ temperature: 2.1 }, { temperature: -0.1 }, { temperature: "1" }]);
  });

  it("RESP-12: top_p is a number", async () => {
    await expectAccepted([{ top_p: 0.9 }]);
    await expectRefused([{ top_p: "x" }]);
  });

  it("RESP-13: stream is a boolean, and false by default", async () => {
    for (const extra of [{}, { stream: false }, { stream: null }]) {
      const whole = await world.call(responses, { extra });
      expect(whole.headers.get("content-type")).toMatch(/^application\/json/);
      await whole.text();
    }
    const streamed = await world.call(responses, { extra: { stream: true } });
    expect(streamed.headers.get("content-type")).toMatch(/^text\/event-stream/);
    await streamed.text();
    await expectRefused([{ stream: "true" }, { stream: 1 }]);
  });

  it("RESP-14: tools are flat, and reach a responses upstream unchanged", async () => {
    await expectAccepted([{ tools: [tool] }]);
    await expectRefused([{ tools: [{ type: "function" }] }, { tools: tool }]);
  });

  it("RESP-15: tool_choice has four forms", async () => {
    const tools = [tool];
    await expectAccepted([
      { tool_choice: "auto", tools },
      { tool_choice: "none", tools },
      { tool_choice: "required", tools },
      { tool_choice: { type: "function", name: "look" }, tools },
    ]);
    await expectRefused([
      { tool_choice: "maybe", tools },
      { tool_choice: { type: "function" }, tools },
    ]);
  });

  it("RESP-16: parallel_tool_calls is forwarded only with tools, and otherwise reported as dropped", async () => {
    for (const parallel of [true, false]) {
      await expectAccepted([{ parallel_tool_calls: parallel, tools: [tool] }]);
      for (const tools of [{}, { tools: [] }]) {
        const { up, text } = await send({ parallel_tool_calls: parallel, ...tools });
        expect(up).not.toHaveProperty("parallel_tool_calls");
        expect(JSON.parse(text)).toMatchObject({ gw: { droppedParams: ["parallel_tool_calls"] } });
      }
    }
  });

  it("RESP-17 RESP-18: text.format and text.verbosity reach a responses upstream; verbosity has three values", async () => {
    const format = { type: "json_schema", name: "size", schema: { type: "object" }, strict: true };
    await expectAccepted([
      { text: { format } },
      { text: { verbosity: "low" } },
      { text: { verbosity: "medium", format: { type: "json_object" } } },
      { text: { verbosity: "high" } },
    ]);
    await expectRefused([{ text: { verbosity: "loud" } }, { text: { format: { type: "xml" } } }]);
  });

  it("ERR-12 ERR-13: an unknown field is accepted, a bad value of a known field is refused, a field that is always dropped is not checked", async () => {
    expect((await send({ foo: 1 })).status).toBe(200);
    await expectRefused([{ truncation: "sometimes" }]);
    const ownRule = await send({ service_tier: "no such tier", previous_response_id: "resp_1" });
    expect(ownRule.status).toBe(200);
    expect(at(JSON.parse(ownRule.text), "gw", "droppedParams")).toEqual([
      "service_tier",
      "previous_response_id",
    ]);
  });
});

describe("the answer", () => {
  it("RESP-51 RESP-52 RESP-53: has the documented fields, whole and in the stream's last event", async () => {
    const whole: unknown = await (await world.call(responses)).json();
    const events = await readEvents(await world.call(responses, { stream: true }));
    const streamed = at(parsed(events.at(-2)!), "response");
    for (const body of [whole, streamed]) {
      expect(body).toMatchObject({
        id: expect.stringMatching(/./) as string,
        object: "response",
        model: "acme/responses",
        status: "completed",
        output: [{ type: "message", role: "assistant" }],
        usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      });
    }
  });

  it("RESP-53: has the sum as total if the upstream leaves the total out or gets it wrong", async () => {
    for (const total of [undefined, 7]) {
      world.answer(
        json({
          ...responses.whole(),
          usage: { input_tokens: 100, output_tokens: 20, total_tokens: total },
        }),
      );
      const body: unknown = await (await world.call(responses)).json();
      expect(at(body, "usage")).toMatchObject({
        input_tokens: 100,
        output_tokens: 20,
        total_tokens: 120,
      });
    }
  });

  it("RESP-54: is `completed` after a normal end, and `incomplete` with the reason if it was cut off", async () => {
    const cut = {
      ...responses.whole(),
      model: upstreamModel,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    };
    expect(await (await world.call(responses)).json()).toMatchObject({ status: "completed" });
    world.answer(json(cut));
    expect(await (await world.call(responses)).json()).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });
});
