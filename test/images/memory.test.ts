// The largest possible edit, through a gateway in a separate process whose memory is measured.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { endAll, live } from "../support/task-life.ts";
import { formOf, padded, picture, type ImageAnswer } from "./support.ts";

const megabyte = 1_000_000;
const references = shortOrLong(6, 16);
/** Any call takes 80 MB. The files in memory would add 150 in the short form, 400 in the long one. */
const megabytesMax = shortOrLong(140, 300);
const bytesEach = 25 * megabyte;

const closers: (() => void)[] = [];
afterEach(async () => {
  endAll();
  for (const close of closers.splice(0)) close();
});

/** A vendor that counts requests and bytes, and answers with a picture. */
async function startCounting(answer: object) {
  const seen = { bytes: 0, requests: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    request.on("data", (chunk: Buffer) => (seen.bytes += chunk.length));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Memory of a process in bytes: current (VmRSS), or peak since the last reset (VmHWM). */
const memoryOf = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(
    new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1],
  ) * 1024;

/** The least memory of the process while it is idle. */
async function idleOf(pid: number): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 20; tries += 1) {
    least = Math.min(least, memoryOf(pid, "VmRSS"));
    await sleep(100);
  }
  return least;
}

const price = `{ input: "5", image_input: "8", output: "10", image_output: "30" }`;

it(`LIM-04, EDIT2-05: ${references} references of 25 MB stay on disk and take less than ${megabytesMax} MB of memory above idle`, async () => {
  const file = await picture();
  const vendor = await startCounting({ data: [{ b64_json: file.toString("base64") }] });
  const directory = mkdtempSync(join(tmpdir(), "tollgate-memory-"));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  const config = join(directory, "tollgate.yaml");
  writeFileSync(
    config,
    `
providers:
  - { id: counting, dialect: openai-compatible, base_url: "${vendor.url}/v1", api_key: x, tier: official }
models:
  - { id: acme/edit, kind: image, family: image-b, offers: [{ provider: counting, upstream_model: big, price: ${price} }] }
`,
  );
  const { url, key, child } = await live({
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: join(directory, "data"),
    TOLLGATE_SANDBOX: "off",
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
  });
  const edit = async (files: Parameters<typeof formOf>[1]) => {
    const body = formOf({ model: "acme/edit", prompt: "x", size: "64x64", quality: "low" }, files);
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/v1/images/edits`, {
      method: "POST",
      headers,
      body,
    });
    if (answer.status !== 200) throw new Error(await answer.text());
    return (await answer.json()) as ImageAnswer;
  };
  // Measure idle memory after a first call, because the loaded code stays.
  await edit({ image: file });
  vendor.seen.bytes = 0;
  const pid = child.pid!;
  const idle = await idleOf(pid);
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const reference = padded(file, bytesEach);
  const answer = await edit({ "image[]": Array.from({ length: references }, () => reference) });
  const above = memoryOf(pid, "VmHWM") - idle;
  expect(answer.size).toBe("64x48");
  expect(vendor.seen).toMatchObject({ requests: 2 });
  expect(vendor.seen.bytes).toBeGreaterThan(references * bytesEach);
  expect(above).toBeLessThan(megabytesMax * megabyte);
  const left = () => readdirSync(join(directory, "data", "files")).length;
  // Two results are left.
  await expect.poll(left).toBe(2);
});
