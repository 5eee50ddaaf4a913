/** The requests to video vendors, byte for byte, and fields that vendors do not support. */
import { describe, expect, it } from "vitest";
import type { VideoRequest } from "../../src/media/index.ts";
import { droppedFieldNotes } from "../../src/upstream/index.ts";
import { bodyOf, dialectOf, provider, providers, submitAsk, video } from "./media-support.ts";

const [first, last, reference] = [
  "https://a.test/1.png",
  "https://a.test/2.png",
  "data:image/png;base64,AA==",
];

type Vendor = "xai" | "dashscope" | "ark";

const bodies: readonly [
  title: string,
  Vendor,
  model: string,
  Partial<VideoRequest>,
  body: object,
][] = [
  [
    "xai: text, with the ratio",
    "xai",
    "grok-imagine-video",
    { aspectRatio: "16:9", audio: true, user: "u1" },
    {
      model: "grok-imagine-video",
      prompt: "A fox",
      duration: 8,
      aspect_ratio: "16:9",
      resolution: "480p",
      generate_audio: true,
      user: "u1",
    },
  ],
  [
    "xai: a first and a last frame, no prompt; the output follows the image, so no ratio is sent",
    "xai",
    "grok-imagine-video-1.5",
    {
      mode: "frames",
      prompt: undefined,
      aspectRatio: "1:1",
      firstFrame: first,
      lastFrame: last,
      audio: false,
    },
    {
      model: "grok-imagine-video-1.5",
      duration: 8,
      resolution: "480p",
      image: { url: first },
      last_frame: { url: last },
      generate_audio: false,
    },
  ],
  [
    "xai: references",
    "xai",
    "grok-imagine-video",
    { mode: "reference", references: [reference, first] },
    {
      model: "grok-imagine-video",
      prompt: "A fox",
      duration: 8,
      resolution: "480p",
      reference_images: [{ url: reference }, { url: first }],
    },
  ],
  [
    "dashscope wan3: everything",
    "dashscope",
    "wan3-i2v",
    {
      mode: "frames",
      resolution: "1080p",
      aspectRatio: "9:16",
      firstFrame: first,
      lastFrame: last,

      durationSeconds: 5,
      negativePrompt: "blur",
      seed: 7,
      promptExtend: false,
      audio: true,
      watermark: false,
    },
    {
      model: "wan3-i2v",
      input: {
        prompt: "A fox",
        negative_prompt: "blur",
        media: [
          { type: "first_frame", url: first },
          { type: "last_frame", url: last },
        ],
      },
      parameters: {
        resolution: "1080P",
        ratio: "9:16",
        duration: 5,
        seed: 7,
        prompt_extend: false,
        audio: true,
        watermark: false,
      },
    },
  ],
  [
    "dashscope wan2.7: frames are media; no ratio beside them, sound is no parameter",
    "dashscope",
    "wan2.7-i2v",
    {
      mode: "frames",
      resolution: "720p",
      aspectRatio: "16:9",
      firstFrame: first,
      lastFrame: last,
      audio: false,
    },
    {
      model: "wan2.7-i2v",
      input: {
        prompt: "A fox",
        media: [
          { type: "first_frame", url: first },
          { type: "last_frame", url: last },
        ],
      },
      parameters: { resolution: "720P", duration: 8 },
    },
  ],
  [
    "dashscope wan2.7: references are media",
    "dashscope",
    "wan2.7-r2v",
    { mode: "reference", resolution: "720p", aspectRatio: "1:1", references: [reference] },
    {
      model: "wan2.7-r2v",
      input: { prompt: "A fox", media: [{ type: "reference_image", url: reference }] },
      parameters: { resolution: "720P", ratio: "1:1", duration: 8 },
    },
  ],
  [
    "dashscope before wan2.7: text, with a size in pixels",
    "dashscope",
    "wan2.6-t2v",
    { resolution: "720p", aspectRatio: "9:16", audio: true },
    {
      model: "wan2.6-t2v",
      input: { prompt: "A fox" },
      parameters: { size: "720*1280", duration: 8, audio: true },
    },
  ],
  [
    "dashscope before wan2.7: an image, with a resolution",
    "dashscope",
    "wan2.5-i2v-preview",
    { mode: "image", resolution: "1080p", firstFrame: first },
    {
      model: "wan2.5-i2v-preview",
      input: { prompt: "A fox", img_url: first },
      parameters: { resolution: "1080P", duration: 8 },
    },
  ],
  [
    "dashscope before wan2.7: references",
    "dashscope",
    "wan2.6-r2v",
    { mode: "reference", references: [reference] },
    {
      model: "wan2.6-r2v",
      input: { prompt: "A fox", reference_urls: [reference] },
      parameters: { size: "832*480", duration: 8 },
    },
  ],
  [
    "dashscope before wan2.7: key frames",
    "dashscope",
    "wan2.2-kf2v-flash",
    { mode: "frames", resolution: "720p", firstFrame: first, lastFrame: last },
    {
      model: "wan2.2-kf2v-flash",
      input: { prompt: "A fox", first_frame_url: first, last_frame_url: last },
      parameters: { resolution: "720P", duration: 8 },
    },
  ],
  [
    "ark: everything",
    "ark",
    "doubao-seedance-2-0",
    {
      mode: "frames",
      resolution: "720p",
      aspectRatio: "adaptive",
      firstFrame: first,
      lastFrame: last,

      seed: -1,
      cameraFixed: false,
      watermark: true,
      audio: true,
      expiresAfterSeconds: 3600,
      user: "u1",
    },
    {
      model: "doubao-seedance-2-0",
      content: [
        { type: "text", text: "A fox" },
        { type: "image_url", image_url: { url: first }, role: "first_frame" },
        { type: "image_url", image_url: { url: last }, role: "last_frame" },
      ],
      resolution: "720p",
      ratio: "adaptive",
      duration: 8,
      seed: -1,
      camera_fixed: false,

      watermark: true,
      generate_audio: true,
      execution_expires_after: 3600,
      safety_identifier: "u1",
    },
  ],
  [
    "ark: references, without a prompt",
    "ark",
    "doubao-seedance-2-0",
    { mode: "reference", prompt: undefined, references: [reference] },
    {
      model: "doubao-seedance-2-0",
      content: [{ type: "image_url", image_url: { url: reference }, role: "reference_image" }],
      resolution: "480p",
      duration: 8,
    },
  ],
];

