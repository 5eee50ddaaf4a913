// Tasks under DashScope's and Ark's own paths: reading, canceling, creating on Ark's, and errors in their formats.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults, named } from "../http/openapi-support.ts";
import { scripted, startBench, video, type Bench } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const image = { model: "sandbox/image-model-c", prompt: "A boat" };
const tokens = { model: "sandbox/video-model-tokens", prompt: "A boat", duration: 4 };
const wait = { prefer: "wait=20" };
const ark = "/api/v3/contents/generations/tasks";
const missing = `task_${"0".repeat(26)}`;

async function readAs<Shape>(schema: string, path: string): Promise<Shape> {
  const answer = await bench.get(path);
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as Shape;
  expect(faults(named(schema), body)).toEqual([]);
  return body;
}
interface Dashscope {
  readonly request_id: string;
  readonly output: Record<string, unknown> & { readonly task_status: string };
}
const dashscope = (id: string) => readAs<Dashscope>("DashscopeTask", `/api/v1/tasks/${id}`);
interface Ark {
  readonly id: string;
  readonly status: string;
  readonly content?: { readonly video_url: string };
  readonly usage?: { readonly completion_tokens: number; readonly total_tokens: number };
  readonly error?: { readonly code: string; readonly message: string };
}
const arkTask = (id: string) => readAs<Ark>("ArkTask", `${ark}/${id}`);

describe("`/api/v1/tasks`", () => {
  it("ALIAS-01 ALIAS-02 ALIAS-03 ALIAS-04: a finished image task has its pictures, in our storage", async () => {
    const task = await bench.create({ ...image, n: 2 }, wait);
    const answer = await bench.get(`/api/v1/tasks/${task.id}`);
    const { request_id: requestId, output } = (await answer.json()) as Dashscope;
    expect(answer.headers.get("x-request-id")).toBe(requestId);
    expect(output).toEqual({
      task_id: task.id,
      task_status: "SUCCEEDED",
      choices: task.output.images.map(({ url }) => ({
        finish_reason: "stop",
        message: { role: "assistant", content: [{ type: "image", image: url }] },
      })),
    });
    const { url } = task.output.images[0]!;
    expect(url.startsWith(`${bench.url}/files/`)).toBe(true);
    expect((await fetch(url)).status).toBe(200);
  });

  it("ALIAS-06 ALIAS-09: queued and running tasks are PENDING", async () => {
    const { id } = await bench.create({ ...image, prompt: scripted({ task_seconds: 600 }) });
    expect((await dashscope(id)).output).toEqual({ task_id: id, task_status: "PENDING" });
    const { id: running } = await bench.create({
      ...video,
      prompt: scripted({ task_seconds: 600 }),
    });
    await bench.until(running, "running");
    expect((await dashscope(running)).output.task_status).toBe("PENDING");
  });

  it.each(["failed", "blocked", "expired"])(
    "ALIAS-09: with outcome %s at the vendor, a task is FAILED with the reason",
    async (outcome) => {
      const task = await bench.create(
        { ...video, prompt: scripted({ task_outcome: outcome }) },
        wait,
      );
      expect((await dashscope(task.id)).output).toEqual({
        task_id: task.id,
        task_status: "FAILED",
        ...task.error,
      });
    },
  );

  it("ALIAS-08: a task of 40 days ago, which the vendor has forgotten, still reports its state", async () => {
    const task = await bench.create(image, wait);
    await bench.database.query(
      "update tasks set created_at = created_at - interval '40 days', updated_at = updated_at - interval '40 days' where id = $1",
      [task.id],
    );
    expect((await dashscope(task.id)).output.task_status).toBe("SUCCEEDED");
  });

  it("a task that is canceled on this path is CANCELED", async () => {
    const { id } = await bench.create({ ...image, prompt: scripted({ task_seconds: 600 }) });
    const cancel = async () => {
      const answer = await bench.send("POST", `/api/v1/tasks/${id}/cancel`);
      return { status: answer.status, keys: Object.keys((await answer.json()) as object) };
    };
    await expect.poll(cancel).toEqual({ status: 200, keys: ["request_id"] });
    expect((await dashscope(id)).output).toMatchObject({
      task_status: "CANCELED",
      code: "canceled",
    });
    const done = await bench.create(image, wait);
    const refused = await bench.send("POST", `/api/v1/tasks/${done.id}/cancel`);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      409,
      "UnsupportedOperation",
    ]);
  });

  it("ALIAS-10 ALIAS-11 ERR-02 ERR-10: errors have the vendor's shape; missing and foreign tasks get the same answer", async () => {
    const { id } = await bench.create(video);
    const texts = [];
    for (const [name, key] of [
      [id, bench.otherKey],
      [missing, bench.key],
    ] as const) {
      const answer = await bench.send("GET", `/api/v1/tasks/${name}`, { key });
      const body = (await answer.json()) as { code: string; request_id: string };
      expect(answer.status).toBe(404);
      expect(faults(named("DashscopeError"), body)).toEqual([]);
      expect(Object.keys(body).sort()).toEqual(["code", "message", "request_id"]);
      expect([body.code, body.request_id]).toEqual([
        "TaskNotFound",
        answer.headers.get("x-request-id"),
      ]);
      texts.push(JSON.stringify({ ...body, request_id: "" }).replace(name, "ID"));
    }
    expect(new Set(texts).size).toBe(1);
    const others: [Response, number, string][] = [
      [await bench.send("GET", `/api/v1/tasks/${id}`, { key: null }), 401, "InvalidApiKey"],
      [
        await bench.send("GET", `/api/v1/tasks/${id}`, { key: "gw_live_wrong" }),
        401,
        "InvalidApiKey",
      ],
      [await bench.get("/api/v1/nothing/here"), 404, "NotFound"],
      [await bench.send("PUT", `/api/v1/tasks/${id}`), 405, "MethodNotAllowed"],
      [await bench.get("/api/v1/tasks/%zz"), 400, "InvalidParameter"],
    ];
    for (const [answer, status, code] of others) {
      const body = (await answer.json()) as { code: string };
      expect([answer.status, body.code, faults(named("DashscopeError"), body)]).toEqual([
        status,
        code,
        [],
      ]);
    }
  });
});

