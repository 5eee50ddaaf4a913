// The cost of a video task, and when the money is held, charged and released. Requirements: BILL, NVID.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { parseUsd } from "../../src/base/money.ts";
import { changeKey } from "../../src/tenancy/index.ts";
import { ledgerReaderOf, eventually, type LedgerReader } from "../money/support.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { scripted, startBench, type Bench } from "../task-http/support.ts";
import { picture } from "../task-http/upload-support.ts";
import { taskHelpers, bySeconds, byTokens, first, frame, frames, second } from "./support.ts";

let bench: Bench;
let books: LedgerReader;
beforeAll(async () => {
  bench = await startBench();
  await bench.credit("1000");
  books = ledgerReaderOf(bench.database);
});
afterAll(() => bench?.close());

const { created, done } = taskHelpers(() => bench);
const native = taskHelpers(() => bench, "/v1/videos/generations");
const boat = { ...first, prompt: "A boat", duration: 2 };
const usd = (text: string) => parseUsd(text);

describe("the price of a video", () => {
  it.each([
    ["BILL-18", { ...boat, duration: 5 }, "0.25"],
    ["BILL-14", { ...boat, duration: 3, resolution: "720p", image: frame }, "0.22"],
    ["BILL-16", { ...boat, image: frame, last_frame: frame }, "0.12"],
    ["BILL-16", { ...boat, ...second, reference_images: frames(14) }, "0.3"],
    ["BILL-14", { ...boat, ...second, resolution: "1080p", reference_images: frames(3) }, "0.53"],
    ["BILL-18", { ...boat, ...bySeconds, resolution: "1080p" }, "0.3"],
    ["BILL-14", { ...boat, ...bySeconds, resolution: "720p", image: frame }, "0.21"],
    ["NVID-25", { ...boat, resolution: "720p", image: frame }, "0.15"],
  ])(
    "%s: is the seconds at the rate of the requested tier, plus each input image: %j",
    async (_row, body, cost) => {
      const before = await bench.available();
      const task = await done(body);
      expect(task.usage["output_video_seconds"]).toBe(body.duration);
      expect(task.cost).toBe(cost);
      expect(before - (await bench.available())).toBe(usd(cost));
    },
  );

  it("BILL-09 BILL-15 BILL-17 BILL-04: is held for the requested seconds, and charged for the produced ones", async () => {
    const before = await bench.available();
    const body = { ...boat, duration: 8, resolution: "720p" };
    const { id } = await created({
      ...body,
      prompt: scripted({ video_seconds: 6, task_seconds: 0.6 }),
    });
    expect(before - (await bench.available())).toBe(usd("0.56"));
    const task = await bench.until(id, "succeeded");
    expect([task.usage["output_video_seconds"], task.cost]).toEqual([6, "0.42"]);
    expect(before - (await bench.available())).toBe(usd("0.42"));
    expect(await books.entry(id)).toMatchObject({
      kind: "charge",
      amount_nano: usd("0.42"),
      held_nano: usd("0.56"),
    });
  });

  it("BILL-17 TASK-28: is charged for fractions of a second as they are shown, to the nano-dollar", async () => {
    const body = { ...boat, duration: 8, prompt: scripted({ video_seconds: 6.3 }) };
    const { id } = await created(body);
    const { usage, cost } = await bench.until(id, "succeeded");
    const seconds = String(usage["output_video_seconds"]);
    // 151 frames at 24 a second; at 0.05 USD a second a microsecond costs 50 nano-dollars.
    expect(seconds).toBe("6.291667");
    expect(usd(cost)).toBe((usd(seconds) / 1000n) * 50n);
    const { usage: logged, cost_nano: costNano } = await books.logRow(id);
    expect([String(logged!["seconds"]), costNano]).toEqual([seconds, usd(cost)]);
  });

  it("BILL-19: is the video tokens at their rate, and never more than was held", async () => {
    const before = await bench.available();
    const { id } = await created({ ...boat, ...byTokens, resolution: "720p", image: frame });
    const reserved = before - (await bench.available());
    const task = await bench.until(id, "succeeded");
    const tokens = task.usage["output_video_tokens"]!;
    expect(tokens).toBeGreaterThan(0);
    const costNano = BigInt(tokens) * 7_000n;
    expect(usd(task.cost)).toBe(costNano);
    expect(before - (await bench.available())).toBe(costNano);
    expect(reserved).toBeGreaterThanOrEqual(costNano);
  });

  it("NVID-20 NVID-25 BILL-24: depends on the tier at the native endpoint, and is in the unified task, the request log and the key's spend", async () => {
    const { id } = await native.created({ ...boat, resolution: "720p", image: frame, user: "u1" });
    const spent = async () => {
      const { spend } = (await (await bench.get("/v1/key")).json()) as { spend: { total: string } };
      return usd(spend.total);
    };
    const before = await spent();
    const task = await bench.until(id, "succeeded");
    expect(task.cost).toBe("0.15");
    expect((await books.logRow(id)).cost_nano).toBe(usd("0.15"));
    await eventually(
      async () => ((await spent()) - before === usd("0.15") ? true : undefined),
      "the spend of the key",
    );
    expect(await native.sent({ ...boat, user: "hash-1" })).toMatchObject({ user: "hash-1" });
  });
});