describe("a video request", () => {
  it.each(bodies)("has the expected body: %s", async (...[, vendor, model, fields, expected]) => {
    expect(await bodyOf(submitAsk(vendor, video(fields), model))).toBe(JSON.stringify(expected));
  });

  it("goes to the vendor's path with the key, and is asynchronous at DashScope", () => {
    const common = {
      accept: "application/json",
      "user-agent": "tollgate",
      "content-type": "application/json",
    };
    const headers = { ...common, authorization: "Bearer secret" };
    expect(submitAsk("xai", video(), "m")).toMatchObject({
      method: "POST",
      path: "/v1/videos/generations",
      headers,
    });
    expect(submitAsk("ark", video(), "m")).toMatchObject({
      method: "POST",
      path: "/api/v3/contents/generations/tasks",
      headers,
    });
    const dashscope = submitAsk("dashscope", video(), "m");
    expect(dashscope.path).toBe("/api/v1/services/aigc/video-generation/video-synthesis");
    expect(dashscope.headers).toEqual({ ...headers, "x-dashscope-async": "enable" });
    expect(submitAsk("dashscope", video(), "wan2.2-kf2v-flash").path).toBe(
      "/api/v1/services/aigc/image2video/video-synthesis",
    );
  });

  it("has no credential if the provider takes none", () => {
    const job = {
      request: video(),
      upstreamModel: "m",
      id: "task_1",
      open: () => undefined as never,
    };
    expect(dialectOf("xai", "video").submit(providers.xai, "", job).headers).not.toHaveProperty(
      "authorization",
    );
  });

  it("uses DashScope's task API for a base URL of the text API and for a bare host", () => {
    const dialect = dialectOf("dashscope", "video");
    for (const path of ["/compatible-mode/v1", "/api/v1", ""]) {
      const at = provider("dashscope", `https://dashscope.aliyuncs.com${path}`);
      expect(dialect.poll(at, "k", "a/b").path).toBe("/api/v1/tasks/a%2Fb");
    }
  });

  it("is polled and canceled by the vendor's id, which cannot change the path", () => {
    const id = "../x?y#z";
    const requests = (["xai", "dashscope", "ark"] as const).flatMap((name) => {
      const dialect = dialectOf(name, "video");
      return [
        dialect.poll(providers[name], "k", id),
        dialect.cancel?.(providers[name], "k", id),
      ].map((ask) => ask && `${ask.method} ${ask.path}`);
    });
    expect(requests).toEqual([
      "GET /v1/videos/..%2Fx%3Fy%23z",
      undefined,
      "GET /api/v1/tasks/..%2Fx%3Fy%23z",
      "POST /api/v1/tasks/..%2Fx%3Fy%23z/cancel",
      "GET /api/v3/contents/generations/tasks/..%2Fx%3Fy%23z",
      "DELETE /api/v3/contents/generations/tasks/..%2Fx%3Fy%23z",
    ]);
  });
});

