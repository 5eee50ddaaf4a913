/**
 * Video clients as people use them: the AI SDK (`ai`) with its providers of xAI, ByteDance (Ark) and Alibaba (DashScope), set up
 * as docs/clients.md says, over real sockets. Requirements: NVID, STORE-04.
 */
import { createAlibaba } from "@ai-sdk/alibaba";
import { createByteDance } from "@ai-sdk/bytedance";
import { createXai } from "@ai-sdk/xai";
import {
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
} from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scripted, startBench, type Bench, type TaskBody } from "../task-http/support.ts";
import { picture } from "../task-http/upload-support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const poll = { intervalMs: 50, timeoutMs: 20_000 };

/** The SDK's own download refuses addresses of this machine, where the gateway runs. */
async function download({ url }: { url: URL }) {
  const answer = await fetch(url);
  const data = new Uint8Array(await answer.arrayBuffer());
  return { data, mediaType: answer.headers.get("content-type") ?? undefined };
}

/** The four letters after the first length in every MP4 file. */
const kindOf = (file: { readonly uint8Array: Uint8Array }) =>
  Buffer.from(file.uint8Array.subarray(4, 8)).toString("latin1");

const newest = async (): Promise<TaskBody> => {
  const list = (await (await bench.get("/v1/tasks?limit=1")).json()) as { data: TaskBody[] };
  return list.data[0]!;
};
/** The body of the request to the vendor. */
const vendorBody = async () => {
  const asked = await bench.received(/(generations|tasks)$/);
  return asked.find(({ body }) => body["model"] !== undefined)?.body;
};

describe("the xAI provider of the AI SDK", () => {
  const model = (id: string) =>
    createXai({ baseURL: `${bench.url}/v1`, apiKey: bench.key }).video(id);

  it("NVID-01 NVID-02 NVID-28: makes a video from a prompt, and fetches it", async () => {
    await bench.received(/./);
    const { video, warnings, providerMetadata } = await generateVideo({
      model: model("sandbox/video-model-v1"),
      prompt: "A boat",
      duration: 2,
      aspectRatio: "9:16",
      resolution: "1280x720",
      generateAudio: false,
      providerOptions: { xai: { user: "u1" } },
      poll,
      download,
    });
    expect(warnings).toEqual([]);
    expect([kindOf(video), video.mediaType]).toEqual(["ftyp", "video/mp4"]);
    const task = await newest();
    expect(providerMetadata["xai"]).toMatchObject({
      requestId: task.id,
      duration: 2,
      videoUrl: task.output.videos![0]!.url,
    });
    // 2 seconds at the rate of 720p.
    expect(task.cost).toBe("0.14");
    expect(await vendorBody()).toMatchObject({
      duration: 2,
      aspect_ratio: "9:16",
      resolution: "720p",
      generate_audio: false,
      user: "u1",
    });
  });

  it("NVID-15: sends an image as the first frame", async () => {
    await bench.received(/./);
    const { video } = await generateVideo({
      model: model("sandbox/video-model-v1.5"),
      prompt: { image: await picture("png"), text: "It moves" },
      duration: 1,
      poll,
      download,
    });
    expect(kindOf(video)).toBe("ftyp");
    expect(await vendorBody()).toMatchObject({
      image: { url: expect.stringMatching(/^data:image\/png;base64,/) as string },
    });
    // One second at 480p, and one picture.
    expect((await newest()).cost).toBe("0.09");
  });

  it("NVID-32 NVID-33: throws the task's error message if there is no video", async () => {
    const failed = (outcome: string) =>
      generateVideo({
        model: model("sandbox/video-model-v1"),
        prompt: scripted({ task_outcome: outcome }),
        duration: 1,
        maxRetries: 0,
        poll,
        download,
      });
    for (const outcome of ["failed", "blocked", "expired"]) {
      const error = await failed(outcome).catch((thrown: unknown) => thrown);
      const { error: told } = await newest();
      expect((error as Error).message).toContain(told!.message);
    }
  });

  it("NVID-24: throws a refusal as the SDK's own error, with the gateway's message", async () => {
    const long = generateVideo({
      model: model("sandbox/video-model-v1"),
      prompt: "A boat",
      duration: 16,
      maxRetries: 0,
      poll,
    });
    await expect(long).rejects.toMatchObject({
      name: "AI_APICallError",
      statusCode: 400,
      message: expect.stringContaining("duration") as string,
    });
  });
});

describe("the ByteDance provider of the AI SDK, on Ark's paths", () => {
  const model = () =>
    createByteDance({ baseURL: `${bench.url}/api/v3`, apiKey: bench.key }).video(
      "sandbox/video-model-tokens",
    );

  it("ARK-01 ARK-02 ARK-06: creates a video and reads it", async () => {
    await bench.received(/./);
    const { video, providerMetadata } = await generateVideo({
      model: model(),
      prompt: { image: await picture("png"), text: "It moves" },
      duration: 4,
      aspectRatio: "16:9",
      seed: 7,
      providerOptions: { bytedance: { watermark: false, pollIntervalMs: 50 } },
      download,
    });
    expect(kindOf(video)).toBe("ftyp");
    const task = await newest();
    expect(providerMetadata["bytedance"]).toMatchObject({
      taskId: task.id,
      usage: { completion_tokens: task.usage["output_video_tokens"] },
    });
    expect(await vendorBody()).toMatchObject({
      duration: 4,
      ratio: "16:9",
      seed: 7,
      watermark: false,
    });
  });

  it("ARK-07 ARK-12: throws on a failed task and on a refused call", async () => {
    const make = (prompt: string, duration: number) =>
      generateVideo({
        model: model(),
        prompt,
        duration,
        maxRetries: 0,
        providerOptions: { bytedance: { pollIntervalMs: 50 } },
      });
    await expect(make(scripted({ task_outcome: "failed" }), 2)).rejects.toMatchObject({
      name: "BYTEDANCE_VIDEO_GENERATION_FAILED",
    });
    await expect(make("A boat", 16)).rejects.toMatchObject({
      name: "AI_APICallError",
      statusCode: 400,
      message: expect.stringContaining("duration") as string,
    });
  });
});

describe("the Alibaba provider of the AI SDK, on DashScope's task path", () => {
  const read = async (taskId: string) =>
    getVideoStatus(createAlibaba({ videoBaseURL: bench.url, apiKey: bench.key }).video("wan"), {
      operation: { taskId },
    });

  it("ALIAS-01 ALIAS-05 ALIAS-06: reads a task that was created elsewhere", async () => {
    const seconds = { model: "sandbox/video-model-seconds", duration: 2 };
    const slow = await bench.create({ ...seconds, prompt: scripted({ task_seconds: 600 }) });
    expect(await read(slow.id)).toMatchObject({ status: "pending" });
    const done = await bench.create({ ...seconds, prompt: "A boat" }, { prefer: "wait=20" });
    const status = await read(done.id);
    expect(JSON.stringify(status)).toContain(done.output.videos![0]!.url);
    expect(status).toMatchObject({ status: "completed" });
    const failing = { ...seconds, prompt: scripted({ task_outcome: "failed" }) };
    const failed = await bench.create(failing, { prefer: "wait=20" });
    expect(await read(failed.id)).toMatchObject({
      status: "error",
      error: expect.stringContaining(failed.error!.message) as string,
    });
  });
});
