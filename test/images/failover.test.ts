// Failover of image calls: the next vendor gets the whole request with its own model and key. An unknown outcome is not retried,
// callers' errors do not fail over, and no failure leaves anything behind.
import { brotliCompressSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { steadyHealthRules } from "../support/steady-health.ts";
import { json, type Answer } from "../support/recorder.ts";
import {
  maskOf,
  picture,
  prompted,
  sha256,
  shapeOf,
  type Bytes,
  type Fields,
  type ImageAnswer,
  type Sent,
} from "./support.ts";
import { generating, startVendors, twoOffers } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
let image: Bytes;
let mask: Bytes;
beforeAll(async () => {
  vendors = await startVendors({
    timeouts: "{ connect_s: 2, first_byte_s: 1, idle_s: 1 }",
    health: steadyHealthRules,
  });
  [image, mask] = await Promise.all([picture(), maskOf()]);
});
afterAll(() => vendors.close());
beforeEach(() => vendors.answer(json({ error: { message: "no" } }, 500)));

const edit = (prompt: string, fields: Fields = {}) =>
  vendors.bench.edit({ model: twoOffers, prompt, ...fields }, { "image[]": [image, image], mask });

async function requestsToSecond(prompt: string): Promise<Sent[]> {
  const url = `${vendors.sandboxUrl}/__journal?contains=${encodeURIComponent(prompt.split("\n")[0]!)}`;
  return ((await (await fetch(url)).json()) as { data: Sent[] }).data;
}

const errorIn = async (response: Response) =>
  ((await response.json()) as { error: { message: string; code: string; param: string | null } })
    .error;

const hangUp: Answer = (_request, response) => void response.destroy();
const hang: Answer = () => undefined;
const finalRefusal: Answer = (_request, response) =>
  void response
    .writeHead(503, { "content-type": "application/json", "x-should-retry": "false" })
    .end(JSON.stringify({ error: { message: "The gateway stops.", code: "shutting_down" } }));
const raw =
  (status: number, body: string, type = "application/json"): Answer =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": type }).end(body);

describe("a vendor that refuses for its own reasons", () => {
  it.each([401, 403, 429, 500, 503])(
    "T75: is followed after %i by the next vendor, at its own address, with its own key and all files",
    async (status) => {
      vendors.answer(json({ error: { message: "not now" } }, status));
      for (const stream of ["false", "true"]) {
        const prompt = prompted();
        const answer = await edit(prompt, { stream });
        expect(answer.status).toBe(200);
        const text = await answer.text();
        expect(text).toContain('"provider":"second"');
        const [sent, ...more] = await requestsToSecond(prompt);
        expect(more).toEqual([]);
        expect(sent!.path).toBe("/openai/v1/images/edits");
        expect(sent!.headers["authorization"]).toBe("Bearer sandbox");
        const files = sent!.body["image[]"] as { sha256: string }[];
        expect(files.map(({ sha256: hash }) => hash)).toEqual([sha256(image), sha256(image)]);
        expect(sent!.body["mask"]).toMatchObject({ sha256: sha256(mask) });
      }
      expect(vendors.first.requests.map(({ path }) => path)).toEqual([
        "/one/v1/images/edits",
        "/one/v1/images/edits",
      ]);
      const [asked] = vendors.first.requests;
      expect(asked!.headers.authorization).toBe("Bearer key-of-first");
    },
  );

  it("T75: is not paid: the charge is the price of the vendor that made the picture", async () => {
    const before = await vendors.bench.state();
    const answer = (await (await edit(prompted())).json()) as ImageAnswer;
    const { chargedNano } = await vendors.bench.state();
    expect(chargedNano - before.chargedNano).toBe(BigInt(answer.usage.total_tokens) * 2_000n);
    expect(answer.gw!.cost_nano).toBe(String(chargedNano - before.chargedNano));
  });

  it("is reported if it is the last one, without its words about our account", async () => {
    vendors.answer(json({ error: { message: "Your key sk-123 is wrong" } }, 401));
    const answer = await vendors.bench.generate({ model: generating });
    expect(answer.status).toBe(502);
    expect(JSON.stringify(await errorIn(answer))).not.toContain("sk-123");
  });
});

describe("an unusable answer", () => {
  const coded =
    (coding: string): Answer =>
    (_request, response) =>
      void response.writeHead(200, { "content-encoding": coding }).end("abc");
  it.each([
    ["a page", raw(200, "<html>", "text/html"), /it is 6 bytes that are no JSON object/],
    ["an empty body", raw(200, "", "application/json"), /it is empty/],
    ["another object", json({ hello: 1 }), /it is JSON without what was asked for/],
    ["no picture", json({ data: [{ b64_json: "bm8gcGljdHVyZQ==" }] }), /no PNG, JPEG or WebP/],
    ["an unknown coding", coded("rot13"), /Content-Encoding "rot13"/],
    ["invalid gzip", coded("gzip"), /no valid gzip/],
  ])(
    "T81: %s: the caller gets the reason, and no vendor is asked again",
    async (_what, answer, said) => {
      vendors.answer(answer);
      const reply = await vendors.bench.generate({ model: generating });
      expect(reply.status).toBe(502);
      expect((await reply.text()).replaceAll("\\", "")).toMatch(said);
      expect(vendors.first.requests).toHaveLength(1);
    },
  );

  it.each([
    [404, 1],
    [503, 1],
    // More failures than fit into three seconds of retries.
    [503, 8],
  ])(
    "STORE-01: a picture whose address answers %i at first (%i times) is fetched again, without another vendor request",
    async (status, times) => {
      const file = await picture();
      let fetched = 0;
      vendors.answer((request, response) => {
        if (request.method === "POST")
          return json({ data: [{ url: `${vendors.first.url}/made.png` }] })(request, response);
        fetched += 1;
        if (fetched <= times) return void response.writeHead(status).end();
        response.writeHead(200, { "content-length": file.length }).end(file);
      });
      const answer = await vendors.bench.generate({ model: generating });
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as ImageAnswer).data[0]!.b64_json).toBe(
        Buffer.from(file).toString("base64"),
      );
      expect(vendors.first.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    },
  );

  it("IMG-20 IMG-25: a PNG with data between its size and its pixels is accepted", async () => {
    const file = await picture();
    // OpenAI writes about 70 kB of origin metadata there.
    const origin = Buffer.concat([Buffer.from("00012844", "hex"), Buffer.from("caBX"), file]);
    const base64 = Buffer.concat([file.subarray(0, 33), origin]).toString("base64");
    vendors.answer(json({ data: [{ b64_json: base64 }] }));
    const reply = await vendors.bench.generate({ model: generating });
    expect(reply.status).toBe(200);
    const { width, height } = await sharp(file).metadata();
    const made = { size: `${width}x${height}`, output_format: "png" };
    expect(await reply.json()).toMatchObject({ data: [{ b64_json: base64 }], ...made });
  });

  it("a compressed answer is decompressed", async () => {
    const base64 = (await picture()).toString("base64");
    vendors.answer((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("gzip, br, zstd");
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "br" });
      response.end(brotliCompressSync(`\ufeff${JSON.stringify({ data: [{ b64_json: base64 }] })}`));
    });
    const reply = await vendors.bench.generate({ model: generating });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ data: [{ b64_json: base64 }] });
  });

  it("a refusal that echoes our key is passed on without it", async () => {
    const error = { message: "Bad size for key-of-first, or key-o***irst", param: "key-of-first" };
    vendors.answer(json({ error }, 400));
    const reply = await vendors.bench.generate({ model: generating });
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain("Bad size for [credential], or [credential]");
  });
});

