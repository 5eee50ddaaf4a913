// Malformed forms, sent to a running gateway over raw sockets. Each gets an answer or a closed connection; refused ones cost nothing
// and leave no file and no row.
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { openFileStore, sweepFiles, type FileStore } from "../../src/files/index.ts";
import { shortOrLong } from "../support/long.ts";
import { maskOf, plain, startImages, type ImageBench } from "./support.ts";

let bench: ImageBench;
let store: FileStore;
let parts: Buffer[];
beforeAll(async () => {
  bench = await startImages();
  store = await openFileStore({ kind: "local" }, join(bench.directory, "data"));
  const head = (name: string, more = "") =>
    Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`);
  const part = (name: string, content: string | Buffer, more?: string) =>
    Buffer.concat([head(name, more), Buffer.from(content), Buffer.from("\r\n")]);
  parts = [
    part("model", "sandbox/task-image-model-2"),
    part("prompt", "A boat"),
    part("quality", "low"),
    part("n", "1"),
    part("image", await plain(), '; filename="a.png"'),
    part("image[]", await plain({ format: "webp" }), '; filename="b.webp"'),
    part("mask", await maskOf(64, 48), '; filename="m.png"'),
  ];
});
afterAll(() => bench?.close());

const end = Buffer.from("--xyz--\r\n");

/** A request: its body, and what its head declares about it. */
interface Hostile {
  readonly body: Buffer;
  /** The Content-Length it claims; null sends chunks instead. */
  readonly length: number | null;
  readonly boundary: string;
  /** Bytes written at a time. */
  readonly piece: number;
}

/** Sends a request, and leaves if it is incomplete. Returns the status; undefined if the connection closed without one. */
function send({ body, length, boundary, piece }: Hostile): Promise<number | undefined> {
  const { port, hostname } = new URL(bench.url);
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (data) => (answer += data.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => {
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
    resolve(status === undefined ? undefined : Number(status));
  });
  socket.write(
    `POST /v1/tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${bench.key}\r\n` +
      `Content-Type: multipart/form-data; boundary=${boundary}\r\n` +
      `${length === null ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`}\r\n\r\n`,
  );
  for (let at = 0; at < body.length; at += piece) {
    const bytes = body.subarray(at, at + piece);
    if (length === null) socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    if (length === null) socket.write("\r\n");
  }
  if (length === null) socket.write("0\r\n\r\n");
  // The rest of the body never comes, so end the connection.
  else if (length > body.length) socket.end();
  return promise;
}

type Change = (body: Buffer) => Buffer;
const share = fc.double({ min: 0, max: 1, noNaN: true });
const insertAt =
  (at: number, what: Buffer): Change =>
  (body) => {
    const place = Math.floor(at * body.length);
    return Buffer.concat([body.subarray(0, place), what, body.subarray(place)]);
  };
const words = fc.constantFrom(
  "\r\n--xyz",
  "\r\n--xyz\r\n",
  "\r\n--xyz--",
  "--",
  "\r\n\r\n",
  "\0",
  'Content-Disposition: form-data; name="image"',
  `X-Long: ${"x".repeat(20_000)}`,
  "Content-Transfer-Encoding: base64\r\n",
);
const change: fc.Arbitrary<Change> = fc.oneof(
  share.map(
    (at): Change =>
      (body) =>
        body.subarray(0, Math.floor(at * body.length)),
  ),
  fc.tuple(share, words).map(([at, word]) => insertAt(at, Buffer.from(word))),
  fc
    .tuple(share, fc.uint8Array({ minLength: 1, maxLength: 40 }))
    .map(([at, bytes]) => insertAt(at, Buffer.from(bytes))),
  fc.tuple(share, fc.integer({ min: 0, max: 255 })).map(([at, byte]): Change => (body) => {
    const copy = Buffer.from(body);
    copy[Math.min(Math.floor(at * copy.length), copy.length - 1)] = byte;
    return copy;
  }),
  fc.tuple(share, share).map(([from, to]): Change => (body) => {
    const [start, stop] = [from, to]
      .map((at) => Math.floor(at * body.length))
      .sort((a, b) => a - b);
    return Buffer.concat([body.subarray(0, start), body.subarray(stop)]);
  }),
);
/** Forms with missing, duplicate and unordered parts, changed bytes and wrong lengths. */
const hostile: fc.Arbitrary<Hostile> = fc
  .record({
    order: fc.array(fc.nat({ max: 6 }), { maxLength: 12 }),
    keep: fc.boolean(),
    changes: fc.array(change, { maxLength: 3 }),
    lie: fc.oneof(
      fc.constant(0),
      fc.integer({ min: -50, max: 50 }),
      fc.constantFrom(null, 1e6, 1e15),
    ),
    boundary: fc.constantFrom<string>(
      "xyz",
      "xyz",
      "xyz",
      "xyz",
      "xy",
      '"xyz"',
      '""',
      "x".repeat(71),
    ),
    piece: fc.constantFrom(7, 100, 65_536),
  })
  .map(({ order, keep, changes, lie, boundary, piece }) => {
    const chosen = keep ? parts : order.map((at) => parts[at]!);
    const body = changes.reduce<Buffer>(
      (bytes, one) => one(bytes),
      Buffer.concat([...chosen, end]),
    );
    const length = lie === null ? null : Math.max(0, body.length + lie);
    return { body, length, boundary, piece };
  });

/** Waits until all tasks have ended. Returns their number and cost. */
async function tasksEnded(): Promise<{ readonly count: number; readonly costNano: bigint }> {
  for (;;) {
    const rows = await bench.database.query<{ status: string; cost_nano: bigint }>(
      "select status, cost_nano from tasks",
    );
    const open = rows.filter(({ status }) => status === "queued" || status === "running");
    const costNano = rows.reduce((sum, row) => sum + row.cost_nano, 0n);
    if (open.length === 0) return { count: rows.length, costNano };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The stored files. After the sweep only results and their rows are left. */
const files = () => readdirSync(join(bench.directory, "data", "files")).toSorted();
const rows = () =>
  bench.database.query<{ name: string; purpose: string }>(
    "select name, purpose from files order by name",
  );

async function expectNothingLeft(): Promise<void> {
  const { costNano } = await tasksEnded();
  expect(parseUsd("100") - (await bench.available())).toBe(costNano);
  // The gateway cleans up after clients that left a moment later.
  await expect.poll(inputs).toEqual([]);
  expect(files()).toEqual((await rows()).map(({ name }) => name).toSorted());
}
/** Sweeps. Returns the rows that are left and are no results. */
async function inputs(): Promise<unknown[]> {
  await sweepFiles(bench.database, store, new Date());
  return (await rows()).filter(({ purpose }) => purpose !== "result");
}
afterEach(expectNothingLeft);

it("malformed forms are answered or cut off, and leave no file and no hold", async () => {
  const statuses: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(hostile, async (form) => {
      const status = await send(form);
      statuses[String(status)] = (statuses[String(status)] ?? 0) + 1;
      // A connection may only end without an answer if the client has left.
      const left = form.length !== null && form.length > form.body.length;
      expect([202, 400, 413, ...(left ? [undefined] : [])]).toContain(status);
    }),
    { numRuns: shortOrLong(60, 200) },
  );
  expect((await fetch(`${bench.url}/healthz`)).status).toBe(200);
  // Both accepted and refused forms occurred.
  expect(statuses["202"]).toBeGreaterThan(shortOrLong(0, 3));
  expect(statuses["400"]).toBeGreaterThan(shortOrLong(15, 50));
});

it.each([
  ["thousands of fields", () => Array.from({ length: 5000 }, (_, at) => [`f${at}`, "x"] as const)],
  ["a repeated field", () => Array.from({ length: 90 }, () => ["size", "auto"] as const)],
  ["a name of a hundred thousand bytes", () => [["n".repeat(100_000), "x"] as const]],
  ["a field of two megabytes", () => [["user", "x".repeat(2_000_000)] as const]],
  ["two models", () => [["model", "sandbox/image-model-b"] as const]],
])("a form with %s is refused, and its pictures are removed", async (_what, more) => {
  const extra = more().map(([name, value]) =>
    Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const before = await tasksEnded();
  const body = Buffer.concat([...parts, ...extra, end]);
  const status = await send({ body, length: body.length, boundary: "xyz", piece: 65_536 });
  expect([400, 413]).toContain(status);
  expect(await tasksEnded()).toEqual(before);
});

it("a client that leaves in the middle of a picture leaves no task and no file", async () => {
  const whole = Buffer.concat([...parts, end]);
  const before = await tasksEnded();
  for (const at of [100, 500, whole.length - 20])
    await send({
      body: whole.subarray(0, at),
      length: whole.length,
      boundary: "xyz",
      piece: 65_536,
    });
  expect(await tasksEnded()).toEqual(before);
});
