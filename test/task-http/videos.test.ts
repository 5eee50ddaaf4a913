// Videos in the vendor-native rendering: POST /v1/videos/generations and GET /v1/videos/{id}, over the sandbox's xAI.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { faults, named } from "../http/openapi-support.ts";
import { scripted, startBench, type Bench } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const v1 = { model: "sandbox/video-model-v1", prompt: "A boat" };
const v15 = { model: "sandbox/video-model-v1.5", prompt: "A boat" };
const url = "https://1.1.1.1/a.png";
const data = { url: "data:image/png;base64,iVBORw0KGgo=" };

interface Native {
  readonly status: string;
  readonly model: string;
  readonly video?: { readonly url: string; readonly duration: number };
  readonly error?: { readonly code: string; readonly message: string };
}

const post = (body: object, headers: Record<string, string> = {}) =>
  bench.send("POST", "/v1/videos/generations", { body, headers });
async function createVideo(body: object): Promise<string> {
  const answer = await post(body);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { request_id: string }).request_id;
}
const read = async (id: string): Promise<Native> => {
  const answer = await bench.get(`/v1/videos/${id}`);
  expect(answer.status).toBe(200);
  const video = (await answer.json()) as Native;
  expect(faults(named("NativeVideo"), video)).toEqual([]);
  return video;
};
/** The body that the vendor received for a task. */
async function vendorBodyOf(body: object): Promise<Record<string, unknown>> {
  await bench.received(/./);
  const id = await createVideo(body);
  await bench.until(id, "succeeded", "failed");
  return (await bench.received(/generations$/))[0]!.body;
}

describe("creating videos", () => {
  it("NVID-01 NVID-02: answers with only the task's id, and every path accepts that id", async () => {
    const answer = await post({ ...v1, duration: 1 });
    const body = (await answer.json()) as Record<string, string>;
    expect([answer.status, Object.keys(body)]).toEqual([200, ["request_id"]]);
    const id = body["request_id"]!;
    expect(id).toMatch(/^task_/);
    await bench.until(id, "succeeded");
    const paths = [
      "/v1/tasks",
      "/v1/videos",
      "/api/v1/tasks",
      "/api/v3/contents/generations/tasks",
    ];
    for (const path of paths) expect((await bench.get(`${path}/${id}`)).status).toBe(200);
  });

  it("NVID-10 NVID-13 NVID-18: omitted fields have their defaults at the vendor", async () => {
    expect(await vendorBodyOf(v1)).toMatchObject({
      duration: 8,
      resolution: "480p",
      aspect_ratio: "16:9",
    });
    expect(await vendorBodyOf({ ...v1, duration: 1, generate_audio: false })).toMatchObject({
      generate_audio: false,
    });
  });

  it("NVID-15 NVID-16 NVID-21: the pictures in the request reach the vendor as first frame, last frame or references", async () => {
    expect(await vendorBodyOf({ ...v15, duration: 1 })).not.toHaveProperty("image");
    expect(await vendorBodyOf({ ...v15, duration: 1, image: data })).toMatchObject({ image: data });
    expect(
      await vendorBodyOf({ ...v15, duration: 1, reference_images: [data, data] }),
    ).toMatchObject({
      reference_images: [data, data],
    });
    const frames = { image: data, last_frame: data };
    expect(await vendorBodyOf({ ...v15, duration: 1, ...frames })).toMatchObject(frames);
  });

  const withReferences = (count: number) => ({
    reference_images: Array.from({ length: count }, () => data),
  });
  const withoutPrompt = { model: v1.model };
  const accepted: [string, object][] = [
    ["NVID-04", { ...v15, resolution: "1080p" }],
    ["NVID-05", { ...v15, ...withReferences(1), duration: 15 }],
    ["NVID-06", { ...v1, resolution: "720p" }],
    ["NVID-07", { ...v1, duration: 15 }],
    ["NVID-08", { ...v1, ...withReferences(1), duration: 10 }],
    ["NVID-09", { ...withoutPrompt, image: data, duration: 1 }],
    ["NVID-12", { ...v1, image: data, aspect_ratio: "1:1", duration: 1 }],
    ["NVID-17", { ...v1, ...withReferences(14), duration: 1 }],
  ];
  it.each(accepted)("%s: %j is accepted", async (_row, body) => {
    expect((await post(body)).status).toBe(200);
  });

  /** Ids of tasks, reservations and charges. A task that ends meanwhile changes nothing here, because all three have the id of their task. */
  const traces = () =>
    bench.database.query(
      "select id from tasks union select id from ledger_holds union select reference from ledger_entries order by id",
    );
  const refused: [string, object, string][] = [
    ["NVID-03", { prompt: "x" }, "model"],
    ["NVID-05", { ...v15, ...withReferences(1), duration: 16 }, "duration"],
    ["NVID-07", { ...v1, duration: 16 }, "duration"],
    ["NVID-07", { ...v1, duration: 0 }, "duration"],
    ["NVID-08", { ...v1, ...withReferences(1), duration: 11 }, "duration"],
    ["NVID-08", { ...v1, image: data, last_frame: data, duration: 11 }, "duration"],
    ["NVID-09", withoutPrompt, "prompt"],
    ["NVID-11", { ...v1, aspect_ratio: "5:4" }, "aspect_ratio"],
    ["NVID-14", { ...v1, resolution: "1080p" }, "resolution"],
    ["NVID-17", { ...v1, ...withReferences(15), duration: 1 }, "reference_images"],
    ["NVID-19", { ...v1, moderation: "none" }, "moderation"],
    ["NVID-22", { ...v1, image: url }, "image"],
    ["NVID-22", { ...v1, image: data, last_frame: url }, "last_frame"],
    ["NVID-22", { ...v1, reference_images: [url] }, "reference_images[0]"],
    ["NVID-23", { ...v1, reference_audios: [data] }, "reference_audios"],
  ];
  it.each(refused)(
    "%s NVID-24: %j is refused at once, without a task or a reservation",
    async (_row, body, param) => {
      const before = await traces();
      const answer = await post(body);
      const { error } = (await answer.json()) as { error: { param: string; message: string } };
      expect([answer.status, error.param]).toEqual([400, param]);
      expect(await traces()).toEqual(before);
    },
  );

  it("NVID-22: the refusal of a bare string shows the expected object", async () => {
    expect(await (await post({ ...v1, image: url })).text()).toContain("{url}");
  });

  it("NVID-27: a balance below the reservation is refused with 402, in the OpenAI style", async () => {
    const long = {
      ...v15,
      resolution: "1080p",
      duration: 15,
      prompt: scripted({ task_seconds: 600 }),
    };
    const answers = [];
    for (let count = 0; count < 3; count += 1)
      answers.push(
        await bench.send("POST", "/v1/videos/generations", { body: long, key: bench.otherKey }),
      );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 402]);
    expect(await answers[2]!.json()).toMatchObject({ error: { code: "insufficient_balance" } });
    expect(answers[2]!.headers.get("x-should-retry")).toBe("false");
  });

  it("a form is refused with 415, and a replay returns the same id", async () => {
    const form = new FormData();
    form.set("model", v1.model);
    expect((await bench.send("POST", "/v1/videos/generations", { body: form })).status).toBe(415);
    const key = { "idempotency-key": "one video" };
    const [first, second] = [
      await post({ ...v1, duration: 1 }, key),
      await post({ ...v1, duration: 1 }, key),
    ];
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.json()).toEqual(await first.json());
  });
});

