/** The video vendors: a task's states in each vendor's words, and its file. */
import { describe, expect, it } from "vitest";
import { ask, finish, readMp4, submit, videoVendors } from "./media.ts";
import { scripted, useSandbox, useStoppedDate } from "./support.ts";

const sandbox = useSandbox();
const pass = useStoppedDate();

describe.each(videoVendors)("videos of $name", (vendor) => {
  const run = (script: object, body?: Record<string, unknown>) =>
    finish(
      {
        url: sandbox.url,
        vendor,
        prompt: scripted(script, `A fox, ${vendor.name}`),
        ...(body ? { body } : {}),
      },
      pass,
    );
  const send = (script: object) =>
    submit({ url: sandbox.url, vendor, prompt: scripted(script, `A fox, ${vendor.name}`) });
  const video = async (url: string) => readMp4(Buffer.from(await (await fetch(url)).arrayBuffer()));

  it("go through the vendor's states, and are real files of the requested size and length", async () => {
    const { seen, last } = await run({ task_seconds: 0.4 });
    expect(seen).toEqual([...vendor.pending, vendor.words.succeeded]);
    const made = await video(vendor.videoUrl(last));
    expect(made.order).toEqual(["ftyp", "moov", "mdat"]);
    expect(made.seconds).toBe(2);
    expect(made.tracks).toEqual([
      { kind: "vide", seconds: 2, width: 848, height: 480, samples: 48 },
      { kind: "soun", seconds: 2, width: 0, height: 0, samples: 94 },
    ]);
  });

  it("video_seconds: the video has that length instead of the requested one", async () => {
    const { last } = await run({ video_seconds: 1.5 });
    expect((await video(vendor.videoUrl(last))).seconds).toBe(1.5);
    expect(JSON.stringify(last.json)).toContain('duration":1.5');
  });

  it("task_outcome failed: the error is the script's, or by default the vendor's own", async () => {
    const { last } = await run({
      task_outcome: "failed",
      error: { code: "Told", message: "As told" },
    });
    expect(vendor.state(last)).toBe(vendor.words.failed);
    expect(vendor.failure(last)).toEqual({ code: "Told", message: "As told" });
    const plain = await run({ task_outcome: "failed" });
    expect(vendor.failure(plain.last)).toMatchObject({ message: "The sandbox was told to fail." });
  });

  it("task_outcome expired and blocked: no file", async () => {
    for (const outcome of ["expired", "blocked"] as const) {
      const { last } = await run({ task_outcome: outcome });
      expect(vendor.state(last)).toBe(vendor.words[outcome]);
      expect(vendor.videoUrl(last)).toBe("");
    }
  });

  it("task_outcome vanished: the id is known at first, and later answered like an unknown one", async () => {
    const { seen, last, id } = await run({ task_outcome: "vanished", task_seconds: 0.5 });
    expect(seen).toEqual(expect.arrayContaining([vendor.pending[0]]));
    const never = await ask(sandbox.url + vendor.pollPath("never-was"));
    expect(last.status).toBe(never.status);
    const words = (answer: typeof last) => vendor.errorMessage(answer).replace(/Request id.*/, "");
    expect(words(last)).toBe(words(never).replace("never-was", id));
    expect(last.status).toBe(vendor.name === "dashscope" ? 200 : 404);
  });

  it("poll: only the first polls of each task fail", async () => {
    const script = { poll: { status: 503, error: "Busy", retry_after: 1, times: 2 } };
    for (let task = 0; task < 2; task += 1) {
      const id = vendor.id(await send(script));
      const poll = () => ask(sandbox.url + vendor.pollPath(id));
      const first = await poll();
      expect([first.status, (await poll()).status]).toEqual([503, 503]);
      expect(first.headers.get("retry-after")).toBe("1");
      expect(vendor.errorMessage(first)).toContain("Busy");
      expect((await poll()).status).toBeLessThan(300);
    }
  });

  it("status on submission: an error in the vendor's format, and no task", async () => {
    const refused = await send({ status: 429, error: "Slow down", retry_after: 3 });
    expect(refused.status).toBe(429);
    expect(vendor.errorMessage(refused)).toContain("Slow down");
    expect(vendor.id(refused)).toBe("");
    expect(refused.headers.get("retry-after")).toBe("3");
  });

  it("cut_after_chunks and malformed on submission: an unreadable answer", async () => {
    await expect(send({ cut_after_chunks: 0 })).rejects.toThrow(/terminated|fetch failed/);
    await expect(send({ malformed: "json" })).rejects.toThrow("JSON");
  });

  it("a missing or a wrong key is refused", async () => {
    for (const key of ["", "Bearer wrong"]) {
      const headers = { ...vendor.submitHeaders, authorization: key };
      const refused = await ask(sandbox.url + vendor.submitPath, {
        body: vendor.body("Hi"),
        headers,
      });
      expect(refused.status).toBe(vendor.name === "xai" && key !== "" ? 400 : 401);
      expect(vendor.errorMessage(refused)).toContain("sandbox");
    }
  });

  it("an invalid script is refused: a misspelt field in poll or artifact, or an unknown outcome", async () => {
    for (const [script, words] of [
      [{ poll: { statsu: 1 } }, "no such field: poll.statsu"],
      [{ artifact: { flod: true } }, "no such field: artifact.flod"],
      [{ task_outcome: "sunk" }, "task_outcome must be one of"],
    ] as const) {
      const refused = await send(script);
      expect(refused.status).toBe(400);
      expect(vendor.errorMessage(refused)).toContain(words);
    }
  });
});

