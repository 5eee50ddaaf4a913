// The largest form, through a gateway in a separate process: its memory while it accepts and forwards sixteen pictures of 25 MB.
// Linux reports the peak memory of a process since the last reset.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { endAll, live, type Life } from "../support/task-life.ts";
import type { TaskBody } from "../task-http/support.ts";
import { plain } from "./support.ts";

const count = shortOrLong(6, 16);
/** Any call takes 80 MB. The files in memory would add 150 in the short form, 400 in the long one. */
const megabytesMax = shortOrLong(140, 300);
const fileBytes = 25_000_000;

let vendor: Server | undefined;
let directory: string | undefined;
afterEach(() => {
  endAll();
  vendor?.close();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** A vendor that reads requests, and only records their number of bytes. */
async function startVendor(taken: number[]): Promise<string> {
  const picture = (await plain()).toString("base64");
  vendor = createServer((incoming, answer) => {
    let bytes = 0;
    incoming.on("data", (piece: Buffer) => (bytes += piece.length));
    incoming.on("end", () => {
      taken.push(bytes);
      answer.writeHead(200, { "content-type": "application/json" });
      answer.end(JSON.stringify({ data: [{ b64_json: picture }] }));
    });
  });
  await new Promise<void>((resolve) => vendor!.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
}

const configuration = (url: string) => `
providers:
  - { id: vendor, dialect: openai-compatible, base_url: "${url}/v1", api_key: secret, tier: official }
models:
  - id: acme/tokens
    kind: image
    family: task-image-2
    offers:
      - { provider: vendor, upstream_model: m, price: { input: "5", image_input: "8", output: "10", image_output: "30" } }
`;

/** Memory of a process in megabytes: current (VmRSS), or peak (VmHWM). */
const memoryOf = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(
    new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1],
  ) / 1000;

/** The form, piece by piece. Every picture is the same JPEG with a different tail. */
function* formPieces(jpeg: Buffer, pictures: number): Generator<Buffer> {
  for (const [name, value] of Object.entries({ model: "acme/tokens", prompt: "All of them" }))
    yield Buffer.from(
      `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
  for (let index = 0; index < pictures; index += 1) {
    yield Buffer.from(
      `--xyz\r\nContent-Disposition: form-data; name="image[]"; filename="a"\r\n\r\n`,
    );
    yield jpeg;
    const tail = Buffer.alloc(250_000, index);
    let left = fileBytes - jpeg.length;
    for (; left > tail.length; left -= tail.length) yield tail;
    yield tail.subarray(0, left);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from("--xyz--\r\n");
}

/** Sends the form as fast as the gateway reads it, and waits for the task's end. */
async function post({ url, key }: Life, pieces: Iterable<Buffer>): Promise<TaskBody> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(`${url}/v1/tasks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key!}`,
      "content-type": "multipart/form-data; boundary=xyz",
      prefer: "wait=60",
    },
  });
  outgoing.on("response", resolve).on("error", reject);
  await pipeline(Readable.from(pieces), outgoing);
  return JSON.parse(await text(await promise)) as TaskBody;
}

it.runIf(process.platform === "linux")(
  `LIM-04: ${count} pictures of 25 MB cost the gateway less than ${megabytesMax} MB of memory above idle`,
  async () => {
    const taken: number[] = [];
    directory = mkdtempSync(join(tmpdir(), "tollgate-memory-"));
    const config = join(directory, "tollgate.yaml");
    writeFileSync(config, configuration(await startVendor(taken)));
    const gateway = await live({
      TOLLGATE_CONFIG: config,
      TOLLGATE_DATA_DIR: join(directory, "data"),
      TOLLGATE_SANDBOX: "off",
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
    });
    const pid = gateway.child.pid!;
    const jpeg = await plain({ format: "jpeg" });
    // A first call loads code that stays in memory.
    expect((await post(gateway, formPieces(jpeg, 0))).status).toBe("succeeded");
    const idle = memoryOf(pid, "VmRSS");
    writeFileSync(`/proc/${pid}/clear_refs`, "5");

    const task = await post(gateway, formPieces(jpeg, count));
    const above = memoryOf(pid, "VmHWM") - idle;
    expect(task.status).toBe("succeeded");
    expect(taken).toHaveLength(2);
    expect(taken[1]).toBeGreaterThan(count * fileBytes);
    expect(above).toBeLessThan(megabytesMax);
    await gateway.end();
  },
);
