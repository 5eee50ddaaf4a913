// Image tasks at vendors that the sandbox does not simulate: several providers of one model, answers with fewer pictures than
// requested, and exact token usage.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { padded } from "../task-http/upload-support.ts";
import { startReceiver } from "../webhooks/support.ts";
import { json, sse, startRecorder, type Recorder } from "../support/recorder.ts";
import { formOf, plain, startImages, type Fields, type Files, type ImageBench } from "./support.ts";
import type { TaskBody } from "../task-http/support.ts";

let vendor: Recorder;
let bench: ImageBench;
let picture: string;

const tiers = `{ low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }`;
const configuration = (url: string) => `
providers:
  - { id: first, dialect: xai, base_url: "${url}/first/v1", api_key: key-of-first, tier: official }
  - { id: second, dialect: xai, base_url: "${url}/second/v1", api_key: key-of-second, tier: official }
  - id: third
    dialect: openai-compatible
    base_url: "${url}/third/v1"
    api_key: key-of-third
    tier: official
    timeouts: { first_byte_s: 0.4 }
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - { provider: first, upstream_model: one, price: { output_image: ${tiers}, input_image: "0.001" } }
      - { provider: second, upstream_model: two, price: { output_image: ${tiers}, input_image: "0.001" } }
  - id: acme/tokens
    kind: image
    family: task-image-2
    offers:
      - { provider: third, upstream_model: three, price: { input: "5", image_input: "8", output: "10", image_output: "30" } }
`;

