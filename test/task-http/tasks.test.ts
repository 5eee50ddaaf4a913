// POST /v1/tasks, and reading, listing and canceling tasks, over the sandbox's vendors.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { faults, named } from "../http/openapi-support.ts";
import { scripted, startBench, video, type Bench, type TaskBody } from "./support.ts";
import { picture } from "./upload-support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const image = { model: "sandbox/task-image-model-1", prompt: "A boat" };
/** Longer than any wait in this file, but short, because the gateway closes only after its steps have ended. */
const slow = (body: object) => ({ ...body, prompt: scripted({ delay_ms: 3_000 }) });
const wait = (seconds: number) => ({ prefer: `wait=${seconds}` });
const post = (body: object, headers: Record<string, string> = {}) =>
  bench.send("POST", "/v1/tasks", { body, headers });
async function formOf(fields: Record<string, string | Blob | Blob[]>): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat())
      if (typeof one === "string") form.append(name, one);
      else form.append(name, one, "a.png");
  return form;
}
const blob = async (...options: Parameters<typeof picture>) =>
  new Blob([new Uint8Array(await picture(...options))]);
const refusal = async (answer: Response) => {
  const { error } = (await answer.json()) as { error: { code: string; param: string | null } };
  return { status: answer.status, code: error.code, param: error.param };
};