describe("reading videos", () => {
  it("NVID-28 NVID-30 NVID-31 NVID-34: the video is pending, then done with the produced seconds, and no cost is shown", async () => {
    const id = await createVideo({
      ...v1,
      duration: 8,
      prompt: scripted({ task_seconds: 0.6, video_seconds: 6 }),
    });
    expect(await read(id)).toEqual({ status: "pending", model: v1.model });
    const task = await bench.until(id, "succeeded");
    const video = await read(id);
    expect(video).toEqual({
      status: "done",
      model: v1.model,
      video: { url: task.output.videos![0]!.url, duration: 6 },
    });
    const file = await fetch(video.video!.url);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  });

  it.each([
    ["failed", "failed"],
    ["blocked", "failed"],
    ["expired", "expired"],
  ])(
    "NVID-32 NVID-33 NVID-35 ERR-03: with outcome %s at the vendor, the status is failed, with the error of the task",
    async (outcome, status) => {
      const id = await createVideo({
        ...v1,
        duration: 1,
        prompt: scripted({ task_outcome: outcome }),
      });
      const task = await bench.until(id, status);
      expect(await read(id)).toEqual({ status: "failed", model: v1.model, error: task.error });
      expect(Object.keys(task.error!).sort()).toEqual(["code", "message"]);
    },
  );

  it("NVID-35: another workspace's video, a missing video and an image task are not found", async () => {
    const id = await createVideo({ ...v1, duration: 1 });
    const image = await bench.create({ model: "sandbox/task-image-model-1", prompt: "x" });
    const missing = `task_${"0".repeat(26)}`;
    const texts = [];
    for (const [name, key] of [
      [id, bench.otherKey],
      [missing, bench.key],
      [image.id, bench.key],
    ] as const) {
      const answer = await bench.send("GET", `/v1/videos/${name}`, { key });
      expect(answer.status).toBe(404);
      texts.push((await answer.text()).replace(name, "ID"));
    }
    expect(new Set(texts).size).toBe(1);
  });

  it("NVID-26: a 1080p video is charged at the price of its resolution", async () => {
    const before = await bench.available();
    const id = await createVideo({ ...v15, resolution: "1080p", duration: 2 });
    expect((await bench.until(id, "succeeded")).cost).toBe("0.5");
    expect(before - (await bench.available())).toBe(parseUsd("0.5"));
  });
});