describe("`/api/v3/contents/generations/tasks`", () => {
  it("ARK-01 ARK-02 ARK-06 ARK-10: a finished video has its URL and the billed tokens", async () => {
    const task = await bench.create(tokens, wait);
    const read = await arkTask(task.id);
    const count = task.usage["output_video_tokens"];
    expect(read).toMatchObject({
      id: task.id,
      model: tokens.model,
      status: "succeeded",
      content: { video_url: task.output.videos![0]!.url },
      usage: { completion_tokens: count, total_tokens: count, tool_usage: { web_search: 0 } },
    });
    expect(task.usage["total_tokens"]).toBe(0);
    expect(read.content).not.toHaveProperty("url");
    expect(read).not.toHaveProperty("error");
  });

  it("ARK-05 ARK-11: queued and running tasks have these states", async () => {
    const { id } = await bench.create({ ...tokens, prompt: scripted({ task_seconds: 600 }) });
    const read = await arkTask(id);
    expect(["queued", "running"]).toContain(read.status);
    expect(read).not.toHaveProperty("content");
    const { id: running } = await bench.create({
      ...video,
      prompt: scripted({ task_seconds: 600 }),
    });
    await bench.until(running, "running");
    expect((await arkTask(running)).status).toBe("running");
  });

  it("ARK-07 ARK-09 ARK-11: a failed task has its reason, an expired task is expired, and neither costs anything", async () => {
    const before = await bench.available();
    const make = (outcome: string) =>
      bench.create({ ...tokens, prompt: scripted({ task_outcome: outcome }) }, wait);
    const [failed, expired] = [await make("failed"), await make("expired")];
    expect(await arkTask(failed.id)).toMatchObject({ status: "failed", error: failed.error });
    expect((await arkTask(expired.id)).status).toBe("expired");
    expect(await bench.available()).toBe(before);
  });

  it("ARK-04: a task that is canceled by DELETE is cancelled here, and canceled in the unified shape", async () => {
    const { id } = await bench.create({ ...tokens, prompt: scripted({ task_seconds: 600 }) });
    const cancel = async () => (await bench.send("DELETE", `${ark}/${id}`)).status;
    await expect.poll(cancel).toBe(200);
    expect((await arkTask(id)).status).toBe("cancelled");
    expect((await bench.read(id)).status).toBe("canceled");
    const done = await bench.create(tokens, wait);
    expect((await bench.send("DELETE", `${ark}/${done.id}`)).status).toBe(409);
    expect((await arkTask(done.id)).status).toBe("succeeded");
  });

  it("STORE-04: a video has the same state and URL on its four paths", async () => {
    const task = await bench.create(tokens, wait);
    const { url } = task.output.videos![0]!;
    const native = (await (await bench.get(`/v1/videos/${task.id}`)).json()) as object;
    expect(native).toMatchObject({ status: "done", video: { url } });
    expect((await dashscope(task.id)).output).toMatchObject({
      task_status: "SUCCEEDED",
      video_url: url,
    });
    expect(await arkTask(task.id)).toMatchObject({
      status: "succeeded",
      content: { video_url: url },
    });
  });

  it("Ark's own body creates a task: prompt, pictures by their roles, and Ark's field names", async () => {
    await bench.received(/./);
    const picture = (role?: string) => ({
      type: "image_url",
      image_url: { url: "data:image/png;base64,iVBORw0KGgo=" },
      ...(role && { role }),
    });
    const text = { type: "text", text: "A boat" };
    const post = async (content: object[], more: object = {}) => {
      const body = { model: tokens.model, content, duration: 4, ...more };
      const answer = await bench.send("POST", ark, { body });
      expect(answer.status).toBe(200);
      const { id, ...rest } = (await answer.json()) as { id: string };
      expect(rest).toEqual({});
      await bench.until(id, "succeeded");
      return (await bench.received(/tasks$/))[0]!.body;
    };
    const names = { ratio: "9:16", generate_audio: false, seed: 7, safety_identifier: "u1" };
    expect(await post([text], names)).toMatchObject({ ...names, duration: 4, content: [text] });
    const roles = async (content: object[]) =>
      ((await post(content))["content"] as { type: string; role?: string }[])
        .filter((item) => item.type === "image_url")
        .map((item) => item.role);
    expect(await roles([text, picture()])).toEqual(["first_frame"]);
    expect(await roles([picture("first_frame"), picture("last_frame")])).toEqual([
      "first_frame",
      "last_frame",
    ]);
    expect(await roles([text, picture("reference_image"), picture("reference_image")])).toEqual([
      "reference_image",
      "reference_image",
    ]);
  });

  const wrong: [string, object, string, string][] = [
    ["no model", { content: [] }, "MissingParameter", "model"],
    ["no content", { model: tokens.model }, "InvalidParameter", "content"],
    [
      "content that is not a list",
      { model: tokens.model, content: "A boat" },
      "InvalidParameter",
      "content",
    ],
    [
      "an unknown type",
      { model: tokens.model, content: [{ type: "smell" }] },
      "InvalidParameter",
      "content[0].type",
    ],
    [
      "a video as material",
      {
        model: tokens.model,
        content: [{ type: "video_url", video_url: { url: "https://1.1.1.1/a.mp4" } }],
      },
      "InvalidParameter",
      "content[0]",
    ],
    [
      "two pictures without roles",
      {
        model: tokens.model,
        content: [1, 2].map(() => ({
          type: "image_url",
          image_url: { url: "https://1.1.1.1/a.png" },
        })),
      },
      "InvalidParameter",
      "content[0].role",
    ],
    [
      "two first frames",
      {
        model: tokens.model,
        content: [1, 2].map(() => ({
          type: "image_url",
          image_url: { url: "https://1.1.1.1/a.png" },
          role: "first_frame",
        })),
      },
      "InvalidParameter",
      "content[1].role",
    ],
    [
      "an unsupported ratio",
      { model: tokens.model, content: [{ type: "text", text: "x" }], ratio: "5:4" },
      "InvalidParameter",
      "ratio",
    ],
    [
      "a prompt beside the text in content",
      { model: tokens.model, content: [{ type: "text", text: "A boat" }], prompt: "A cat" },
      "InvalidParameter",
      "prompt",
    ],
    [
      "a field in both spellings",
      {
        model: tokens.model,
        content: [{ type: "text", text: "x" }],
        aspect_ratio: null,
        ratio: "1:1",
        generate_audio: false,
        audio: true,
      },
      "InvalidParameter",
      "audio",
    ],
    [
      "an image model",
      { model: image.model, content: [{ type: "text", text: "x" }] },
      "InvalidParameter",
      "model",
    ],
  ];
  it.each(wrong)(
    "%s is refused with Ark's error code and the field",
    async (_name, body, code, param) => {
      const answer = await bench.send("POST", ark, { body });
      const { error } = (await answer.json()) as { error: object };
      expect(faults(named("ArkError"), { error })).toEqual([]);
      expect([answer.status, error]).toEqual([
        400,
        expect.objectContaining({ code, param, type: "BadRequest" }),
      ]);
    },
  );

  it("ARK-11 ARK-12 ERR-02 ERR-10: errors have the vendor's shape; missing, foreign and image tasks get the same answer", async () => {
    const { id } = await bench.create(tokens);
    const { id: picture } = await bench.create(image);
    const texts = [];
    const asked = [
      [id, bench.otherKey],
      [missing, bench.key],
      [picture, bench.key],
    ] as const;
    for (const [name, key] of asked) {
      for (const method of ["GET", "DELETE"]) {
        const answer = await bench.send(method, `${ark}/${name}`, { key });
        const body = (await answer.json()) as { error: { code: string; message: string } };
        expect([answer.status, body.error.code]).toEqual([404, "ResourceNotFound"]);
        expect(faults(named("ArkError"), body)).toEqual([]);
        const requestId = answer.headers.get("x-request-id")!;
        expect(body.error.message).toContain(requestId);
        texts.push(JSON.stringify(body).replace(requestId, "").replace(name, "ID"));
      }
    }
    expect(new Set(texts).size).toBe(1);
    const others: [Response, number, string][] = [
      [await bench.send("GET", `${ark}/${id}`, { key: null }), 401, "AuthenticationError"],
      [await bench.get("/api/v3/nothing"), 404, "ResourceNotFound"],
      [await bench.send("PATCH", `${ark}/${id}`), 405, "MethodNotAllowed"],
      [
        await bench.send("POST", ark, { body: { model: "no/model", content: [] } }),
        404,
        "InvalidEndpointOrModel.NotFound",
      ],
    ];
    for (const [answer, status, code] of others) {
      const body = (await answer.json()) as { error: { code: string } };
      expect([answer.status, body.error.code, faults(named("ArkError"), body)]).toEqual([
        status,
        code,
        [],
      ]);
    }
  });
});