describe("an unknown outcome", () => {
  it.each([
    ["hangs up", hangUp, 502],
    ["falls silent", hang, 504],
    ["is behind a gateway that timed out", json({ error: { message: "timed out" } }, 504), 504],
    // As another Tollgate does when it stops, or cannot store the picture.
    ["says not to repeat it", finalRefusal, 503],
    ["answers with a page", raw(200, "<html>", "text/html"), 502],
    ["answers with broken JSON", raw(200, '{"data":[{"b64'), 502],
    ["answers without a picture", json({ data: [] }), 502],
    ["answers with something else", json({ data: [{ b64_json: "bm8gcGljdHVyZQ==" }] }), 502],
  ])(
    "T81, BILL-22: a call to a vendor that %s is not repeated elsewhere, and nothing is charged",
    async (_name, answer, status) => {
      vendors.answer(answer);
      const before = await vendors.bench.state();
      const prompt = prompted();
      const reply = await edit(prompt);
      expect(reply.status).toBe(status);
      expect(reply.headers.get("x-should-retry")).toBe("false");
      expect(vendors.first.requests).toHaveLength(1);
      expect(await requestsToSecond(prompt)).toEqual([]);
      expect(await vendors.bench.state()).toEqual(before);
    },
  );
});

describe("the caller's own mistake", () => {
  it.each([
    ["no code", { type: "invalid_request_error", param: "size", code: null }, "upstream_rejected"],
    ["a code", { type: "invalid_request_error", param: "size", code: "bad_size" }, "bad_size"],
  ])(
    "an error that a vendor reports with %s has the vendor's code or ours, never the error's class",
    async (_name, own, code) => {
      const message = "This size is not supported.";
      vendors.answer(json({ error: { message, ...own } }, 400));
      const answer = await edit(prompted());
      expect(await answer.json()).toEqual({ error: { ...own, message, code } });
    },
  );

  it("ERR-01: is reported in the vendor's words, not retried elsewhere and not charged", async () => {
    const error = {
      message: "Invalid image file or mode for image 1.",
      type: "image_generation_user_error",
      param: "image",
      code: "invalid_image_file",
    };
    vendors.answer(json({ error }, 400));
    const before = await vendors.bench.state();
    const prompt = prompted();
    const answer = await edit(prompt);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: { ...error, type: "invalid_request_error" } });
    expect(await requestsToSecond(prompt)).toEqual([]);
    expect(await vendors.bench.state()).toEqual(before);
  });

  it("keeps the vendor's code if it is a matter of moderation", async () => {
    const message = "Your request was rejected. safety_violations=[violence]";
    vendors.answer(json({ error: { message, code: "moderation_blocked" } }, 400));
    expect(await errorIn(await edit(prompted()))).toMatchObject({
      message,
      code: "moderation_blocked",
    });
  });
});