/** A second value for each optional field, to see its effect in the body. */
const changes: Readonly<Record<string, Partial<VideoRequest>>> = {
  prompt: { prompt: "A wolf" },
  duration: { durationSeconds: 9 },
  resolution: { resolution: "720p" },
  aspect_ratio: { aspectRatio: "9:16" },
  image: { firstFrame: first },
  last_frame: { firstFrame: first, lastFrame: last },
  reference_images: { references: [reference] },
  audio: { audio: false },
  moderation: { moderation: "low" },
  user: { user: "u2" },
  negative_prompt: { negativePrompt: "blur" },
  prompt_extend: { promptExtend: false },
  seed: { seed: 11 },
  watermark: { watermark: true },
  camera_fixed: { cameraFixed: true },
};

const models: readonly [Vendor, string][] = [
  ["xai", "grok-imagine-video"],
  ["dashscope", "wan3-video"],
  ["dashscope", "wan2.7-t2v"],
  ["dashscope", "wan2.6-t2v"],
  ["dashscope", "wan2.2-kf2v-flash"],
  ["ark", "doubao-seedance-2-0"],
];

describe("a field that a vendor's model does not support", () => {
  it.each(models)(
    "is noted before the call, and no other field is: %s %s",
    async (vendor, model) => {
      const base = video({ firstFrame: undefined });
      for (const [name, change] of Object.entries(changes)) {
        const request = { ...base, ...change };
        // Compare a last frame with the same request without it.
        const before = name === "last_frame" ? { ...base, firstFrame: first } : base;
        const changed =
          (await bodyOf(submitAsk(vendor, request, model))) !==
          (await bodyOf(submitAsk(vendor, before, model)));
        const noted = droppedFieldNotes(vendor, request, model).some(({ param }) => param === name);
        expect({ name, noted }).toEqual({ name, noted: !changed });
      }
    },
  );

  it("is not noted if its value is the default or holds anyway", () => {
    expect(droppedFieldNotes("ark", video({ moderation: "auto" }), "doubao-seedance-2-0")).toEqual(
      [],
    );
    expect(droppedFieldNotes("dashscope", video({ audio: true }), "wan2.7-t2v")).toEqual([]);
  });

  it("is noted as rewritten for a ratio that an older model lacks, and as ignored if an image overrules it", () => {
    const note = (fields: Partial<VideoRequest>, model: string) =>
      droppedFieldNotes("dashscope", video(fields), model).map(
        ({ param, kind }) => `${param} ${kind}`,
      );
    expect(note({ aspectRatio: "4:3" }, "wan2.6-t2v")).toEqual(["aspect_ratio rewritten"]);
    expect(note({ aspectRatio: "4:3", resolution: "720p" }, "wan2.6-t2v")).toEqual([]);
    expect(note({ aspectRatio: "4:3", firstFrame: first }, "wan2.7-i2v")).toEqual([
      "aspect_ratio ignored",
    ]);
    expect(note({ aspectRatio: "4:3", firstFrame: first }, "wan3-i2v")).toEqual([]);
  });
});

it("a setting in a prompt is refused for Seedance 1, and other dashes and later models are not", () => {
  const param = (prompt: string, model = "doubao-seedance-1-0-pro") =>
    dialectOf("ark", "video").refuses?.(video({ prompt }), model)?.param;
  expect(param("A fox --rs 1080p")).toBe("prompt");
  expect(param("A fox --rs 1080p", "ep-20260101-x")).toBe("prompt");
  expect(param("A fox --rs 1080p", "dreamina-seedance-2-0")).toBeUndefined();
  expect(param("A fox -- the red one --seed 5, ratio 16:9")).toBeUndefined();
});
