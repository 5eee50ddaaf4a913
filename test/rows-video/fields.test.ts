// The fields of a video task, from `POST /v1/tasks` to the vendor's request. Requirements: VID, LIM.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { scripted, startBench, type Bench } from "../task-http/support.ts";
import { taskHelpers, bySeconds, byTokens, first, frame, frames, second } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "off" } });
  await bench.credit("1000");
});
afterAll(() => bench?.close());

const { created, refused, sent, done } = taskHelpers(() => bench);
const native = taskHelpers(() => bench, "/v1/videos/generations");
const boat = { ...first, prompt: "A boat", duration: 1 };

describe("the request for a video", () => {
  it("VID-01 VID-24 VID-25: a JSON body is answered with 200 and the task, which has no images", async () => {
    const answer = await bench.send("POST", "/v1/tasks", {
      body: { ...boat, prompt: scripted({ task_seconds: 0.5 }) },
    });
    const task = (await answer.json()) as { status: string };
    expect(answer.status).toBe(200);
    expect(["queued", "running"]).toContain(task.status);
    expect(task).toMatchObject({
      id: expect.stringMatching(/^task_/) as string,
      model: first.model,
      output: { images: [], videos: [] },
    });
    const image = { model: "sandbox/task-image-model-1", prompt: "A boat" };
    expect((await bench.send("POST", "/v1/tasks", { body: image })).status).toBe(202);
  });

  it("VID-02: the model is required, and price and limits are the model's own", async () => {
    expect(await refused({ prompt: "A boat" })).toEqual({ status: 400, param: "model" });
    expect((await done({ ...boat, resolution: "720p" })).cost).toBe("0.07");
    expect((await done({ ...boat, ...second, resolution: "720p" })).cost).toBe("0.14");
    const sharp = { resolution: "1080p" };
    expect(await refused({ ...boat, ...sharp })).toEqual({ status: 400, param: "resolution" });
    expect(await sent({ ...boat, ...second, ...sharp })).toMatchObject(sharp);
  });

  it("VID-03 VID-04: the prompt may be left out only if there is input material", async () => {
    expect(await sent({ ...first, duration: 1, image: frame })).not.toHaveProperty("prompt");
    // A form sends such a text for an empty field.
    const blank = { ...first, duration: 1, image: frame, prompt: " " };
    expect(await sent(blank)).not.toHaveProperty("prompt");
    for (const body of [first, { ...first, prompt: "" }, { ...first, reference_images: [] }])
      expect(await refused(body)).toEqual({ status: 400, param: "prompt" });
  });

  it("VID-05 LIM-09: the default duration is 8 seconds", async () => {
    expect(await sent({ ...first, prompt: "A boat" })).toMatchObject({ duration: 8 });
  });

  it("VID-13 VID-15: image is the first frame, and last_frame may be given with it", async () => {
    const other = { url: `${frame.url}AAAA` };
    expect(await sent({ ...boat, image: frame })).toMatchObject({ image: frame });
    const both = { image: frame, last_frame: other };
    expect(await sent({ ...boat, ...both })).toMatchObject(both);
  });

  it("VID-14: material at a private address is refused", async () => {
    for (const host of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "localhost"]) {
      const image = { url: `http://${host}:${new URL(bench.url).port}/a.png` };
      expect(await refused({ ...boat, image })).toEqual({ status: 400, param: "image.url" });
    }
    const image = { url: "https://1.1.1.1/a.png" };
    expect(await sent({ ...boat, image })).toMatchObject({ image });
  });

  it("VID-20: the end user's id reaches the vendor", async () => {
    expect(await sent({ ...boat, user: "hash-of-a-user" })).toMatchObject({
      user: "hash-of-a-user",
    });
  });

  it("VID-21 VID-22: material in the list `media` makes the same call, with the same limits and price", async () => {
    const entry = (type: string) => ({ type, ...frame });
    const spellings: [object, object[]][] = [
      [{ image: frame }, [entry("first_frame")]],
      [{ image: frame, last_frame: frame }, [entry("last_frame"), entry("first_frame")]],
      [{ reference_images: frames(2) }, [entry("reference_image"), entry("reference_image")]],
    ];
    for (const [fields, media] of spellings) {
      const [one, other] = [await sent({ ...boat, ...fields }), await sent({ ...boat, media })];
      expect({ ...other, user: "" }).toEqual({ ...one, user: "" });
    }
    const reference = { ...first, media: [entry("reference_image")] };
    expect(await refused({ ...reference, duration: 11 })).toMatchObject({ status: 400 });
    const many = Array.from({ length: 15 }, () => entry("reference_image"));
    expect(await refused({ ...boat, media: many })).toEqual({ status: 400, param: "media" });
    expect((await done({ ...reference, duration: 1 })).cost).toBe("0.06");
  });
});

