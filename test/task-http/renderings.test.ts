// One stored task in its four renderings, in every state and family, against the schemas of the OpenAPI document.
import { describe, expect, it } from "vitest";
import type { ImageFamily, VideoFamily } from "../../src/catalog/index.ts";
import type { ImageRequest, MediaUsage, VideoRequest } from "../../src/media/index.ts";
import {
  isTerminal,
  renderArk,
  renderDashscope,
  renderNative,
  renderUnified,
  taskStates,
  type Task,
  type TaskStatus,
} from "../../src/tasks/index.ts";
import { faults, named } from "../http/openapi-support.ts";

const fileUrl = (name: string): string => `https://gateway.example/files/${name}`;
const states = Object.keys(taskStates) as TaskStatus[];

const videoRequest = (family: VideoFamily): VideoRequest => ({
  kind: "video",
  family,
  mode: "text",
  prompt: "A boat",
  durationSeconds: 8,
  resolution: "480p",
  references: [],
});
const imageRequest = (family: ImageFamily): ImageRequest => ({
  kind: "image",
  family,
  prompt: "A boat",
  n: 2,
  images: [],
});

const seconds = (count: number): MediaUsage => ({
  unit: "video_seconds",
  seconds: count,
  resolution: "480p",
  inputImages: 0,
});
const tokens: MediaUsage = {
  unit: "image_tokens",
  inputTextTokens: 7,
  inputImageTokens: 100,
  outputTextTokens: 3,
  outputImageTokens: 4000,
};
const images: MediaUsage = { unit: "images", outputImages: 2, inputImages: 3 };

interface Family {
  readonly request: VideoRequest | ImageRequest;
  readonly usage: MediaUsage;
  /** The usage in the unified rendering, and its value before there is any. */
  readonly shownUsage: object;
  readonly emptyUsage: object;
}
const noTokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
const bySeconds = (family: VideoFamily): Family => ({
  request: videoRequest(family),
  usage: seconds(6),
  shownUsage: { ...noTokens, output_video_seconds: 6 },
  emptyUsage: { ...noTokens, output_video_seconds: 0 },
});
const byTokens = (family: ImageFamily): Family => ({
  request: imageRequest(family),
  usage: tokens,
  shownUsage: { input_tokens: 107, output_tokens: 4003, total_tokens: 4110 },
  emptyUsage: noTokens,
});
const byImages = (family: ImageFamily): Family => ({
  request: imageRequest(family),
  usage: images,
  shownUsage: { output_images: 2, input_images: 3 },
  emptyUsage: { output_images: 0, input_images: 0 },
});
const families: Family[] = [
  bySeconds("video-v1"),
  bySeconds("video-v1.5"),
  bySeconds("video-seconds"),
  {
    request: videoRequest("video-tokens"),
    usage: { unit: "video_tokens", tokens: 108_900 },
    shownUsage: { ...noTokens, output_video_tokens: 108_900 },
    emptyUsage: { ...noTokens, output_video_tokens: 0 },
  },
  byImages("task-image-1"),
  byImages("image-c"),
  byTokens("task-image-2"),
  byTokens("image-a"),
  byTokens("image-b"),
];

const clipFile = { name: "a.mp4", mediaType: "video/mp4", bytes: 10 };

function taskOf(family: Family, status: TaskStatus, changes: Partial<Task> = {}): Task {
  const { kind } = family.request;
  const done = status === "succeeded";
  const file = (name: string) => ({ ...clipFile, name });
  return {
    workspaceId: "ws_1",
    id: "task_01kacw5v2pf6q8p5b0d6m1x7yt",
    keyId: "key_1",
    memberId: null,
    kind,
    family: family.request.family,
    model: "vendor/model",
    form: "tasks",
    status,
    request: family.request,
    notes: [],
    reservedNano: 900_000_000n,
    costNano: done ? 60_000_000n : 0n,
    usage: done ? family.usage : null,
    artifacts: done ? (kind === "video" ? [file("a.mp4")] : [file("a.png"), file("b.png")]) : [],
    error: status === "failed" ? { code: "invalid_argument", message: "No." } : null,
    provider: "p",
    attempts: [],
    webhookUrl: null,
    createdAt: new Date("2026-11-20T05:10:00.000Z"),
    updatedAt: new Date("2026-11-20T05:11:00.500Z"),
    finishedAt: isTerminal(status) ? new Date("2026-11-20T05:11:00.500Z") : null,
    expiresAt: new Date("2026-11-21T05:10:00.000Z"),
    tags: null,
    endUser: null,
    ...changes,
  };
}

const cases = families.flatMap((family) =>
  states.map((status) => [family.request.family, status, family] as const),
);
const videoCases = cases.filter(([, , { request }]) => request.kind === "video");
const failed: ReadonlySet<TaskStatus> = new Set(["failed", "expired", "canceled"]);