describe("creating tasks", () => {
  it("TASK-01 TASK-07 TASK-19 TASK-21 TASK-22 TASK-37: answers 202 before the result, with the task as it is read, and reserves its price", async () => {
    const before = await bench.available();
    const answer = await post(slow(image));
    const created = (await answer.json()) as TaskBody;
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe(`/v1/tasks/${created.id}`);
    expect(answer.headers.get("retry-after")).toBe("3");
    expect(answer.headers.get("vary")).toBe("Prefer");
    expect(answer.headers.get("preference-applied")).toBeNull();
    const read = await bench.read(created.id);
    for (const task of [created, read]) expect(faults(named("Task"), task)).toEqual([]);
    expect(created).toMatchObject({ status: "queued", model: image.model, cost: "0" });
    expect(created.id).toMatch(/^task_.+/);
    expect(created.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // One picture of the low tier at 1K.
    expect(before - (await bench.available())).toBe(parseUsd("0.02"));
  });

  it("TASK-02 TASK-03 TASK-05: takes an image task as a form or as JSON, and edits when the form has a picture", async () => {
    await bench.received(/./);
    const form = await formOf({ ...image, prompt: "From a form", image: await blob("png") });
    const edit = await post(form);
    expect(edit.status).toBe(202);
    expect((await post({ ...image, prompt: "From JSON" })).status).toBe(202);
    const { id } = (await edit.json()) as TaskBody;
    await bench.until(id, "succeeded");
    const find = async () =>
      (await bench.received(/images/)).map(({ path, body }) => [
        path.split("/").at(-1),
        body["prompt"],
      ]);
    expect(Object.fromEntries(await find())).toEqual({
      edits: "From a form",
      generations: "From JSON",
    });
  });

  it("TASK-04 TASK-06: an image task takes no image URLs; a video task takes them in JSON", async () => {
    const url = `data:image/png;base64,${(await picture("png")).toString("base64")}`;
    expect(await refusal(await post({ ...image, image: url }))).toMatchObject({ status: 400 });
    expect(await refusal(await post({ ...image, image: { url } }))).toMatchObject({ status: 400 });
    const created = await post({ ...video, image: { url } });
    expect(created.status).toBe(200);
    const { id } = (await created.json()) as TaskBody;
    expect((await bench.until(id, "succeeded")).output.videos).toHaveLength(1);
  });

  it("TASK-08 TASK-17 TASK-23 TASK-26 TASK-38: with `Prefer: wait` answers 200 with the result, whose files can be fetched", async () => {
    const form = await formOf({
      ...image,
      n: "2",
      image: [await blob("png"), await blob("jpeg"), await blob("webp")],
    });
    const answer = await post(form, wait(60));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("preference-applied")).toBe("wait=60");
    expect(answer.headers.get("location")).toBeNull();
    const task = (await answer.json()) as TaskBody;
    expect(task).toMatchObject({
      status: "succeeded",
      output: { images: [{ index: 0 }, { index: 1 }] },
      usage: { output_images: 2, input_images: 3 },
    });
    expect("videos" in task.output).toBe(false);
    for (const { url } of task.output.images) {
      expect(url.startsWith(`${bench.url}/files/`)).toBe(true);
      const file = await fetch(url);
      expect([file.status, file.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    }
  });

  it("TASK-09: a `Prefer: wait` that runs out is answered with 202 and the task", async () => {
    const started = performance.now();
    const answer = await post(slow(image), wait(1));
    const tookMs = performance.now() - started;
    expect(answer.status).toBe(202);
    expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(30_000);
    expect(answer.headers.get("preference-applied")).toBe("wait=1");
    expect(["queued", "running"]).toContain(((await answer.json()) as TaskBody).status);
  });

  it("a caller that disconnects while it waits cancels nothing", async () => {
    const leave = new AbortController();
    const body = JSON.stringify({ ...video, prompt: scripted({ task_seconds: 1.5 }) });
    const headers = {
      authorization: `Bearer ${bench.key}`,
      "content-type": "application/json",
      ...wait(30),
    };
    const init = { method: "POST", body, headers, signal: leave.signal };
    const asked = fetch(`${bench.url}/v1/tasks`, init).catch((error: unknown) => error);
    setTimeout(() => leave.abort(), 400);
    expect(await asked).toMatchObject({ name: "AbortError" });
    const list = (await (await bench.get("/v1/tasks?limit=1")).json()) as { data: TaskBody[] };
    expect((await bench.until(list.data[0]!.id, "succeeded")).status).toBe("succeeded");
  });

  it("TASK-11: an invalid request is refused with the name of the field", async () => {
    expect(await refusal(await post({ model: image.model }))).toEqual({
      status: 400,
      code: "missing_required_parameter",
      param: "prompt",
    });
    const wrong: [object, string, string | null][] = [
      [{ prompt: "x" }, "missing_required_parameter", "model"],
      [{ ...image, model: 1 }, "invalid_type", "model"],
      [{ ...image, webhook_url: 1 }, "invalid_type", "webhook_url"],
      [{ ...image, prompt: "\0" }, "invalid_value", "prompt"],
      [{ ...video, image: { url: "\ud800" } }, "invalid_value", "image.url"],
      [{ ...image, "a\0": 1 }, "invalid_value", null],
    ];
    for (const [body, code, param] of wrong)
      expect(await refusal(await post(body))).toEqual({ status: 400, code, param });
    const answer = await bench.send("POST", "/v1/tasks", {
      headers: { "content-type": "text/plain" },
      body: "x",
    });
    expect((await refusal(answer)).status).toBe(415);
  });

  it("TASK-12 TASK-13: streaming options are refused, and accepted without a note when they ask for no stream", async () => {
    for (const model of [image, video]) {
      for (const one of [{ stream: true }, { partial_images: 1 }])
        expect((await post({ ...model, ...one })).status).toBe(400);
      const quiet = await post({ ...model, stream: false, partial_images: 0 });
      expect(quiet.ok).toBe(true);
      expect((await quiet.json()) as object).not.toHaveProperty("notes");
    }
  });

  it("TASK-18: every kind of request takes webhook_url, and it must be https to a public host", async () => {
    const form = await formOf({
      ...image,
      webhook_url: "https://1.1.1.1/hook",
      image: await blob("png"),
    });
    for (const body of [
      { ...image, webhook_url: "https://1.1.1.1/hook" },
      { ...video, webhook_url: "https://1.1.1.1/hook" },
      form,
    ])
      expect((await post(body)).ok).toBe(true);
    for (const url of ["http://1.1.1.1/hook", "https://127.0.0.1/hook", "nonsense"])
      expect(await refusal(await post({ ...video, webhook_url: url }))).toMatchObject({
        status: 400,
        param: "webhook_url",
      });
  });

  it("TASK-33 TASK-35 ERR-12: dropped fields are reported in notes, and without any there are no notes", async () => {
    const clean = await bench.create(video);
    expect("notes" in clean).toBe(false);
    const changed = await post({ ...image, foo: 1 });
    expect(changed.status).toBe(202);
    const { notes } = (await changed.json()) as TaskBody;
    expect(notes).toHaveLength(1);
    expect(notes![0]).toMatch(/^foo: /);
    // A long name is cut, but not inside a character.
    const long = await post({ ...video, [`${"x".repeat(199)}\u{1f6a3}\u{1f6a3}`]: 1 });
    expect(long.status).toBe(200);
    expect(((await long.json()) as TaskBody).notes![0]).toMatch(/^x{199}\W/);
  });
});

describe("an idempotency key", () => {
  it("TASK-10 TASK-45: the same key and body return the existing task in its present state", async () => {
    await bench.received(/./);
    const body = { ...video, prompt: "Once only" };
    const key = { "idempotency-key": "order 17/3" };
    const before = await bench.available();
    const first = await bench.create(body, key);
    const reservedNano = before - (await bench.available());
    await bench.until(first.id, "succeeded");
    const answer = await post({ duration: 2, prompt: body.prompt, model: body.model }, key);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("idempotent-replayed")).toBe("true");
    expect((await answer.json()) as TaskBody).toMatchObject({ id: first.id, status: "succeeded" });
    expect(reservedNano).toBe(parseUsd("0.1"));
    expect(before - (await bench.available())).toBe(parseUsd("0.1"));
    const sent = await bench.received(/generations/);
    expect(sent.filter((one) => one.body["prompt"] === "Once only")).toHaveLength(1);
  });

  it("another body or another path with the same key is refused", async () => {
    const key = { "idempotency-key": "reused" };
    await bench.create(video, key);
    const refused = { status: 422, code: "idempotency_key_reuse", param: "Idempotency-Key" };
    expect(await refusal(await post({ ...video, duration: 3 }, key))).toEqual(refused);
    const other = await bench.send("POST", "/v1/videos/generations", { body: video, headers: key });
    expect(await refusal(other)).toEqual(refused);
  });

  it("TASK-10 TASK-45: another workspace's request with the same key and body makes its own task", async () => {
    const headers = { "idempotency-key": "shared" };
    const { id } = await bench.create(video, headers);
    const made = await bench.send("POST", "/v1/tasks", {
      key: bench.otherKey,
      body: video,
      headers,
    });
    expect([made.status, made.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect(((await made.json()) as TaskBody).id).not.toBe(id);
    expect((await bench.create(video, headers)).id).toBe(id);
  });

  it("forms are compared by content, and the pictures of a replay are not kept", async () => {
    const form = async (width = 8) =>
      formOf({ ...image, prompt: "A form", image: await blob("png", { width }) });
    const key = { "idempotency-key": "a form" };
    const first = await post(await form(), key);
    const { id } = (await first.json()) as TaskBody;
    expect(first.status).toBe(202);
    await bench.until(id, "succeeded");
    const again = await post(await form(), key);
    expect([again.status, ((await again.json()) as TaskBody).id]).toEqual([200, id]);
    expect((await refusal(await post(await form(9), key))).status).toBe(422);
    const rows = await bench.database.query(
      "select name from files where purpose = 'input' and expires_at > now() + interval '1 second'",
    );
    expect(rows).toEqual([]);
  });

  it("a refused request leaves its key unused, and a malformed key is refused", async () => {
    const key = { "idempotency-key": "second try" };
    expect((await post({ model: video.model }, key)).status).toBe(400);
    expect((await post(video, key)).headers.get("idempotent-replayed")).toBeNull();
    const tooLong = { "idempotency-key": "x".repeat(256) };
    expect(await refusal(await post(video, tooLong))).toMatchObject({
      status: 400,
      param: "Idempotency-Key",
    });
    const form = await formOf({ ...image, image: await blob("png") });
    expect((await post(form, tooLong)).status).toBe(400);
  });
});

describe("the end of a task", () => {
  it("TASK-24 TASK-28 TASK-31 TASK-32: reports the produced seconds and the charged cost", async () => {
    const before = await bench.available();
    const body = { ...video, duration: 8, prompt: scripted({ video_seconds: 6 }) };
    const task = await bench.create(body, wait(20));
    expect(task.usage).toEqual({
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      output_video_seconds: 6,
    });
    expect(task.output.videos).toMatchObject([{ index: 0 }]);
    expect(task.cost).toBe("0.3");
    expect(before - (await bench.available())).toBe(parseUsd("0.3"));
  });

  it("TASK-27 TASK-29 TASK-30: reports image tokens, video seconds and video tokens, each in its own fields", async () => {
    const [pictures, seconds, tokens] = await Promise.all([
      bench.create({ ...image, model: "sandbox/task-image-model-2" }, wait(20)),
      bench.create({ ...video, model: "sandbox/video-model-seconds" }, wait(20)),
      bench.create({ ...video, model: "sandbox/video-model-tokens", duration: 4 }, wait(20)),
    ]);
    const { input_tokens: input, output_tokens: output, total_tokens: total } = pictures.usage;
    expect(Object.keys(pictures.usage)).toHaveLength(3);
    expect(output).toBeGreaterThan(0);
    expect(total).toBe(input! + output!);
    expect(seconds.usage).toMatchObject({ output_video_seconds: 2 });
    expect(seconds.usage).not.toHaveProperty("output_video_tokens");
    const { output_video_tokens: count, ...zeros } = tokens.usage;
    expect(count).toBeGreaterThan(0);
    expect(zeros).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  });

  it.each([
    ["failed", "failed"],
    ["blocked", "failed"],
    ["expired", "expired"],
  ])(
    "TASK-34 TASK-36 TASK-39 TASK-40 ERR-14: with outcome %s at the vendor, the task is %s, readable, and costs nothing",
    async (outcome, status) => {
      const before = await bench.available();
      const task = await bench.create(
        { ...video, prompt: scripted({ task_outcome: outcome }) },
        wait(20),
      );
      expect(task).toMatchObject({ status, cost: "0", output: { images: [], videos: [] } });
      expect(Object.keys(task.error!).sort()).toEqual(["code", "message"]);
      expect(await bench.available()).toBe(before);
      expect(await bench.read(task.id)).toEqual(task);
    },
  );

  it("TASK-16: polling a task 30 times at once is never rate limited", async () => {
    const { id } = await bench.create(video);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => bench.get(`/v1/tasks/${id}`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await bench.until(id, "succeeded");
  });
});