describe("the limits of fields", () => {
  it.each([
    ["VID-06 LIM-09", { duration: 1 }],
    ["VID-06 LIM-09", { duration: 15 }],
    ["VID-07 LIM-09", { duration: 15, image: frame }],
    ["VID-07 LIM-09", { duration: 10, image: frame, last_frame: frame }],
    ["VID-07 LIM-09", { duration: 10, reference_images: [frame] }],
    ["VID-10", { aspect_ratio: "1:1", image: frame }],
    ["VID-16 LIM-10", { reference_images: frames(14) }],
    ["VID-18", { moderation: "low" }],
    ["VID-18", { moderation: "auto" }],
    ["VID-18", { moderation: "high" }],
  ])("%s: %j is accepted", async (_row, fields) => {
    await created({ ...boat, ...fields });
  });

  it.each([
    ["VID-06 LIM-09", { duration: 0 }, "duration"],
    ["VID-06 LIM-09", { duration: 16 }, "duration"],
    ["VID-05", { duration: 1.5 }, "duration"],
    ["VID-07 VID-08 LIM-09", { duration: 11, reference_images: [frame] }, "duration"],
    ["VID-07 VID-08 LIM-09", { duration: 11, image: frame, last_frame: frame }, "duration"],
    ["VID-09", { aspect_ratio: "5:4" }, "aspect_ratio"],
    ["VID-12", { resolution: "1080p" }, "resolution"],
    ["VID-16 LIM-10", { reference_images: frames(15) }, "reference_images"],
    ["VID-17", { audio: "yes" }, "audio"],
    ["VID-18", { moderation: "none" }, "moderation"],
    ["VID-26", { prompt: 7 }, "prompt"],
  ])("%s VID-26: %j is refused at once, and no vendor is called", async (_row, fields, param) => {
    expect(await refused({ ...boat, ...fields })).toEqual({ status: 400, param });
  });

  it("VID-26: a video that the balance cannot cover is refused with 402", async () => {
    const long = { ...second, prompt: "A boat", duration: 15, resolution: "1080p" };
    const slow = { ...long, prompt: scripted({ task_seconds: 600 }) };
    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      const answer = await bench.send("POST", "/v1/tasks", { body: slow, key: bench.otherKey });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 402]);
  });

  it.each([
    ["v1", first, ["480p", "720p"]],
    ["v1_5", second, ["480p", "720p", "1080p"]],
  ])("LIM-11: %s accepts exactly its own resolutions", async (_name, model, tiers) => {
    for (const resolution of tiers)
      expect(await sent({ ...boat, ...model, resolution })).toMatchObject({ resolution });
    for (const resolution of ["480p", "720p", "1080p", "1440p"].filter(
      (one) => !tiers.includes(one),
    ))
      expect(await refused({ ...boat, ...model, resolution })).toEqual({
        status: 400,
        param: "resolution",
      });
  });

  it("LIM-15: execution_expires_after is 1 to 72 hours, and 48 by default", async () => {
    const lifetime = async (body: object) => {
      const { id } = await created({ ...byTokens, prompt: "A boat", duration: 1, ...body });
      const [row] = await bench.database.query<{ seconds: number }>(
        "select extract(epoch from expires_at - created_at)::integer as seconds from tasks where id = $1",
        [id],
      );
      return row!.seconds;
    };
    expect(await lifetime({})).toBe(172_800);
    for (const seconds of [3600, 259_200])
      expect(await lifetime({ execution_expires_after: seconds })).toBe(seconds);
    for (const seconds of [3599, 259_201])
      expect(
        await refused({ ...byTokens, prompt: "A boat", execution_expires_after: seconds }),
      ).toEqual({ status: 400, param: "execution_expires_after" });
  });
});

