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
  vendor.answer(json({ data: picturesOf(1) }));
});

const picturesOf = (count: number) => Array.from({ length: count }, () => ({ b64_json: picture }));
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

describe("the choice of the vendor", () => {
  it.each(["first", "second"])("TIMG1-02: the suffix :%s pins the provider", async (name) => {
    for (const files of [undefined, { image: await plain() }]) {
      vendor.requests.length = 0;
      const task = await run({ model: `acme/pictures:${name}` }, files);
      expect(task).toMatchObject({ status: "succeeded", model: "acme/pictures" });
      expect(pathsOf()).toEqual([`/${name}/v1/images/${files ? "edits" : "generations"}`]);
    }
  });

  it("TIMG1-02: a pinned provider without the model is refused with 400", async () => {
    const answer = await bench.send("POST", "/v1/tasks", {
      body: { model: "acme/pictures:third", prompt },
    });
    expect(answer.status).toBe(400);
    expect(vendor.requests).toEqual([]);
  });

  it("T75: an edit fails over to the other provider, with that provider's key and model and with all pictures", async () => {
    vendor.answer((request, response) =>
      vendor.requests.length === 1
        ? json({ error: "overloaded" }, 503)(request, response)
        : json({ data: picturesOf(1) })(request, response),
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

describe("the charge of an image task", () => {
  it("BILL-09: covers three pictures if three of four requested ones are delivered", async () => {
    vendor.answer(json({ data: picturesOf(3) }));
    const before = await bench.available();
    const task = await run({ model: "acme/pictures", n: 4, quality: "medium" });
    expect(task.output.images.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(task).toMatchObject({ usage: { output_images: 3, input_images: 0 }, cost: "0.09" });
    expect(before - (await bench.available())).toBe(parseUsd("0.09"));
  });

  it("BILL-09: covers no more pictures than requested, and extra ones are not stored", async () => {
    vendor.answer(json({ data: picturesOf(5) }));
    const task = await run({ model: "acme/pictures", n: 2 });
    expect(task.output.images).toHaveLength(2);
    expect(task).toMatchObject({ usage: { output_images: 2 }, cost: "0.02" });
  });

  it("BILL-09: leaves out a picture that the vendor withholds", async () => {
    const withheld = { b64_json: picture, respect_moderation: false };
    vendor.answer(json({ data: [...picturesOf(1), withheld] }));
    const task = await run({ model: "acme/pictures", n: 2 });
    expect(task).toMatchObject({ usage: { output_images: 1 }, cost: "0.01" });
  });

  it("BILL-09: counts the delivered pictures if the vendor reports no tokens", async () => {
    const costs: number[] = [];
    for (const count of [4, 3]) {
      vendor.answer(json({ data: picturesOf(count) }));
      const fields = { model: "acme/tokens", n: 4, size: "1024x1024", quality: "high" };
      const { usage, cost } = await run(fields);
      expect(usage["output_tokens"]).toBe(count * 4160);
      costs.push(Number(cost));
    }
    expect(costs[0]! - costs[1]!).toBeCloseTo((4160 * 30) / 1_000_000, 9);
  });

  it("BILL-09 IMG-25: uses the size and quality that the vendor chose if it reports no tokens", async () => {
    vendor.answer(json({ data: picturesOf(1), quality: "low" }));
    expect((await run({ model: "acme/tokens" })).usage["output_tokens"]).toBe(2);
  });

  it("T55: has its own rate for each kind of token", async () => {
    const usage = {
      input_tokens: 1100,
      output_tokens: 10_010,
      total_tokens: 11_110,
      input_tokens_details: { text_tokens: 100, image_tokens: 1000 },
      output_tokens_details: { text_tokens: 10, image_tokens: 10_000 },
    };
    vendor.answer(json({ data: picturesOf(1), usage }));
    const task = await run({ model: "acme/tokens" }, { image: await plain() });
    // (100 x 5 + 1000 x 8 + 10 x 10 + 10000 x 30) / 1000000
    expect(task).toMatchObject({
      cost: "0.3086",
      usage: { input_tokens: 1100, output_tokens: 10_010, total_tokens: 11_110 },
    });
  });

  it("T55: counts the rest of the total as the other kind if the details name only one kind", async () => {
    const usage = {
      input_tokens: 1100,
      output_tokens: 10_010,
      input_tokens_details: { text_tokens: 100 },
      output_tokens_details: { image_tokens: 10_000 },
    };
    vendor.answer(json({ data: picturesOf(1), usage }));
    const task = await run({ model: "acme/tokens" }, { image: await plain() });
    expect(task).toMatchObject({
      cost: "0.3086",
      usage: { input_tokens: 1100, output_tokens: 10_010 },
    });
  });

  it("T55: counts output tokens without details as image tokens", async () => {
    vendor.answer(json({ data: picturesOf(1), usage: { input_tokens: 100, output_tokens: 1000 } }));
    expect((await run({ model: "acme/tokens" })).cost).toBe("0.0305");
  });

  it("T56: is not zero because of zeros in the usage details", async () => {
    const zeros = { text_tokens: 0, image_tokens: 0 };
    const details = { input_tokens_details: zeros, output_tokens_details: zeros };
    const usage = { input_tokens: 100, output_tokens: 1000, ...details };
    vendor.answer(json({ data: picturesOf(1), usage }));
    expect((await run({ model: "acme/tokens" })).cost).toBe("0.0305");
  });

  it.each([
    ["no picture", { data: [] }, "upstream_error"],
    ["something else than a picture", { data: [{ b64_json: "AAAA" }] }, "artifact_unavailable"],
    [
      "only a withheld picture",
      { data: [{ respect_moderation: false }] },
      "content_policy_violation",
    ],
  ])(
    "BILL-05: is zero if the vendor returns %s, and the task fails",
    async (_what, answer, code) => {
      vendor.answer(json(answer));
      const before = await bench.available();
      const task = await run({ model: "acme/pictures", n: 2 });
      expect(task).toMatchObject({ status: "failed", cost: "0", error: { code } });
      expect(await bench.available()).toBe(before);
      expect(vendor.requests).toHaveLength(1);
    },
  );
});

describe("the text of a vendor's answer", () => {
  it("T81: is described but not quoted in the error if it is unusable, and no vendor is asked again", async () => {
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

  it("has our key masked in the task, its attempts and the request log", async () => {
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

describe("a vendor that streams without being asked", () => {
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

  it("T81: may refuse the prompt in an event", async () => {
    streamed({ type: "error", error: { code: "moderation_blocked", message: "Unsafe." } });
    const { status, error } = await run({ model: "acme/tokens" });
    expect([status, error]).toEqual([
      "failed",
      { code: "content_policy_violation", message: "Unsafe." },
    ]);
  });
});

describe("a slow or large answer", () => {
  const after = (ms: number, count: number) =>
    vendor.answer(async (request, response) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      await json({ data: picturesOf(count) })(request, response);
    });

  it("may take one first-byte timeout for each picture, and one more", async () => {
    after(1500, 4);
    expect((await run({ model: "acme/tokens", n: 4 })).status).toBe("succeeded");
    after(1500, 1);
    const before = await bench.available();
    const task = await run({ model: "acme/tokens" });
    expect(task).toMatchObject({ status: "failed", error: { code: "submission_uncertain" } });
    expect(await bench.available()).toBe(before);
  });

  it("may hold ten pictures of 15 MB", async () => {
    const large = padded(await plain(), 15_000_000).toString("base64");
    vendor.answer(json({ data: Array.from({ length: 10 }, () => ({ b64_json: large })) }));
    const task = await run({ model: "acme/pictures", n: 10 });
    expect(task.status).toBe("succeeded");
    const last = await fetch(task.output.images.at(-1)!.url, { method: "HEAD" });
    expect(last.headers.get("content-length")).toBe("15000000");
  });
});

describe("a callback", () => {
  it.each([
    ["TIMG1-23", "acme/pictures", 1, "succeeded"],
    ["TIMG2-28", "acme/tokens", 1, "succeeded"],
    ["TIMG1-23", "acme/pictures", 0, "failed"],
    ["TIMG2-28", "acme/tokens", 0, "failed"],
  ] as const)(
    "%s: %s posts the end of a task to webhook_url once",
    async (_id, model, count, status) => {
      vendor.answer(json({ data: picturesOf(count) }));
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
    },
  );
});
