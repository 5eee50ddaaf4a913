/** One cheap test call to a provider: its model and key, and how many run at a time. docs/models.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tryProvider, type TrialOptions } from "../../src/calls/try-provider.ts";
import { createPools, type Pools } from "../../src/upstream/index.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { catalogIn } from "../support/config-text.ts";
import { price, textRow } from "./support.ts";

let pools: Pools;
let upstream: Recorder;
let options: (provider: string, more?: Partial<TrialOptions>) => TrialOptions;
const answer = json({ id: "c1", object: "chat.completion", choices: [] });

beforeAll(async () => {
  pools = createPools();
  upstream = await startRecorder(answer);
  const catalog = catalogIn(configuration(`${upstream.url}/v1`));
  options = (provider, more = {}) => ({
    catalog,
    provider: catalog.providers.get(provider)!,
    ...more,
  });
});
afterAll(async () => {
  await pools.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.answer(answer);
  upstream.requests.length = 0;
});

const configuration = (url: string): string =>
  [
    "providers:",
    ...["many", "vectors", "pictures", "mistral", "nvidia"].map(
      (id) => `  - id: ${id}
    dialect: openai-compatible
    base_url: "${url}"
    credentials: [{ id: one, api_key: key-one }, { id: two, api_key: key-two }]`,
    ),
    "models:",
    textRow("acme/dear", [`provider: many, protocol: chat, ${price("9")}`]),
    textRow("acme/cheap", [`provider: many, protocol: messages, ${price("2")}`]),
    textRow("acme/reply", [`provider: many, protocol: responses, ${price("9")}`]),
    textRow("acme/limited", [`provider: nvidia, protocol: chat, ${price("1")}`]),
    textRow("acme/alike", [`provider: many, protocol: chat, ${price("2")}`]),
    textRow("acme/older", [`provider: mistral, protocol: chat, ${price("2")}`]),
    `  - id: acme/vector
    kind: embedding
    context_length: 8000
    offers: [{ provider: vectors, upstream_model: vec, price: { input: "0.02" } }]`,
    `  - id: acme/paint
    kind: image
    family: image-b
    offers: [{ provider: pictures, upstream_model: up, price: { input: "5", image_input: "8", output: "10", image_output: "40" } }]`,
  ].join("\n");

describe("a test call to a provider", () => {
  it("uses its cheapest text model, the first of equal price, for a few tokens", async () => {
    const trial = await tryProvider(pools, options("many"));
    expect(trial).toMatchObject({ ok: true, model: "acme/cheap", credential: "one", status: 200 });
    const [{ path, body }] = upstream.requests as [Recorder["requests"][number]];
    expect(path).toBe("/v1/messages");
    expect(body).toMatchObject({ model: "up", max_tokens: 16 });
  });

  it("T29: has the vendor's name of the limit, as NVIDIA refuses the other", async () => {
    await tryProvider(pools, options("nvidia"));
    const { body } = upstream.requests[0]!;
    expect(body).toMatchObject({ max_tokens: 16 });
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  it("uses the model and the credential that are named", async () => {
    const trial = await tryProvider(
      pools,
      options("many", { model: "acme/dear", credential: "two" }),
    );
    expect(trial).toMatchObject({ ok: true, model: "acme/dear", credential: "two" });
    expect(upstream.requests[0]!.headers.authorization).toBe("Bearer key-two");
  });

  it("names the maximum of output tokens as the vendor does: Mistral refuses `max_completion_tokens`", async () => {
    await tryProvider(pools, options("mistral"));
    const [{ body }] = upstream.requests as [Recorder["requests"][number]];
    expect(body).toMatchObject({ max_tokens: 16 });
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  it("takes the `error: null` of a response for none", async () => {
    upstream.answer(json({ object: "response", status: "completed", error: null, output: [] }));
    const trial = await tryProvider(pools, options("many", { model: "acme/reply" }));
    expect(trial).toMatchObject({ ok: true, message: "answered" });
  });

  it("embeds one word if the provider has no text model", async () => {
    const trial = await tryProvider(pools, options("vectors"));
    expect(trial).toMatchObject({ ok: true, model: "acme/vector" });
    expect(upstream.requests[0]).toMatchObject({
      path: "/v1/embeddings",
      body: { model: "vec", input: "OK" },
    });
  });

  it.each([
    ["pictures", {}, "model"],
    ["many", { model: "acme/vector" }, "model"],
    ["many", { credential: "three" }, "credential"],
  ])("is refused at %s with %j, as a mistake in the field %s", async (provider, more, param) => {
    await expect(tryProvider(pools, options(provider, more))).rejects.toMatchObject({
      code: "invalid_value",
      param,
    });
    expect(upstream.requests).toEqual([]);
  });
});

describe("test calls to providers", () => {
  it("run eight at a time; the ninth is refused, and finished ones no longer count", async () => {
    for (let round = 0; round < 2; round += 1) {
      upstream.requests.length = 0;
      const { promise: over, resolve } = Promise.withResolvers<void>();
      upstream.answer(async (request, response) => {
        await over;
        await answer(request, response);
      });
      const running = Array.from({ length: 8 }, () => tryProvider(pools, options("vectors")));
      await eventually(() => upstream.requests.length === 8, "eight tests under way");
      await expect(tryProvider(pools, options("vectors"))).rejects.toMatchObject({
        code: "overloaded",
        retryAfterSeconds: 5,
      });
      resolve();
      expect((await Promise.all(running)).map(({ ok }) => ok)).toEqual(Array(8).fill(true));
    }
  });

  it("no longer count after a failure, and their messages contain no key", async () => {
    upstream.answer(json({ error: { message: "No such key: key-one" } }, 401));
    for (let count = 0; count < 9; count += 1) {
      const trial = await tryProvider(pools, options("vectors"));
      expect(trial).toMatchObject({ ok: false, status: 401 });
      expect(trial.message).not.toContain("key-one");
    }
    upstream.answer((_request, response) => void response.destroy());
    for (let count = 0; count < 9; count += 1)
      expect(await tryProvider(pools, options("vectors"))).toMatchObject({
        ok: false,
        status: null,
      });
  });

  it("end at their deadline if they get no answer", async () => {
    upstream.answer(() => undefined);
    const trial = await tryProvider(pools, options("vectors", { deadlineMs: 50 }));
    expect(trial).toMatchObject({ ok: false, status: null });
    expect(trial.message).toContain("within 50 ms");
  });
});
