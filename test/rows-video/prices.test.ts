// Models whose offers only have prices for some resolutions or image sizes: which offer serves a call, and the list of models.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { eventually } from "../money/support.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";

let partialVendor: Recorder;
let fullVendor: Recorder;
let bench: Bench;

const offer = (provider: string, price: string) =>
  `      - { provider: ${provider}, upstream_model: boats, price: ${price} }`;
const someSeconds = `{ output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" }`;
const allSeconds = `{ output_second: { 480p: "0.2", 720p: "0.2", 1080p: "0.3" }, input_image: "0.01" }`;

beforeAll(async () => {
  let jobs = 0;
  const acceptJob: Answer = (request, response) => {
    jobs += 1;
    return json({ request_id: `job_${jobs}` })(request, response);
  };
  [partialVendor, fullVendor] = [await startRecorder(acceptJob), await startRecorder(acceptJob)];
  const provider = (id: string, dialect: string, url: string) =>
    `  - { id: ${id}, dialect: ${dialect}, base_url: "${url}/v1", api_key: none }`;
  bench = await startBench({
    config: [
      "providers:",
      provider("some", "xai", partialVendor.url),
      provider("all", "xai", fullVendor.url),
      provider("pictures", "dashscope", partialVendor.url),
      "models:",
      "  - id: acme/video\n    kind: video\n    family: video-v1.5\n    offers:",
      offer("some", someSeconds),
      offer("all", allSeconds),
      "  - id: acme/small\n    kind: video\n    family: video-v1.5\n    offers:",
      offer("some", `{ output_second: { 720p: "0.07" }, input_image: "0.01" }`),
      "  - id: acme/picture\n    kind: image\n    family: image-c\n    offers:",
      offer("pictures", `{ output_image: { 1K: "0.03" } }`),
      "  - id: acme/any-picture\n    kind: image\n    family: image-c\n    offers:",
      offer("pictures", `{ output_image: "0.03" }`),
    ].join("\n"),
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await Promise.all([partialVendor?.close(), fullVendor?.close()]);
});

const boat = { model: "acme/video", prompt: "A boat", duration: 2, resolution: "1080p" };

describe("a resolution that only one of two offers has a price for", () => {
  it.each([
    ["/v1/tasks", "acme/video"],
    ["/v1/videos/generations", "acme/video"],
    ["/v1/tasks", "acme/video:@price"],
    ["/v1/tasks", "acme/video:all"],
  ])(
    "BILL-17 ROUTE-01: on %s, %s goes to that offer's provider, at its price",
    async (path, model) => {
      fullVendor.requests.length = 0;
      const before = await bench.available();
      const answer = await bench.send("POST", path, { body: { ...boat, model } });
      expect(answer.status).toBe(200);
      await eventually(() => fullVendor.requests.length > 0, "its provider is asked");
      expect(before - (await bench.available())).toBe(parseUsd("0.6"));
      expect(partialVendor.requests).toEqual([]);
    },
  );

  it.each(["acme/video:some", "acme/small"])(
    "BILL-17: is refused for %s, which has no price for it, and no provider is called",
    async (model) => {
      const answer = await bench.send("POST", "/v1/tasks", { body: { ...boat, model } });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: { code: "unsupported_value", param: "resolution" },
      });
      expect(partialVendor.requests).toEqual([]);
    },
  );

  it("ROUTE-02: a provider that does not serve the model is refused with `provider_not_found`", async () => {
    const answer = await bench.send("POST", "/v1/tasks", {
      body: { ...boat, model: "acme/video:pictures" },
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: "provider_not_found" } },
    ]);
  });
});

describe("supported_parameters", () => {
  const domains = async () => {
    const answer = await bench.get("/v1/models");
    const { data } = (await answer.json()) as {
      data: { id: string; supported_parameters: Record<string, object> }[];
    };
    const of = (id: string) => data.find((model) => model.id === id)!.supported_parameters;
    return {
      video: of("acme/video")["resolution"],
      small: of("acme/small")["resolution"],
      picture: of("acme/picture")["image_size"],
      anyPicture: of("acme/any-picture")["image_size"],
    };
  };

  it("MODELS-07: list the values with a price at any offer, and a default only if it has a price", async () => {
    expect(await domains()).toEqual({
      video: { type: "enum", values: ["480p", "720p", "1080p"], default: "480p" },
      small: { type: "enum", values: ["720p"] },
      picture: { type: "enum", values: ["1K"], default: "1K" },
      anyPicture: { type: "enum", values: ["1K", "2K", "4K"], default: "1K" },
    });
  });
});