describe("the unified rendering", () => {
  it.each(cases)(
    "TASK-20 TASK-25 TASK-34: family %s, status %s: matches the schema, with its usage, cost, output and error",
    (_name, status, family) => {
      const task = renderUnified(taskOf(family, status), fileUrl);
      expect(faults(named("Task"), task)).toEqual([]);
      const done = status === "succeeded";
      expect(task).toMatchObject({
        id: "task_01kacw5v2pf6q8p5b0d6m1x7yt",
        status,
        model: "vendor/model",
        created_at: "2026-11-20T05:10:00.000Z",
        cost: done ? "0.06" : "0",
      });
      expect(task.usage).toEqual(done ? family.shownUsage : family.emptyUsage);
      const urls = (...names: string[]) =>
        done ? names.map((name, index) => ({ index, url: fileUrl(name) })) : [];
      expect(task.output).toEqual(
        family.request.kind === "video"
          ? { images: [], videos: urls("a.mp4") }
          : { images: urls("a.png", "b.png") },
      );
      expect("notes" in task).toBe(false);
      expect("error" in task).toBe(failed.has(status));
      const errorKeys = failed.has(status) ? ["code", "message"] : [];
      expect(Object.keys(task.error ?? {}).sort()).toEqual(errorKeys);
    },
  );

  it("TASK-33: has notes only if there are any", () => {
    const notes = ["seed: not supported by this model, dropped"];
    expect(renderUnified(taskOf(families[0]!, "queued", { notes }), fileUrl).notes).toEqual(notes);
  });

  it("an expired task shows none of the files, usage and cost that were stored with it", () => {
    const leftover = { artifacts: [{ name: "a.mp4", mediaType: "video/mp4", bytes: 1 }] };
    const stale = { ...leftover, usage: seconds(5), costNano: 5n };
    const task = renderUnified(taskOf(families[0]!, "expired", stale), fileUrl);
    expect(task).toMatchObject({ cost: "0", output: { images: [], videos: [] } });
    expect(task.usage).toEqual(families[0]!.emptyUsage);
    expect(task.error).toEqual({ code: "expired", message: expect.any(String) as string });
  });
});

describe("the native rendering", () => {
  const words = {
    queued: "pending",
    running: "pending",
    succeeded: "done",
    failed: "failed",
    expired: "failed",
    canceled: "failed",
  } as const;

  it.each(videoCases)(
    "NVID-29 NVID-33 NVID-34 NVID-36: family %s, status %s: matches the schema, with its state and error",
    (_name, status, family) => {
      const video = renderNative(taskOf(family, status), fileUrl);
      expect(faults(named("NativeVideo"), video)).toEqual([]);
      expect(video.status).toBe(words[status]);
      const keys = { pending: [], done: ["video"], failed: ["error"] }[words[status]];
      expect(Object.keys(video).sort()).toEqual(["model", "status", ...keys].sort());
      const codes: Partial<Record<TaskStatus, string>> = {
        failed: "invalid_argument",
        expired: "expired",
        canceled: "canceled",
      };
      expect(video.error?.code).toBe(codes[status]);
    },
  );

  it("NVID-31: the duration is that of the produced video, or the requested one if the vendor reports none", () => {
    expect(renderNative(taskOf(families[0]!, "succeeded"), fileUrl).video).toEqual({
      url: fileUrl("a.mp4"),
      duration: 6,
    });
    const byTokensOf = (seconds?: number) =>
      renderNative(
        taskOf(families[3]!, "succeeded", { artifacts: [{ ...clipFile, seconds }] }),
        fileUrl,
      );
    expect(byTokensOf(5.04).video!.duration).toBe(5.04);
    // If the vendor reports none, the requested duration.
    expect(byTokensOf().video!.duration).toBe(8);
  });
});

describe("the DashScope rendering", () => {
  const words = {
    queued: "PENDING",
    running: "PENDING",
    succeeded: "SUCCEEDED",
    failed: "FAILED",
    expired: "FAILED",
    canceled: "CANCELED",
  } as const;

  it.each(cases)(
    "ALIAS-05 ALIAS-12: family %s, status %s: matches the schema, with its state and output",
    (_name, status, family) => {
      const answer = renderDashscope(taskOf(family, status), fileUrl, "req_1");
      expect(faults(named("DashscopeTask"), answer)).toEqual([]);
      expect(answer.request_id).toBe("req_1");
      const { task_id: id, task_status: word, choices, video_url: url, code } = answer.output;
      expect([id, word]).toEqual(["task_01kacw5v2pf6q8p5b0d6m1x7yt", words[status]]);
      const isDone = status === "succeeded";
      expect(choices !== undefined).toBe(isDone && family.request.kind === "image");
      expect(url !== undefined).toBe(isDone && family.request.kind === "video");
      expect(code !== undefined).toBe(failed.has(status));
    },
  );

  it("ALIAS-02: has a choice for each picture", () => {
    const family = families.find(({ request }) => request.family === "image-c")!;
    expect(renderDashscope(taskOf(family, "succeeded"), fileUrl, "r").output.choices).toEqual(
      ["a.png", "b.png"].map((name) => ({
        finish_reason: "stop",
        message: { role: "assistant", content: [{ type: "image", image: fileUrl(name) }] },
      })),
    );
  });
});

describe("the Ark rendering", () => {
  it.each(videoCases)(
    "ARK-03 ARK-04 ARK-13: family %s, status %s: matches the schema, with its state, output and times",
    (_name, status, family) => {
      const task = renderArk(taskOf(family, status), fileUrl);
      expect(faults(named("ArkTask"), task)).toEqual([]);
      expect(task.status).toBe(status === "canceled" ? "cancelled" : status);
      expect(task.content).toEqual(
        status === "succeeded" ? { video_url: fileUrl("a.mp4") } : undefined,
      );
      expect("usage" in task).toBe(status === "succeeded");
      expect("error" in task).toBe(status === "failed");
      expect([task.created_at, task.updated_at]).toEqual([1_795_151_400, 1_795_151_460]);
    },
  );

  it("ARK-02 ARK-10: the usage is the number of billed tokens", () => {
    expect(renderArk(taskOf(families[3]!, "succeeded"), fileUrl).usage).toEqual({
      completion_tokens: 108_900,
      total_tokens: 108_900,
      tool_usage: { web_search: 0 },
    });
  });
});
