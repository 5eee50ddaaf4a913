// The storage fails when a result is ready. A vendor that answered with the result cannot be asked again, so the task fails with
// the reason, unbilled. From a vendor that stores it, the gateway fetches it until it can be stored. docs/tasks.md.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ledgerReaderOf } from "../money/support.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { clipModel, oneKey, startArkVendor, type ArkVendor } from "./support.ts";
import { pixel } from "../support/pixel.ts";

let painter: Recorder;
let ark: ArkVendor;
let bench: Bench;
const files = () => join(bench.directory, "data", "files");
beforeAll(async () => {
  [painter, ark] = await Promise.all([
    startRecorder(json({ data: [{ b64_json: pixel }] })),
    startArkVendor(),
  ]);
  bench = await startBench({
    config: `
providers:
  - { id: xai, dialect: xai, base_url: "${painter.url}/v1", api_key: secret }
${oneKey("ark", ark)}
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - provider: xai
        upstream_model: m
        price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" }
${clipModel("acme/clip", ["ark"])}
`,
    tasks: { timing: { firstPollMs: 20, sweepMs: 50, downloadMs: 2_000, keepPauseMs: 50 } },
  });
  await bench.credit("100");
});
afterAll(async () => {
  await bench?.close();
  await Promise.all([painter?.close(), ark?.close()]);
});

it("a vendor that answers with the result: the task fails with artifact_unavailable, and nothing is charged", async () => {
  rmSync(files(), { recursive: true });
  writeFileSync(files(), "no directory");
  const { id } = await bench.create({ model: "acme/pictures", prompt: "A boat" });
  const task = await bench.until(id, "failed", "succeeded");
  expect(task).toMatchObject({
    status: "failed",
    cost: "0",
    error: { code: "artifact_unavailable" },
  });
  expect(task.error!.message).not.toContain(files());
  rmSync(files());
  mkdirSync(files());
  await ledgerReaderOf(bench.database).expectClean();
  expect(await ledgerReaderOf(bench.database).charges()).toEqual([]);
});

it("a vendor that keeps the result: the task succeeds once it can be stored, and is charged once", async () => {
  rmSync(files(), { recursive: true });
  writeFileSync(files(), "no directory");
  const { id } = await bench.create({ model: "acme/clip", prompt: "A boat", duration: 2 });
  await bench.until(id, "running");
  await new Promise((resume) => setTimeout(resume, 300));
  expect((await bench.read(id)).status).toBe("running");
  rmSync(files());
  mkdirSync(files());
  expect(await bench.until(id, "failed", "succeeded")).toMatchObject({
    status: "succeeded",
    cost: "1",
  });
  await ledgerReaderOf(bench.database).expectClean();
  expect(await ledgerReaderOf(bench.database).charges()).toMatchObject([
    { reference: id, amount_nano: 1_000_000_000n },
  ]);
});
