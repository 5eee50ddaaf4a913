// Uploads over real sockets: who may send, when a refusal comes, the remains of a client that leaves, and the limits that count
// tasks.
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/patience.ts";
import { scripted, startBench, video, type Bench, type TaskBody } from "./support.ts";
import { bodyOf, padded, picture } from "./upload-support.ts";

let bench: Bench;
let png: Buffer;
/** A refused request that never ends. It has ten seconds, in which the other tests run. */
let endless: ReturnType<typeof begin>;
/** Steps of tasks wait for this before they ask the vendor. */
let held: Promise<void> | undefined;
beforeAll(async () => {
  bench = await startBench({
    tasks: {
      timing: { firstPollMs: 40, sweepMs: 100 },
      at: (point) => (point === "ask.intended" ? held : undefined),
    },
  });
  endless = begin([form, authorized(), "content-length: 100000000"]);
  endless.socket.write("no boundary at all, for a long time".repeat(100));
  png = await picture("png", { width: 64, height: 64, alpha: true });
});
afterAll(() => bench?.close());

const mebibyte = 1_048_576;
const storedNames = () => readdirSync(join(bench.directory, "data", "files"));
/** The number of uploads that are still kept a minute from now. */
async function countKeptUploads(): Promise<number> {
  const rows = await bench.database.query(
    "select name from files where purpose = 'input' and expires_at > now() + interval '1 minute'",
  );
  return rows.length;
}
beforeEach(async () => {
  // The uploads of the previous test belong to tasks that have ended.
  await eventually(async () => (await countKeptUploads()) === 0, "no upload of the previous test");
});

