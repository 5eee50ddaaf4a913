/** A call falls back to another model if no provider of its own can answer. The request or the model names the fallbacks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { errorCode } from "./endpoints.ts";
import { chat, protocols } from "./protocols.ts";
import {
  answering,
  costAtFirstNano,
  costAtSecondNano,
  modelRow,
  readEvents,
  startWorld,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      // These models are at the first provider only, the others at the second.
      ...protocols.map((protocol) =>
        modelRow(`cheap/${protocol.name}`, protocol, {
          providers: ["first"],
          extra: `fallbacks: [dear/${protocol.name}]`,
        }),
      ),
      ...protocols.map((protocol) =>
        modelRow(`dear/${protocol.name}`, protocol, { providers: ["second"] }),
      ),
      modelRow("alone/chat", chat, { providers: ["first"] }),
      modelRow("pinned/chat", chat, { extra: "fallbacks: [dear/chat, acme/chat]" }),
      modelRow("narrow/chat", chat, {
        providers: ["second"],
        extra: "parameters: { temperature: { max: 1 }, seed: false }",
      }),
      ...protocols.map((protocol) =>
        modelRow(`other/${protocol.name}`, protocol, { providers: ["second"] }),
      ),
    ].join("\n"),
  });
});
afterAll(() => world.close());

const failing = json({ error: { message: "we are down", type: "server_error" } }, 503);
beforeEach(() => {
  world.answer(answering);
  world.first.answer(failing);
});

const rowOf = async (response: Response) =>
  (await world.row(response)) as unknown as {
    readonly model: string;
    readonly cost_nano: bigint;
    readonly attempts: readonly { readonly provider: string }[];
  };

describe.each(protocols)("the model's own fallback, $name", (protocol) => {
  it.each([false, true])(
    "answers and is charged at its own price; streamed: %s",
    async (stream) => {
      const before = await world.charged();
      const response = await world.call(protocol, { model: `cheap/${protocol.name}`, stream });
      expect(response.status).toBe(200);
      const row = await rowOf(response);
      expect(row.model).toBe(`dear/${protocol.name}`);
      expect(row.attempts.map(({ provider }) => provider)).toEqual(["first", "second"]);
      expect(row.cost_nano).toBe(costAtSecondNano);
      await expect.poll(() => world.charged()).toBe(before + costAtSecondNano);
    },
  );

  it("is named as the model of the answer, and its stream ends normally", async () => {
    const model = `cheap/${protocol.name}`;
    const whole = await world.call(protocol, { model });
    expect(protocol.modelOf((await whole.json()) as Record<string, unknown>)).toBe(
      `dear/${protocol.name}`,
    );
    const frames = await readEvents(await world.call(protocol, { model, stream: true }));
    expect(protocol.endsNormally(frames)).toBe(true);
  });

  it("is not tried while the model itself answers", async () => {
    world.answer(answering);
    const response = await world.call(protocol, { model: `cheap/${protocol.name}` });
    expect((await rowOf(response)).model).toBe(`cheap/${protocol.name}`);
    expect((await rowOf(response)).cost_nano).toBe(costAtFirstNano);
  });
});

describe("a provider that the request names", () => {
  const model = "pinned/chat:first";

  it("ROUTE-02: is the only one that is tried, for the model's own fallbacks too", async () => {
    const response = await world.call(chat, { model });
    expect(response.status).toBe(503);
    expect(world.second.requests).toEqual([]);
    const { attempts } = await rowOf(response);
    expect(new Set(attempts.map(({ provider }) => provider))).toEqual(new Set(["first"]));
  });

  it("ROUTE-02: does not restrict the request's own list of fallbacks", async () => {
    const response = await world.call(chat, { model, extra: { models: ["dear/chat"] } });
    expect([response.status, (await rowOf(response)).model]).toEqual([200, "dear/chat"]);
  });

  it("ROUTE-02: can be followed by the same model at another provider", async () => {
    const extra = { models: ["pinned/chat:second"] };
    const response = await world.call(chat, { model, extra });
    expect(response.status).toBe(200);
    const { model: answered, attempts } = await rowOf(response);
    expect(answered).toBe("pinned/chat");
    expect(attempts.map(({ provider }) => provider)).toEqual(["first", "second"]);
  });
});

describe("fallbacks of a request", () => {
  it("are read from the field `models` of chat, which is not forwarded", async () => {
    const extra = { models: ["alone/chat", "dear/chat"] };
    const response = await world.call(chat, { model: "alone/chat", extra });
    expect(response.status).toBe(200);
    expect((await rowOf(response)).model).toBe("dear/chat");
    expect(world.second.requests.at(-1)!.body).not.toHaveProperty("models");
    expect(await response.json()).not.toHaveProperty("gw");
  });

  it.each(protocols)(
    "are read from a header for $name, and replace the model's own fallbacks",
    async (protocol) => {
      const model = `cheap/${protocol.name}`;
      const headers = { "x-gw-fallback-models": ` other/${protocol.name} , ${model}` };
      const response = await world.call(protocol, { model, headers });
      expect(response.status).toBe(200);
      expect((await rowOf(response)).model).toBe(`other/${protocol.name}`);
      const none = await world.call(protocol, { model, headers: { "x-gw-fallback-models": "," } });
      expect(none.status).toBe(503);
    },
  );

  it("are refused if the key may not call them, or if they do not exist", async () => {
    const { key } = await world.makeKey({ modelAllowlist: ["alone/chat", "dear/chat"] });
    const call = (models: unknown) =>
      world.call(chat, { model: "alone/chat", key, extra: { models } });
    const refusalOf = async (response: Response) => {
      const text = await response.text();
      const { error } = JSON.parse(text) as { error: { param: string } };
      return [response.status, errorCode(text), error.param];
    };
    expect(await refusalOf(await call(["cheap/chat"]))).toEqual([
      403,
      "model_not_allowed",
      "models",
    ]);
    expect(await refusalOf(await call(["no/such"]))).toEqual([404, "model_not_found", "models"]);
    expect(await refusalOf(await call([7]))).toEqual([400, "invalid_type", "models[0]"]);
    expect((await refusalOf(await call(["alone/chat:@price", "a/b"])))[0]).toBe(404);
    expect((await call(["dear/chat"])).status).toBe(200);
    const both = { "x-gw-fallback-models": "dear/chat" };
    const twice = await world.call(chat, {
      model: "alone/chat",
      headers: both,
      extra: { models: ["dear/chat"] },
    });
    expect(twice.status).toBe(400);
  });

  it("from the configuration are left out if the key may not call them", async () => {
    const { key } = await world.makeKey({ modelAllowlist: ["cheap/chat"] });
    const response = await world.call(chat, { model: "cheap/chat", key });
    expect(response.status).toBe(503);
    expect((await rowOf(response)).attempts.every(({ provider }) => provider === "first")).toBe(
      true,
    );
  });

  it("are skipped if they cannot take the request, and lose only the parameters that they lack", async () => {
    const call = (extra: object) =>
      world.call(chat, {
        model: "alone/chat",
        extra: { models: ["narrow/chat", "dear/chat"], ...extra },
      });
    expect((await rowOf(await call({ temperature: 1.5 }))).model).toBe("dear/chat");
    const narrow = await call({ seed: 7 });
    expect((await rowOf(narrow)).model).toBe("narrow/chat");
    expect(world.second.requests.at(-1)!.body).not.toHaveProperty("seed");
    expect(await narrow.json()).toMatchObject({ gw: { droppedParams: ["seed"] } });
  });

  it("count in the reservation: money for the first model alone is not enough", async () => {
    world.answer(answering);
    // 250 tokens at 10,000 nano-USD each, and twice as much at `dear/chat`.
    const spendCaps = { totalNano: 4_000_000n, hard: true };
    const { key } = await world.makeKey({ spendCaps });
    const call = (extra: object) =>
      world.call(chat, { model: "alone/chat", key, extra: { max_tokens: 250, ...extra } });
    const refused = await call({ models: ["dear/chat"] });
    expect([refused.status, errorCode(await refused.text())]).toEqual([
      402,
      "key_total_spend_cap_reached",
    ]);
    expect((await call({})).status).toBe(200);
  });
});