describe("the hold", () => {
  it("BILL-03 BILL-08: stays from submission to the end, while the task is queued and while it runs", async () => {
    const held = async (id: string) =>
      (await books.holds()).filter((hold) => hold.id === id).map((hold) => hold.amount_nano);
    const prompt = scripted({ delay_ms: 400, task_seconds: 0.8, video_seconds: 1 });
    const { id } = await created({ ...boat, prompt });
    expect((await bench.read(id)).status).toBe("queued");
    expect(await held(id)).toEqual([usd("0.1")]);
    await bench.until(id, "running");
    expect(await held(id)).toEqual([usd("0.1")]);
    const { cost } = await bench.until(id, "succeeded");
    expect(cost).toBe("0.05");
    expect(await held(id)).toEqual([]);
  });

  it.each([
    ["BILL-05", "failed", { task_outcome: "failed" }],
    ["BILL-05", "failed", { task_outcome: "blocked" }],
    ["BILL-05", "failed", { status: 400, error: "no" }],
    ["BILL-06", "expired", { task_outcome: "expired" }],
  ])("%s: is released in full if the task is %s (%j)", async (_row, status, script) => {
    const before = await bench.available();
    const { id } = await created({ ...boat, prompt: scripted(script) });
    const task = await bench.until(id, status);
    expect(task.cost).toBe("0");
    expect(await bench.available()).toBe(before);
    expect(await books.entry(id)).toMatchObject({ kind: "void", amount_nano: 0n });
  });

  it("BILL-06 ARK-08: is released if the task passes its own deadline and expires, even while its vendor works on it", async () => {
    const before = await bench.available();
    const { id } = await created({
      ...boat,
      ...byTokens,
      execution_expires_after: 3600,
      prompt: scripted({ task_seconds: 600 }),
    });
    await bench.until(id, "running");
    await bench.database.query(
      `update tasks set expires_at = expires_at - interval '1 hour', created_at = created_at - interval '1 hour',
         due_at = now() where id = $1`,
      [id],
    );
    expect(await bench.until(id, "expired")).toMatchObject({ error: { code: "expired" } });
    const ark = await bench.get(`/api/v3/contents/generations/tasks/${id}`);
    expect(await ark.json()).toMatchObject({ id, status: "expired" });
    expect(await bench.available()).toBe(before);
  });

  it("BILL-07: is released in full if the task is canceled", async () => {
    const before = await bench.available();
    const body = { ...boat, ...bySeconds, prompt: scripted({ task_seconds: 600 }) };
    const { id } = await created(body);
    const cancel = async () => (await bench.send("POST", `/v1/tasks/${id}/cancel`)).status;
    await expect.poll(cancel).toBe(200);
    expect((await bench.read(id)).cost).toBe("0");
    expect(await bench.available()).toBe(before);
    expect(await books.entry(id)).toMatchObject({ kind: "void" });
  });
});

describe("the charge of a video", () => {
  it("T58: is made once: 50 reads on every path add none", async () => {
    const { id } = await created(boat);
    await bench.until(id, "succeeded");
    const after = await bench.available();
    const paths = [
      `/v1/tasks/${id}`,
      `/v1/videos/${id}`,
      `/api/v1/tasks/${id}`,
      `/api/v3/contents/generations/tasks/${id}`,
      "/v1/tasks",
    ];
    for (const path of paths) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => bench.get(path)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const charges = (await books.charges()).filter(({ reference }) => reference === id);
    expect(charges).toMatchObject([{ amount_nano: usd("0.1") }]);
    expect(await bench.available()).toBe(after);
  });

  it("T57: counts against a cap, before the video is made and afterwards", async () => {
    const context = { database: bench.database, clock: systemClock };
    const [row] = await bench.database.query<{ id: string; total: bigint }>(
      `select k.id, s.total_nano as total from api_keys k
       join ledger_spend s on s.scope = 'key' and s.scope_id = k.id where k.workspace_id = $1`,
      [bench.workspaceId],
    );
    const cap = (nano: bigint | null) =>
      changeKey(
        context,
        { id: row!.id },
        { spendCaps: nano === null ? null : { totalNano: nano, hard: true } },
      );
    await cap(row!.total + usd("0.25"));
    expect((await done(boat)).cost).toBe("0.1");
    const { id } = await created({ ...boat, prompt: scripted({ task_seconds: 0.5 }) });
    const refusal = async () => {
      const answer = await bench.send("POST", "/v1/tasks", { body: boat });
      return {
        status: answer.status,
        code: ((await answer.json()) as { error: { code: string } }).error.code,
      };
    };
    const capped = { status: 402, code: "key_total_spend_cap_reached" };
    expect(await refusal()).toEqual(capped);
    await bench.until(id, "succeeded");
    expect(await refusal()).toEqual(capped);
    await cap(null);
  });
});

describe("a vendor that delivers fewer images than requested", () => {
  let vendor: Recorder;
  let small: Bench;
  beforeAll(async () => {
    const image = { b64_json: (await picture("jpeg")).toString("base64") };
    vendor = await startRecorder(json({ data: [image, image, image] }));
    small = await startBench({
      config: `
providers:
  - { id: xai, dialect: xai, base_url: "${vendor.url}/v1", api_key: none }
models:
  - id: acme/picture
    kind: image
    family: task-image-1
    offers:
      - { provider: xai, upstream_model: picture-1, price: { output_image: { low: { 1K: "0.02", 2K: "0.04" }, medium: { 1K: "0.05", 2K: "0.08" } }, input_image: "0.002" } }
`,
    });
    await small.credit("10");
  });
  afterAll(async () => {
    await small?.close();
    await vendor?.close();
  });

  it("BILL-09: causes a charge for three images if it delivers three of four", async () => {
    const before = await small.available();
    const body = { model: "acme/picture", prompt: "A boat", n: 4 };
    const task = await small.create(body, { prefer: "wait=20" });
    expect(task.output.images).toHaveLength(3);
    expect(task).toMatchObject({ cost: "0.06", usage: { output_images: 3 } });
    expect(before - (await small.available())).toBe(usd("0.06"));
  });
});