/** A socket that has sent a request's head, and the answer on it. */
function begin(head: readonly string[]) {
  const { port } = new URL(bench.url);
  const socket = connect(Number(port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  socket.on("error", () => undefined);
  socket.write(["POST /v1/tasks HTTP/1.1", "host: x", ...head, "", ""].join("\r\n"));
  return {
    socket,
    answer: () => answer,
    async answered(pattern: RegExp) {
      await expect.poll(() => answer).toMatch(pattern);
    },
  };
}
const form = "content-type: multipart/form-data; boundary=xyz";
const authorized = () => `authorization: Bearer ${bench.key}`;

const send = (body: Buffer) =>
  fetch(`${bench.url}/v1/tasks`, {
    method: "POST",
    body: new Uint8Array(body),
    headers: {
      authorization: `Bearer ${bench.key}`,
      "content-type": "multipart/form-data; boundary=xyz",
    },
  });
const fields = (model: string) =>
  [
    ["model", model],
    ["prompt", "A boat"],
  ] as const;
const pictures = (count: number, file = png) =>
  Array.from({ length: count }, (_, at) => ["image[]", file, `${at}.png`] as const);

describe("a request whose body is not read yet", () => {
  it("is refused with 401 without a key, 413 for too many bytes, and 400 for an invalid idempotency key", async () => {
    const unauthorized = begin([form, "content-length: 400000000"]);
    await unauthorized.answered(/^HTTP\/1\.1 401 /);
    const large = begin([form, authorized(), "content-length: 500000000"]);
    await large.answered(/^HTTP\/1\.1 413 /);
    const badKey = begin([
      form,
      authorized(),
      "content-length: 1000",
      `idempotency-key: ${"x".repeat(256)}`,
    ]);
    await badKey.answered(/^HTTP\/1\.1 400 [^]*Idempotency-Key/);
    for (const { socket } of [unauthorized, large, badKey]) socket.destroy();
  });
});

describe("a body that is being read", () => {
  it("a picture that is too large is refused before its end, and the connection stays usable", async () => {
    const size = 40 * mebibyte;
    const body = bodyOf([
      ...fields("sandbox/task-image-model-1"),
      ["image", padded(png, size), "a.png"],
    ]);
    const call = begin([form, authorized(), `content-length: ${body.length}`]);
    const most = 30 * mebibyte;
    call.socket.write(body.subarray(0, most));
    await call.answered(/^HTTP\/1\.1 400 [^]*image_too_large/);
    expect(storedNames()).toEqual([]);
    // The client goes on sending, as clients do. The next request on the same connection is answered.
    call.socket.write(body.subarray(most));
    call.socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await call.answered(/HTTP\/1\.1 200 OK/);
    call.socket.destroy();
  });

  it("a client that disconnects in the middle leaves no files and rows", async () => {
    const body = bodyOf([
      ...fields("sandbox/task-image-model-1"),
      ...pictures(2, padded(png, mebibyte)),
    ]);
    for (const [share, begun] of [
      [0.2, 1],
      [0.7, 2],
      [0.99, 2],
    ] as const) {
      const call = begin([form, authorized(), `content-length: ${body.length}`]);
      call.socket.write(body.subarray(0, Math.floor(body.length * share)));
      await eventually(() => storedNames().length === begun, `${begun} pictures being stored`);
      call.socket.destroy();
      await expect.poll(storedNames).toEqual([]);
      await expect.poll(countKeptUploads).toBe(0);
    }
  });
});

describe("a body that is read completely", () => {
  it("TIMG1-05 TIMG1-08: five pictures are accepted; six are refused, and none of them is kept or sent", async () => {
    await bench.received(/./);
    const of = (count: number) =>
      send(bodyOf([...fields("sandbox/task-image-model-1"), ...pictures(count)]));
    const refused = await of(6);
    expect([
      refused.status,
      ((await refused.json()) as { error: { code: string } }).error.code,
    ]).toEqual([400, "too_many_images"]);
    expect(storedNames()).toEqual([]);
    expect(await bench.received(/images/)).toEqual([]);
    const accepted = await of(5);
    expect(accepted.status).toBe(202);
    const { id } = (await accepted.json()) as TaskBody;
    expect((await bench.until(id, "succeeded")).usage["input_images"]).toBe(5);
  });

  it("TIMG1-08 TASK-05: pictures named image[0] and image[1] are edited, and text in such a field is refused", async () => {
    const model = fields("sandbox/task-image-model-1");
    const accepted = await send(
      bodyOf([...model, ["image[0]", png, "0.png"], ["image[1]", png, "1.png"]]),
    );
    expect(accepted.status).toBe(202);
    const task = (await accepted.json()) as TaskBody;
    expect(task).not.toHaveProperty("notes");
    expect((await bench.until(task.id, "succeeded")).usage["input_images"]).toBe(2);
    const text = await send(bodyOf([...model, ["image[0]", "https://example.com/a.png"]]));
    expect([text.status, await text.json()]).toMatchObject([
      400,
      { error: { code: "image_url_not_supported", param: "image[0]" } },
    ]);
  });

  it("TIMG2-03: sixteen pictures are accepted; seventeen are refused", async () => {
    const of = (count: number) =>
      send(bodyOf([...fields("sandbox/task-image-model-2"), ...pictures(count)]));
    expect((await of(17)).status).toBe(400);
    const accepted = await of(16);
    expect(accepted.status).toBe(202);
    await bench.until(((await accepted.json()) as TaskBody).id, "succeeded");
  });

  it("uploads are kept until their task ends", async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    held = promise;
    onTestFinished(() => release());
    const body = bodyOf([...fields("sandbox/task-image-model-1"), ...pictures(2)]);
    const { id } = (await (await send(body)).json()) as TaskBody;
    const rows = await bench.database.query<{ task_id: string }>(
      "select task_id from files where purpose = 'input' and expires_at > now() + interval '3 days'",
    );
    expect(rows).toEqual([{ task_id: id }, { task_id: id }]);
    release();
    await bench.until(id, "succeeded");
    expect(await countKeptUploads()).toBe(0);
  });

  it("TASK-14: a balance below the reservation is refused with 402, and nothing is kept or sent", async () => {
    const other = (body: Buffer | object) =>
      fetch(`${bench.url}/v1/tasks`, {
        method: "POST",
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
        headers: {
          authorization: `Bearer ${bench.otherKey}`,
          "content-type": Buffer.isBuffer(body)
            ? "multipart/form-data; boundary=xyz"
            : "application/json",
        },
      });
    const long = {
      model: "sandbox/video-model-v1.5",
      prompt: scripted({ task_seconds: 600 }),
      resolution: "1080p",
    };
    // 3.75, 3.75 and 2.50 of 10 dollars.
    for (const duration of [15, 15, 10])
      expect((await other({ ...long, duration })).status).toBe(200);
    const before = storedNames();
    const answer = await other(bodyOf([...fields("sandbox/task-image-model-1"), ...pictures(1)]));
    expect(answer.status).toBe(402);
    expect(answer.headers.get("retry-after")).toBeNull();
    // Inputs of finished tasks may be removed meanwhile. No new file stays.
    await expect.poll(() => storedNames().filter((name) => !before.includes(name))).toEqual([]);
  });
});

it("TASK-15 ERR-11: a task beyond the queue's limit is refused with Retry-After", async () => {
  const small = await startBench({
    config: "limits: { queue: { global: 1, per_workspace: 1 } }\n",
    sandbox: "on",
  });
  try {
    await small.credit("100");
    const body = { ...video, prompt: scripted({ task_seconds: 600 }) };
    const first = await small.send("POST", "/v1/tasks", { body });
    expect(first.status).toBe(200);
    const second = await small.send("POST", "/v1/tasks", { body });
    expect(second.status).toBe(503);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await second.json()).toMatchObject({ error: { code: "queue_full" } });
    const native = await small.send("POST", "/v1/videos/generations", { body });
    expect(native.status).toBe(503);
  } finally {
    await small.close();
  }
});

it("a client that never ends a refused request is disconnected", async () => {
  await endless.answered(/^HTTP\/1\.1 400 /);
  await expect.poll(() => endless.socket.closed).toBe(true);
});
