// Uploads that are missing when a vendor is asked: that is no failure of the vendor. docs/tasks.md.
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { plain, startImages, type ImageBench } from "./support.ts";
import type { TaskBody } from "../task-http/support.ts";

let vendor: Recorder;
let bench: ImageBench;

const tiers = `{ low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }`;
const configuration = (url: string) => `
providers:
  - { id: first, dialect: xai, base_url: "${url}/v1", api_key: secret }
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - { provider: first, upstream_model: one, price: { output_image: ${tiers}, input_image: "0.001" } }
`;

beforeAll(async () => {
  const picture = await plain();
  vendor = await startRecorder(json({ data: [{ b64_json: picture.toString("base64") }] }));
  bench = await startImages({
    config: configuration(vendor.url),
    tasks: { timing: { shortageMs: 200, sweepMs: 50 } },
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

/** A task with a picture, stopped before its vendor is asked, and the path of its picture. */
async function heldTask(): Promise<{ id: string; filePath: string; release: () => void }> {
  const release = bench.hold("ask.claimed");
  const files = { image: await plain() };
  const sent = await bench.submit({ model: "acme/pictures", prompt: "A boat" }, { files });
  const { id } = (await sent.json()) as TaskBody;
  const [row] = await bench.database.query<{ name: string }>(
    "select name from files where task_id = $1 and purpose = 'input'",
    [id],
  );
  return { id, filePath: join(bench.directory, "data", "files", row!.name), release };
}

/** The outcomes of a task's attempts, and the health of its provider. */
async function outcomesOf(id: string) {
  const [row] = await bench.database.query<{ attempts: { outcome: string }[] }>(
    "select attempts from tasks where id = $1",
    [id],
  );
  const metrics = await (await fetch(`${bench.url}/metrics`)).text();
  const failures = metrics
    .split("\n")
    .filter((line) => line.startsWith("tollgate_circuit_state{") && !line.endsWith(" 0"));
  return { outcomes: row!.attempts.map(({ outcome }) => outcome), failures };
}

it("T81: an upload that is gone fails its task with `upload_unavailable`, and no vendor is blamed", async () => {
  for (let tasks = 0; tasks < 8; tasks += 1) {
    const { id, filePath, release } = await heldTask();
    rmSync(filePath);
    release();
    const task = await bench.until(id, "failed", "succeeded");
    expect(task).toMatchObject({ cost: "0", error: { code: "upload_unavailable" } });
    expect(await outcomesOf(id)).toEqual({ outcomes: ["upload"], failures: [] });
  }
  expect(vendor.requests).toEqual([]);
  const sent = await bench.submit({ model: "acme/pictures", prompt: "Another" });
  const { id } = (await sent.json()) as TaskBody;
  expect(await bench.until(id, "failed", "succeeded")).toMatchObject({ status: "succeeded" });
});

it.each([
  ["cannot be read", (filePath: string) => (rmSync(filePath), mkdirSync(filePath))],
  ["is cut short", (filePath: string) => truncateSync(filePath, 10)],
])("T81: a task waits for an upload that %s for a while", async (_how, harm) => {
  vendor.requests.length = 0;
  const { id, filePath, release } = await heldTask();
  const bytes = readFileSync(filePath);
  harm(filePath);
  release();
  const looked =
    "select lease_token from tasks where id = $1 and status = 'running' and not asking";
  await eventually(async () => (await bench.database.query(looked, [id]))[0], "a step that waits");
  expect(await outcomesOf(id)).toEqual({ outcomes: [], failures: [] });
  rmSync(filePath, { recursive: true });
  writeFileSync(filePath, bytes);
  expect(await bench.until(id, "failed", "succeeded")).toMatchObject({ status: "succeeded" });
  expect(vendor.requests).toHaveLength(1);
});
