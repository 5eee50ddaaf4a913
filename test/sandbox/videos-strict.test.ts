/** The refusals of each video vendor: requests that a real one would not accept. */
import { describe, expect, it } from "vitest";
import { ask, submit, videoVendors } from "./media.ts";
import { pixel } from "../support/pixel.ts";
import { useSandbox } from "./support.ts";

const sandbox = useSandbox();
const [xai, dashscope, ark] = videoVendors;
const picture = { url: `data:image/png;base64,${pixel}` };

type Row = readonly [body: Record<string, unknown>, status: number, words: string];

describe("the xai video vendor", () => {
  const send = (body: Record<string, unknown>) =>
    submit({ url: sandbox.url, vendor: xai!, prompt: "A fox", body });
  const rows: Row[] = [
    [{ model: undefined }, 422, "missing field `model`"],
    [{ size: "1x1" }, 422, "size: unknown field"],
    [{ prompt: 7 }, 422, "prompt: invalid type"],
    [{ duration: 16 }, 400, "duration"],
    [{ duration: 0 }, 400, "duration"],
    [{ duration: 1.5 }, 422, "duration"],
    [{ aspect_ratio: "21:9" }, 400, "aspect_ratio"],
    [{ resolution: "4k" }, 400, "resolution"],
    [{ moderation: "off" }, 400, "moderation"],
    [{ image: "https://example.com/a.png" }, 422, "image: invalid type"],
    [{ reference_images: [picture.url] }, 422, "reference_images[0]"],
    [{ image: { url: "ftp://example.com/a" } }, 400, "image.url"],
    [{ image: { url: "data:text/plain;base64,aGk=" } }, 400, "unsupported image type"],
    [{ image: { url: picture.url, detail: "low" } }, 422, "image.detail: unknown field"],
    [{ last_frame: picture }, 400, "last_frame needs image"],
    [{ image: picture, reference_images: [picture] }, 400, "cannot be used together"],
    [{ reference_images: Array.from({ length: 15 }, () => picture) }, 400, "at most 14"],
    [{ prompt: "" }, 400, "prompt or image is required"],
    [{ model: "video-model-v1", resolution: "1080p" }, 400, "1080p is not supported"],
    [
      { model: "video-model-v1", duration: 11, reference_images: [picture] },
      400,
      "at most 10 with last_frame or references",
    ],
  ];
  it.each(rows)("refuses %j", async (body, status, words) => {
    const refused = await send(body);
    expect([refused.status, xai!.errorMessage(refused)]).toEqual([
      status,
      expect.stringContaining(words),
    ]);
  });

  it("accepts what the second generation supports", async () => {
    const guided = { duration: 15, image: picture, last_frame: picture, resolution: "1080p" };
    expect((await send(guided)).status).toBe(200);
  });
});

describe("the dashscope video vendor", () => {
  const send = (
    body: Record<string, unknown>,
    headers = dashscope!.submitHeaders,
    service = "video-generation",
  ) =>
    ask(sandbox.url + dashscope!.submitPath.replace("video-generation", service), {
      body: { ...dashscope!.body("A fox"), ...body },
      headers,
    });
  const media = (...items: object[]) => ({ input: { prompt: "A fox", media: items } });
  const first = { type: "first_frame", url: picture.url };
  const rows: Row[] = [
    [{ model: "video-model-seconds" }, 404, "Model not exist"],
    [{ model: "wan3-sandbox-image" }, 404, "Model not exist"],
    [{ model: undefined }, 400, "model"],
    [{ n: 1 }, 400, "n: unknown field"],
    [{ input: { prompt: "A fox", img_url: picture.url } }, 400, "input.img_url: unknown field"],
    [{ input: {} }, 400, "input.prompt: missing"],
    [{ parameters: { resolution: "720p" } }, 400, "parameters.resolution"],
    [{ parameters: { ratio: "21:9" } }, 400, "parameters.ratio"],
    [{ parameters: { size: "1280*720" } }, 400, "parameters.size: unknown field"],
    [{ parameters: { duration: "5" } }, 400, "parameters.duration"],
    [media({ type: "mask", url: picture.url }), 400, "input.media[0].type"],
    [media(first, first), 400, "a second first_frame"],
    [media({ ...first, type: "last_frame" }), 400, "last_frame needs first_frame"],
    [media({ type: "first_frame", url: "nothing" }), 400, "input.media[0].url"],
    [media({ type: "reference_audio", url: picture.url }), 400, "http(s) address"],
    [{ model: "wan2.7-t2v", parameters: { audio: true } }, 400, "parameters.audio: unknown field"],
    [
      { model: "wan2.7-i2v", ...media(first), parameters: { ratio: "1:1" } },
      400,
      "not with a first frame",
    ],
    [{ model: "wan2.2-t2v", parameters: { ratio: "1:1" } }, 400, "parameters.ratio: unknown field"],
  ];
  it.each(rows)("refuses %j", async (body, status, words) => {
    const refused = await send(body);
    expect([refused.status, dashscope!.errorMessage(refused)]).toEqual([
      status,
      expect.stringContaining(words),
    ]);
    expect(refused.json).toEqual({
      code: expect.any(String),
      message: expect.any(String),
      request_id: expect.any(String),
    });
  });

  it("refuses a submission without X-DashScope-Async", async () => {
    const refused = await send({}, {});
    expect([refused.status, refused.json?.["code"]]).toEqual([403, "AccessDenied"]);
  });

  it("accepts what each generation supports", async () => {
    const frames = media(first, { type: "last_frame", url: "https://example.com/last.png" });
    expect((await send(frames)).status).toBe(200);
    const between = {
      model: "wan2.2-kf2v",
      input: { first_frame_url: picture.url, last_frame_url: "https://example.com/last.png" },
      parameters: { resolution: "480P" },
    };
    const elsewhere = await send(between);
    expect([elsewhere.status, dashscope!.errorMessage(elsewhere)]).toEqual([
      400,
      expect.stringContaining("url error"),
    ]);
    expect((await send(between, dashscope!.submitHeaders, "image2video")).status).toBe(200);
    const old = { model: "wan2.2-t2v", parameters: { size: "832*480", audio: true } };
    expect((await send(old)).status).toBe(200);
  });
});

