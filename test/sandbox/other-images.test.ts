/** Pictures of the xai-like and the dashscope-like vendor: sizes, formats, refusals. */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import type { Answer } from "./media.ts";
import { ask, text } from "./media.ts";
import { pixel } from "../support/pixel.ts";
import { scripted, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const source = `data:image/png;base64,${pixel}`;
const sizeOf = async (picture: Buffer) => {
  const { format, width, height } = await sharp(picture).metadata();
  return `${format} ${width}x${height}`;
};
const download = async (url: unknown) => {
  expect(url).toMatch(/^http:/);
  return Buffer.from(await (await fetch(text(url))).arrayBuffer());
};
const errorOf = ({ status, json }: Answer) => `${status} ${JSON.stringify(json)}`;

describe("xai", () => {
  const call = (kind: "generations" | "edits", fields: object) =>
    ask(`${sandbox.url}/xai/v1/images/${kind}`, {
      body: {
        model: "task-image-model-1",
        prompt: "A fox",
        response_format: "b64_json",
        ...fields,
      },
    });
  const base64 = ({ json }: Answer) =>
    Buffer.from(text(json?.["data"]?.[0]?.["b64_json"]), "base64");

  it.each([
    ["1:1", "1024x1024"],
    ["4:3", "1152x864"],
    ["3:4", "864x1152"],
    ["3:2", "1248x832"],
    ["2:3", "832x1248"],
    ["16:9", "1280x720"],
    ["9:16", "720x1280"],
    ["2:1", "1408x704"],
    ["1:2", "704x1408"],
    ["21:9", "1568x672"],
    ["5:2", "1600x640"],
    ["19.5:9", "1248x576"],
    ["9:19.5", "576x1248"],
    ["20:9", "1280x576"],
    ["9:20", "576x1280"],
    ["auto", "1024x1024"],
  ])("1k at %s is a JPEG of %s", async (aspect_ratio, size) => {
    const made = await call("generations", { aspect_ratio, resolution: "1k" });
    expect(await sizeOf(base64(made))).toBe(`jpeg ${size}`);
  });

  it("2k is a PNG of twice the size, n images differ, and URLs lead to files", async () => {
    const made = await call("generations", { resolution: "2k", n: 2, response_format: "url" });
    const pictures = [
      await download(made.json?.["data"]?.[0]?.["url"]),
      await download(made.json?.["data"]?.[1]?.["url"]),
    ];
    expect(await sizeOf(pictures[0]!)).toBe("png 2048x2048");
    expect(pictures[0]!.equals(pictures[1]!)).toBe(false);
    expect(made.json).toMatchObject({
      data: [{ respect_moderation: true, mime_type: "image/png" }, {}],
      usage: { cost_in_usd_ticks: 400_000_000 },
    });
  });

  it("edits start from the first image, in `image` or in `images`", async () => {
    const one = await call("edits", { image: { url: source, type: "image_url" } });
    const five = await call("edits", {
      images: Array.from({ length: 5 }, () => ({ url: source })),
    });
    expect(base64(one).equals(base64(five))).toBe(true);
    expect(base64(one).equals(base64(await call("generations", {})))).toBe(false);
    expect(five.json?.["usage"]).toEqual({ cost_in_usd_ticks: 1_200_000_000 });
  });

  it("task_outcome blocked: an entry without an image; failed: status 500", async () => {
    const blocked = await call("generations", { prompt: scripted({ task_outcome: "blocked" }) });
    expect(blocked.json?.["data"]?.[0]).toEqual({
      revised_prompt: expect.any(String),
      respect_moderation: false,
    });
    const failed = await call("generations", { prompt: scripted({ task_outcome: "failed" }) });
    expect(failed.status).toBe(500);
  });

  it.each<[kind: "generations" | "edits", fields: object, error: string]>([
    ["generations", { quality: "high" }, "400 .*quality high is not supported"],
    ["generations", { resolution: "1K" }, "400 .*resolution"],
    ["generations", { aspect_ratio: "7:5" }, "400 .*aspect_ratio"],
    ["generations", { n: 11 }, "400 .*n: expected a value"],
    ["generations", { size: "1024x1024" }, "422 .*size: unknown field"],
    ["generations", { seed: 1 }, "422 .*seed: unknown field"],
    ["generations", { image: { url: source } }, "422 .*image: unknown field"],
    ["generations", { prompt: undefined }, "422 .*missing field `prompt`"],
    ["edits", {}, "400 .*at least one is required"],
    ["edits", { image: source }, "422 .*image: invalid type"],
    ["edits", { image: { url: source }, images: [{ url: source }] }, "400 .*only one of"],
    ["edits", { images: Array.from({ length: 6 }, () => ({ url: source })) }, "400 .*at most 5"],
    ["edits", { image: { url: "data:image/png;base64,aGVsbG8=" } }, "400 .*cannot be decoded"],
  ])("%s refuse %j", async (kind, fields, error) => {
    expect(errorOf(await call(kind, fields))).toMatch(new RegExp(error));
  });
});

describe("dashscope", () => {
  const path = "/dashscope/api/v1/services/aigc/image-generation/generation";
  const body = (content: readonly object[], parameters: object = {}) => ({
    model: "wan3-sandbox-image",
    input: { messages: [{ role: "user", content }] },
    parameters,
  });
  const call = (
    sent: object,
    headers: Record<string, string> = { "x-dashscope-async": "enable" },
  ) => ask(sandbox.url + path, { body: sent, headers });

  async function run(sent: object): Promise<Answer> {
    const taken = await call(sent);
    const id = text(taken.json?.["output"]?.["task_id"]);
    for (;;) {
      const last = await ask(`${sandbox.url}/dashscope/api/v1/tasks/${id}`);
      const state = text(last.json?.["output"]?.["task_status"]);
      if (state !== "PENDING" && state !== "RUNNING") return last;
      await sleep(5);
    }
  }
  const picture = async (answer: Answer, index: number) =>
    download(
      answer.json?.["output"]?.["choices"]?.[index]?.["message"]?.["content"]?.[0]?.["image"],
    );

  it("answers one choice for each image, of the requested size", async () => {
    const made = await run(body([{ text: "A fox" }], { n: 2, size: "1280*960" }));
    expect(made.json).toMatchObject({
      output: {
        task_status: "SUCCEEDED",
        finished: true,
        choices: [{ finish_reason: "stop", message: { role: "assistant" } }, {}],
      },
      usage: { image_count: 2, size: "1280*960" },
    });
    const [first, second] = [await picture(made, 0), await picture(made, 1)];
    expect(await sizeOf(first)).toBe("png 1280x960");
    expect(first.equals(second)).toBe(false);
    const tier = await run(body([{ text: "A fox" }], { size: "2K" }));
    expect(await sizeOf(await picture(tier, 0))).toBe("png 2048x2048");
  });

  it("starts from the images in the message", async () => {
    const plain = await run(body([{ text: "A fox" }]));
    const edited = await run(body([{ image: source }, { text: "A fox" }]));
    expect((await picture(plain, 0)).equals(await picture(edited, 0))).toBe(false);
  });

  it("task_outcome failed: code and message in the output", async () => {
    const prompt = scripted({ task_outcome: "failed", error: "As told" });
    expect((await run(body([{ text: prompt }]))).json?.["output"]).toMatchObject({
      task_status: "FAILED",
      code: "InternalError.Algo",
      message: "As told",
    });
  });

  it.each<[words: string, sent: object, error: string]>([
    [
      "a video model",
      { ...body([{ text: "A" }]), model: "wan3-sandbox-video" },
      "404 .*ModelNotFound",
    ],
    ["no message", { ...body([]), input: { messages: [] } }, "400 .*one message"],
    ["a bare prompt", { ...body([]), input: { prompt: "A" } }, "400 .*one message"],
    ["no text", body([{ image: source }]), "400 .*expected one text"],
    ["a part with text and image", body([{ text: "A", image: source }]), "400 .*text or image"],
    [
      "a size written with an x",
      body([{ text: "A" }], { size: "1024x1024" }),
      "400 .*parameters.size",
    ],
    ["an unknown parameter", body([{ text: "A" }], { quality: "low" }), "400 .*quality: unknown"],
    ["n as text", body([{ text: "A" }], { n: "1" }), "400 .*parameters.n"],
    [
      "bytes that are not an image",
      body([{ text: "A" }, { image: "data:image/png;base64,aGk=" }]),
      "400 .*decoded",
    ],
  ])("refuses %s", async (_words, sent, error) => {
    expect(errorOf(await call(sent))).toMatch(new RegExp(error));
  });

  it("refuses a synchronous call", async () => {
    expect(errorOf(await call(body([{ text: "A" }]), {}))).toMatch(/^403 .*AccessDenied/);
  });

  it("the journal keeps a request above 1 MB, with length and hash in place of its images", async () => {
    const bytes = randomBytes(1_500_000);
    const url = `data:image/png;base64,${bytes.toString("base64")}`;
    await call(body([{ image: url }, { text: "A fox" }]));
    const hash = createHash("sha256").update(bytes).digest("hex");
    const image = `data:image/png;base64,<1500000 bytes, sha256 ${hash}>`;
    const [entry] = sandbox.journal.list({ model: "wan3-sandbox-image" });
    expect(entry!.body).toEqual(body([{ image }, { text: "A fox" }]));
  });
});