beforeAll(async () => {
  picture = (await plain()).toString("base64");
  vendor = await startRecorder(json({}));
  bench = await startImages({
    config: configuration(vendor.url),
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
  await bench.credit("100");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});
beforeEach(() => {
  vendor.requests.length = 0;
  vendor.answer(json({ data: made(1) }));
});

const made = (count: number) => Array.from({ length: count }, () => ({ b64_json: picture }));
const prompt = "A boat";

/** Makes a task and waits for its end, without reading a journal. */
async function run(fields: Fields, files?: Files): Promise<TaskBody> {
  const body = files ? formOf({ prompt, ...fields }, files) : { prompt, ...fields };
  const headers = { prefer: "wait=20" };
  const task = (await (
    await bench.send("POST", "/v1/tasks", { body, headers })
  ).json()) as TaskBody;
  return bench.until(task.id, "succeeded", "failed");
}
const pathsOf = () => vendor.requests.map(({ path }) => path);

describe("which vendor", () => {
  it.each(["first", "second"])("TIMG1-02: the suffix :%s pins the provider", async (name) => {
    for (const files of [undefined, { image: await plain() }]) {
      vendor.requests.length = 0;
      const task = await run({ model: `acme/pictures:${name}` }, files);
      expect(task).toMatchObject({ status: "succeeded", model: "acme/pictures" });
      expect(pathsOf()).toEqual([`/${name}/v1/images/${files ? "edits" : "generations"}`]);
    }
  });

  it("TIMG1-02: a provider that does not have the model is refused", async () => {
    const answer = await bench.send("POST", "/v1/tasks", {
      body: { model: "acme/pictures:third", prompt },
    });
    expect(answer.status).toBe(400);
    expect(vendor.requests).toEqual([]);
  });

  it("T75: an edit goes on to the other provider, with its own key, its own model and all pictures anew", async () => {
    vendor.answer((request, response) =>
      vendor.requests.length === 1
        ? json({ error: "overloaded" }, 503)(request, response)
        : json({ data: made(1) })(request, response),
    );
    const files = { "image[]": [await plain(), await plain({ format: "jpeg" })] };
    const task = await run({ model: "acme/pictures" }, files);
    expect(task).toMatchObject({ status: "succeeded", cost: "0.012" });
    const asked = vendor.requests.map(({ path, headers, body }) => ({
      provider: path.split("/")[1],
      key: headers.authorization,
      model: body["model"],
    }));
    expect(new Set(asked.map(({ provider }) => provider))).toEqual(new Set(["first", "second"]));
    expect(asked).toHaveLength(2);
    for (const { provider, key, model } of asked)
      expect([key, model]).toEqual([
        `Bearer key-of-${provider}`,
        provider === "first" ? "one" : "two",
      ]);
    const [one, two] = vendor.requests.map(({ body }) => body["images"]);
    expect(two).toEqual(one);
    expect(one).toHaveLength(2);
  });
});

describe("what is billed", () => {
  it("BILL-09: of four pictures that were asked for three are delivered, and paid for", async () => {
    vendor.answer(json({ data: made(3) }));
    const before = await bench.available();
    const task = await run({ model: "acme/pictures", n: 4, quality: "medium" });
    expect(task.output.images.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(task).toMatchObject({ usage: { output_images: 3, input_images: 0 }, cost: "0.09" });
    expect(before - (await bench.available())).toBe(parseUsd("0.09"));
  });

  it("BILL-09: more than was asked for is neither kept nor paid for", async () => {
    vendor.answer(json({ data: made(5) }));
    const task = await run({ model: "acme/pictures", n: 2 });
    expect(task.output.images).toHaveLength(2);
    expect(task).toMatchObject({ usage: { output_images: 2 }, cost: "0.02" });
  });

  it("BILL-09: a picture that the vendor withholds is not paid for", async () => {
    const withheld = { b64_json: picture, respect_moderation: false };
    vendor.answer(json({ data: [...made(1), withheld] }));
    const task = await run({ model: "acme/pictures", n: 2 });
    expect(task).toMatchObject({ usage: { output_images: 1 }, cost: "0.01" });
  });

  it("BILL-09: a vendor that tells nothing of tokens is paid for the pictures it delivered", async () => {
    const costs: number[] = [];
    for (const count of [4, 3]) {
      vendor.answer(json({ data: made(count) }));
      const fields = { model: "acme/tokens", n: 4, size: "1024x1024", quality: "high" };
      const { usage, cost } = await run(fields);
      expect(usage["output_tokens"]).toBe(count * 4160);
      costs.push(Number(cost));
    }
    expect(costs[0]! - costs[1]!).toBeCloseTo((4160 * 30) / 1_000_000, 9);
  });

  it("BILL-09 IMG-25: the size and quality that were left to such a vendor are paid as they became", async () => {
    vendor.answer(json({ data: made(1), quality: "low" }));
    expect((await run({ model: "acme/tokens" })).usage["output_tokens"]).toBe(2);
  });

  it("T55: each kind of token has its own rate", async () => {
    const usage = {
      input_tokens: 1100,
      output_tokens: 10_010,
      total_tokens: 11_110,
      input_tokens_details: { text_tokens: 100, image_tokens: 1000 },
      output_tokens_details: { text_tokens: 10, image_tokens: 10_000 },
    };
    vendor.answer(json({ data: made(1), usage }));
    const task = await run({ model: "acme/tokens" }, { image: await plain() });
    // (100 x 5 + 1000 x 8 + 10 x 10 + 10000 x 30) / 1000000
    expect(task).toMatchObject({
      cost: "0.3086",
      usage: { input_tokens: 1100, output_tokens: 10_010, total_tokens: 11_110 },
    });
  });

  it("T55: where details name one kind of token only, the rest of the total is the other", async () => {
    const usage = {
      input_tokens: 1100,
      output_tokens: 10_010,
      input_tokens_details: { text_tokens: 100 },
      output_tokens_details: { image_tokens: 10_000 },
    };
    vendor.answer(json({ data: made(1), usage }));
    const task = await run({ model: "acme/tokens" }, { image: await plain() });
    expect(task).toMatchObject({
      cost: "0.3086",
      usage: { input_tokens: 1100, output_tokens: 10_010 },
    });
  });

  it("T55: without details what comes out is pictures", async () => {
    vendor.answer(json({ data: made(1), usage: { input_tokens: 100, output_tokens: 1000 } }));
    expect((await run({ model: "acme/tokens" })).cost).toBe("0.0305");
  });

  it("T56: zeros that a program wrote where it knew nothing make no picture free", async () => {
    const zeros = { text_tokens: 0, image_tokens: 0 };
    const details = { input_tokens_details: zeros, output_tokens_details: zeros };
    const usage = { input_tokens: 100, output_tokens: 1000, ...details };
    vendor.answer(json({ data: made(1), usage }));
    expect((await run({ model: "acme/tokens" })).cost).toBe("0.0305");
  });

  it.each([
    ["no picture", { data: [] }, "upstream_error"],
    ["what is no picture", { data: [{ b64_json: "AAAA" }] }, "artifact_unavailable"],
    [
      "only what it withholds",
      { data: [{ respect_moderation: false }] },
      "content_policy_violation",
    ],
  ])("BILL-05: %s is a failure, and costs nothing", async (_what, answer, code) => {
    vendor.answer(json(answer));
    const before = await bench.available();
    const task = await run({ model: "acme/pictures", n: 2 });
    expect(task).toMatchObject({ status: "failed", cost: "0", error: { code } });
    expect(await bench.available()).toBe(before);
    expect(vendor.requests).toHaveLength(1);
  });
});

describe("what a vendor says", () => {
  it("T81: of an answer that cannot be used the task tells what was wrong, and nobody is asked again", async () => {
    vendor.answer((_request, response) => void response.writeHead(200).end("<html>private</html>"));
    const { status, error } = await run({ model: "acme/pictures:first" });
    expect({ status, code: error?.code }).toEqual({
      status: "failed",
      code: "submission_uncertain",
    });
    expect(error?.message).toMatch(
      /cannot be used: it is 20 bytes that are no JSON object\. It is not/,
    );
    expect(vendor.requests).toHaveLength(1);
  });

  it("our key in its words is masked in the task, its attempts and the request log", async () => {
    const message = "Bad size for key-of-first, or key-o***irst";
    vendor.answer(json({ error: message, code: "Client specified an invalid argument" }, 400));
    const { id, error } = await run({ model: "acme/pictures:first" });
    expect(error?.message).toBe("Bad size for [credential], or [credential]");
    const rows = await bench.database.query(
      "select attempts::text, error::text from tasks where id = $1",
      [id],
    );
    expect(JSON.stringify(rows)).toContain("[credential]");
    expect(JSON.stringify(rows)).not.toContain("key-o");
    await expect
      .poll(async () =>
        JSON.stringify(
          await bench.database.query("select attempts::text from request_log where id = $1", [id]),
        ),
      )
      .toContain("[credential]");
  });
});

describe("a vendor that streams though nobody asked", () => {
  const streamed = (...events: object[]) =>
    vendor.answer(sse(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")));
  const usage = { input_tokens: 100, output_tokens: 1000 };

  it.each(["acme/tokens", "acme/pictures:first"])(
    "STORE-01: is read to its end: %s",
    async (model) => {
      const type = "image_generation.completed";
      streamed({ type: "ping" }, { type, b64_json: picture, usage });
      const cost = model === "acme/tokens" ? "0.0305" : "0.01";
      expect(await run({ model })).toMatchObject({ status: "succeeded", cost });
      expect(vendor.requests).toHaveLength(1);
    },
  );

  it("T81: tells in it that the prompt is refused", async () => {
    streamed({ type: "error", error: { code: "moderation_blocked", message: "Unsafe." } });
    const { status, error } = await run({ model: "acme/tokens" });
    expect([status, error]).toEqual([
      "failed",
      { code: "content_policy_violation", message: "Unsafe." },
    ]);
  });
});

describe("answers that take long, or are large", () => {
  const after = (ms: number, count: number) =>
    vendor.answer(async (request, response) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      await json({ data: made(count) })(request, response);
    });

  it("a vendor has the time of a first byte for each picture, and once more", async () => {
    after(1500, 4);
    expect((await run({ model: "acme/tokens", n: 4 })).status).toBe("succeeded");
    after(1500, 1);
    const before = await bench.available();
    const task = await run({ model: "acme/tokens" });
    expect(task).toMatchObject({ status: "failed", error: { code: "submission_uncertain" } });
    expect(await bench.available()).toBe(before);
  });

  it("ten pictures of 15 MB come through", async () => {
    const large = padded(await plain(), 15_000_000).toString("base64");
    vendor.answer(json({ data: Array.from({ length: 10 }, () => ({ b64_json: large })) }));
    const task = await run({ model: "acme/pictures", n: 10 });
    expect(task.status).toBe("succeeded");
    const last = await fetch(task.output.images.at(-1)!.url, { method: "HEAD" });
    expect(last.headers.get("content-length")).toBe("15000000");
  });
});

describe("callbacks", () => {
  it.each([
    ["TIMG1-23", "acme/pictures", 1, "succeeded"],
    ["TIMG2-28", "acme/tokens", 1, "succeeded"],
    ["TIMG1-23", "acme/pictures", 0, "failed"],
    ["TIMG2-28", "acme/tokens", 0, "failed"],
  ] as const)("%s: %s posts its end to webhook_url once", async (_id, model, count, status) => {
    vendor.answer(json({ data: made(count) }));
    const receiver = await startReceiver();
    for (const files of [undefined, { image: await plain() }]) {
      receiver.received.length = 0;
      const task = await run({ model, webhook_url: receiver.url }, files);
      expect(task.status).toBe(status);
      await expect.poll(() => receiver.received.length).toBe(1);
      expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
        id: expect.any(String) as string,
        type: `task.${status}`,
        data: { id: task.id, status },
      });
      await bench.read(task.id);
      expect(receiver.received).toHaveLength(1);
    }
  });
});