describe("the ark video vendor", () => {
  const send = (body: Record<string, unknown>) =>
    submit({ url: sandbox.url, vendor: ark!, prompt: "A fox", body });
  const image = (role?: string) => ({
    type: "image_url",
    image_url: picture,
    ...(role ? { role } : {}),
  });
  const rows: Row[] = [
    [{ model: undefined }, 400, "missing the parameter `model`"],
    [{ content: undefined }, 400, "missing the parameter `content`"],
    [{ content: [] }, 400, "missing the parameter `content`"],
    [{ prompt: "A fox" }, 400, "`prompt`"],
    [{ resolution: "720P" }, 400, "`resolution`"],
    [{ ratio: "3:2" }, 400, "`ratio`"],
    [{ duration: 5, frames: 57 }, 400, "`frames`"],
    [{ seed: -2 }, 400, "`seed`"],
    [{ generate_audio: "yes" }, 400, "`generate_audio`"],
    [{ execution_expires_after: 60 }, 400, "`execution_expires_after`"],
    [{ content: [{ type: "audio", text: "x" }] }, 400, "`content[0].type`"],
    [{ content: [{ type: "image_url", image_url: picture.url }] }, 400, "image_url`"],
    [{ content: [{ type: "image_url", image_url: { url: "" } }] }, 400, "image_url.url`"],
    [{ content: [image("mask")] }, 400, "`content[0].role`"],
    [{ content: [image(), image()] }, 400, "each needs a role"],
    [{ content: [image("last_frame")] }, 400, "last_frame needs first_frame"],
    [{ content: [image("first_frame"), image("first_frame")] }, 400, "one frame of each"],
    [{ content: [image("first_frame"), image("reference_image")] }, 400, "together"],
  ];
  it.each(rows)("refuses %j", async (body, status, words) => {
    const refused = await send(body);
    expect([refused.status, ark!.errorMessage(refused)]).toEqual([
      status,
      expect.stringContaining(words),
    ]);
    expect(refused.json?.["error"]).toEqual({
      code: expect.stringMatching(/^(Missing|Invalid)Parameter$/),
      message: expect.stringContaining("Request id: "),
      param: expect.any(String),
      type: "BadRequest",
    });
  });

  it("accepts its own kinds of input material", async () => {
    const frames = { content: [image("first_frame"), image("last_frame")] };
    const references = {
      content: [
        { type: "text", text: "A fox" },
        image("reference_image"),
        {
          type: "video_url",
          video_url: { url: "https://example.com/v.mp4" },
          role: "reference_video",
        },
      ],
    };
    for (const body of [frames, references, { content: [image()] }]) {
      const taken = await send(body);
      expect([taken.status, taken.json?.["id"]]).toEqual([
        200,
        expect.stringMatching(/^cgt-\d{14}-/),
      ]);
    }
  });
});