describe("the particulars of each video vendor", () => {
  const [xai, dashscope, ark] = videoVendors as [
    (typeof videoVendors)[0],
    (typeof videoVendors)[0],
    (typeof videoVendors)[0],
  ];
  const tracksOf = async (url: string) =>
    readMp4(Buffer.from(await (await fetch(url)).arrayBuffer())).tracks;

  it("xai: 1080p has 1088 lines, a silent video has no audio track, and the first poll is 202", async () => {
    const body = { duration: 1, resolution: "1080p", generate_audio: false };
    const { seen, last } = await finish(
      {
        url: sandbox.url,
        vendor: xai,
        prompt: scripted({ task_seconds: 0.4 }),
        body,
      },
      pass,
    );
    expect(seen).toEqual(["202", "pending", "done"]);
    const tracks = await tracksOf(xai.videoUrl(last));
    expect(tracks).toEqual([expect.objectContaining({ kind: "vide", width: 1920, height: 1088 })]);
    expect(last.json).toMatchObject({
      model: "video-model-v1.5",
      video: { duration: 1, respect_moderation: true },
    });
  });

  it("xai: image-to-video has the size of its source", async () => {
    const { default: sharp } = await import("sharp");
    const picture = await sharp({
      create: { width: 321, height: 200, channels: 3, background: "red" },
    })
      .png()
      .toBuffer();
    const image = { url: `data:image/png;base64,${picture.toString("base64")}` };
    const { last } = await finish(
      {
        url: sandbox.url,
        vendor: xai,
        prompt: "",
        body: { prompt: undefined, image, duration: 1, aspect_ratio: "1:1" },
      },
      pass,
    );
    const [track] = await tracksOf(xai.videoUrl(last));
    expect(track).toMatchObject({ width: 322, height: 200 });
  });

  it("dashscope: only a pending task can be canceled, unknown ids are UNKNOWN, and times are Beijing's", async () => {
    const cancel = (id: string) =>
      ask(`${sandbox.url}${dashscope.pollPath(id)}/cancel`, { method: "POST" });
    const slow = { url: sandbox.url, vendor: dashscope, prompt: scripted({ task_seconds: 60 }) };
    const id = dashscope.id(await submit(slow));
    expect((await cancel(id)).json).toEqual({ request_id: expect.any(String) });
    const canceled = await ask(sandbox.url + dashscope.pollPath(id));
    expect(dashscope.state(canceled)).toBe("CANCELED");
    const submitted = JSON.stringify(canceled.json?.["output"]?.["submit_time"]).slice(1, -1);
    expect(submitted).toMatch(/^\d{4}(-\d\d){2} (\d\d:){2}\d\d\.\d{3}$/);
    expect(Date.parse(`${submitted.replace(" ", "T")}+08:00`)).toBe(Date.now());
    const prompt = scripted({ task_seconds: 2 });
    const other = dashscope.id(await submit({ ...slow, prompt }));
    for (const state of ["RUNNING", "SUCCEEDED"]) {
      pass(1_001);
      expect(dashscope.state(await ask(sandbox.url + dashscope.pollPath(other)))).toBe(state);
      const refused = await cancel(other);
      expect([refused.status, refused.json?.["code"]]).toEqual([400, "UnsupportedOperation"]);
    }
    const again = await cancel(id);
    expect([again.status, again.json?.["code"]]).toEqual([400, "UnsupportedOperation"]);
    const unknown = await ask(sandbox.url + dashscope.pollPath("no-such"));
    expect(unknown.json?.["output"]).toEqual({ task_id: "no-such", task_status: "UNKNOWN" });
  });

  it("dashscope: usage reports the seconds, the tier and the size", async () => {
    const { last } = await finish({ url: sandbox.url, vendor: dashscope, prompt: "A fox" }, pass);
    expect(last.json?.["usage"]).toEqual({
      duration: 2,
      output_video_duration: 2,
      input_video_duration: 0,
      fps: 24,
      SR: 480,
      size: "848*480",
      ratio: "16:9",
      video_count: 1,
    });
  });

  it("ark: tokens are the pixels of all frames divided by 1024, and a script may set others or none", async () => {
    const tokens = async (script: object) => {
      const prompt = scripted(script);
      const { last } = await finish({ url: sandbox.url, vendor: ark, prompt }, pass);
      return last.json?.["usage"];
    };
    const counted = Math.round((848 * 480 * 24 * 2) / 1024);
    expect(await tokens({})).toEqual({
      completion_tokens: counted,
      total_tokens: counted,
      tool_usage: { web_search: 0 },
    });
    expect(await tokens({ usage: { output: 7 } })).toMatchObject({ completion_tokens: 7 });
    expect(await tokens({ usage: null })).toBeUndefined();
  });

  it("ark: DELETE cancels a queued task, is refused for a running one, and removes a finished one", async () => {
    const start = async (seconds: number) =>
      ark.id(
        await submit({
          url: sandbox.url,
          vendor: ark,
          prompt: scripted({ task_seconds: seconds }),
        }),
      );
    const at = (id: string) => sandbox.url + ark.pollPath(id);
    const remove = (id: string) => ask(at(id), { method: "DELETE" });
    const queued = await start(60);
    expect((await remove(queued)).status).toBe(200);
    expect((await ask(at(queued))).json?.["status"]).toBe("cancelled");
    const running = await start(1.2);
    pass(700);
    expect((await remove(running)).status).toBe(409);
    const over = await start(0);
    expect((await remove(over)).status).toBe(200);
    expect((await ask(at(over))).json?.["error"]).toMatchObject({ code: "ResourceNotFound" });
  });
});