describe("the vendor's request", () => {
  it("VID-09 VID-11: has one of seven aspect ratios; the default is 16:9 at 480p, at that tier's price", async () => {
    expect(await sent(boat)).toMatchObject({ aspect_ratio: "16:9", resolution: "480p" });
    expect((await done(boat)).cost).toBe("0.05");
    for (const ratio of ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"])
      expect(await sent({ ...boat, aspect_ratio: ratio })).toMatchObject({ aspect_ratio: ratio });
  });

  it("VID-10: has no aspect ratio if there is a first frame", async () => {
    const body = await sent({ ...boat, image: frame, aspect_ratio: "1:1" });
    expect(body).not.toHaveProperty("aspect_ratio");
  });

  it("VID-17: asks for sound unless `audio` is false", async () => {
    const soundOf = async (body: object) => {
      const { output } = await done(body as Record<string, unknown>);
      const file = Buffer.from(await (await fetch(output.videos![0]!.url)).arrayBuffer());
      return file.includes("mp4a");
    };
    expect(await soundOf(boat)).toBe(true);
    expect(await soundOf({ ...boat, audio: true })).toBe(true);
    expect(await soundOf({ ...boat, audio: false })).toBe(false);
    expect(await sent({ ...boat, audio: false })).toMatchObject({ generate_audio: false });
  });

  it("VID-18 NVID-19: has the caller's `moderation`, and the task has no note of it", async () => {
    for (const moderation of ["low", "auto", "high"]) {
      expect(await sent({ ...boat, moderation })).toMatchObject({ moderation });
    }
    expect(await created({ ...boat, moderation: "low" })).not.toHaveProperty("notes");
  });

  it("VID-19: has no `moderation` if the caller sent none", async () => {
    expect(await sent(boat)).not.toHaveProperty("moderation");
  });

  it("VID-27: makes a video of the same price at the native endpoint", async () => {
    const body = { ...boat, duration: 3, resolution: "720p", reference_images: frames(2) };
    const [task, video] = [await done(body), await native.done(body)];
    expect([task.cost, video.cost]).toEqual(["0.23", "0.23"]);
  });

  it("VID-28: lacks fields that the model does not have, which are reported in notes and in the request log", async () => {
    for (const model of [first, bySeconds]) {
      const body = { ...boat, ...model, prompt_extend: true };
      expect(JSON.stringify(await sent(body))).not.toContain("prompt_extend");
      const task = await done(body);
      expect(task.notes).toEqual([expect.stringMatching(/^prompt_extend: /)]);
      const row = await eventually(async () => {
        const rows = await bench.database.query<{ notes: string[]; dropped: string[] }>(
          "select notes, dropped from request_log where id = $1",
          [task.id],
        );
        return rows[0];
      }, "the row of the request log");
      expect(row).toEqual({ notes: task.notes, dropped: ["prompt_extend"] });
    }
  });

  it("VID-29: has `audio` for v1; for the model billed by the second it is dropped with a note", async () => {
    expect(await created({ ...boat, audio: false })).not.toHaveProperty("notes");
    const silent = { ...boat, ...bySeconds, audio: false };
    expect((await created(silent)).notes).toEqual([expect.stringMatching(/^audio: /)]);
    expect(JSON.stringify(await sent(silent))).not.toContain('"audio"');
  });
});

describe("models without a native format", () => {
  it("TASK-47: accept the unified body, which is converted for their vendors", async () => {
    const seconds = await sent({ ...boat, ...bySeconds, negative_prompt: "rain", seed: 7 });
    expect(seconds).toMatchObject({
      input: { negative_prompt: "rain" },
      parameters: { duration: 1, seed: 7, resolution: "480P", ratio: "16:9" },
    });
    const tokens = await sent({ ...boat, ...byTokens, camera_fixed: true, audio: false });
    expect(tokens).toMatchObject({ duration: 1, camera_fixed: true, generate_audio: false });
    for (const model of [bySeconds, byTokens])
      expect((await done({ ...boat, ...model })).output.videos).toHaveLength(1);
    const image = await bench.create(
      { model: "sandbox/image-model-c", prompt: "A boat", n: 2 },
      { prefer: "wait=20" },
    );
    expect(image).toMatchObject({ status: "succeeded", output: { images: [{}, {}] } });
  });
});