describe("a field that a vendor leaves out or gets wrong", () => {
  it("IMG-23, IMG-24, IMG-25: is filled in: size and format from the picture, and the others always with a value", async () => {
    const file = await picture("jpeg", { width: 96, height: 32 });
    vendors.answer(json({ data: [{ b64_json: file.toString("base64") }] }));
    const fields = { model: generating, quality: "auto", background: "auto", size: "auto" };
    const answer = (await (await vendors.bench.generate(fields)).json()) as ImageAnswer;
    expect(answer).toMatchObject({ size: "96x32", output_format: "jpeg", background: "opaque" });
    expect(["low", "medium", "high"]).toContain(answer.quality);
    expect(await shapeOf(answer.data[0]!.b64_json)).toBe("96x32 jpeg");
    expect(answer.usage.total_tokens).toBeGreaterThan(0);
  });

  it("is corrected from the picture if the vendor claims another size or format", async () => {
    const file = await picture("webp", { width: 96, height: 32 });
    const data = [{ b64_json: file.toString("base64") }];
    vendors.answer(json({ data, size: "1024x1024", output_format: "png", quality: "auto" }));
    const answer = (await (await edit(prompted())).json()) as ImageAnswer;
    expect(answer).toMatchObject({ size: "96x32", output_format: "webp" });
  });
});
