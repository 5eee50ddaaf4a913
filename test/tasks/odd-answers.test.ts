// Vendors whose answers contain text that the database cannot store, or impossible usage. The task still ends soon, and is charged
// a plausible amount. docs/tasks.md.
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ledgerReaderOf, type LedgerReader } from "../money/support.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
} from "./support.ts";

let vendor: ArkVendor;
let bench: Bench;
let books: LedgerReader;
const clip = { model: "acme/clip", prompt: "A boat", duration: 2 };
beforeAll(async () => {
  vendor = await startArkVendor();
  bench = await startBench({
    config: configurationOf([oneKey("ark", vendor)], [clipModel("acme/clip", ["ark"])]),
    tasks: { timing: { firstPollMs: 20, sweepMs: 50, questionMs: 500 } },
  });
  await bench.credit("5000000");
  books = ledgerReaderOf(bench.database);
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const json = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(text);

describe("text that the database cannot store", () => {
  const failed = (message: string) =>
    json(`{"status":"failed","error":{"code":"InvalidParameter","message":"${message}"}}`);

  it.each([
    ["U+0000", "bad \\u0000 thing", "bad  thing"],
    ["half of a surrogate pair", "bad \\ud83d thing", "bad \ufffd thing"],
    [
      "a surrogate pair at the cut",
      `${"x".repeat(1999)}\\ud83d\\ude00`,
      `${"x".repeat(1999)}\ufffd`,
    ],
  ])(
    "%s in the reason of a failed job ends its task, with the rest of the reason",
    async (_what, message, shown) => {
      vendor.plan("GET", failed(message));
      const { id } = await bench.create(clip);
      const task = await bench.until(id, "failed");
      expect(task.error).toEqual({ code: "invalid_argument", message: shown });
    },
  );

  it("in a refusal fails the task with the refusal, not as uncertain", async () => {
    vendor.plan("POST", (response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":{"code":"Bad\\u0000","message":"no \\u0000 \\udc00 boats"}}');
    });
    const { id } = await bench.create(clip);
    const task = await bench.until(id, "failed");
    expect(task.error).toEqual({ code: "invalid_argument", message: "no  \ufffd boats" });
  });

  it("in a job id does not block the runner", async () => {
    vendor.plan("POST", json('{"id":"job-\\u0000"}'));
    const { id } = await bench.create(clip);
    expect((await bench.until(id, "succeeded", "failed")).status).toBe("succeeded");
  });
});

it("T81 T86: a job id or an answer of megabytes fails the task as uncertain, and its row stays small", async () => {
  vendor.plan("POST", json(JSON.stringify({ id: "j".repeat(600_000) })));
  const { id } = await bench.create(clip);
  const task = await bench.until(id, "succeeded", "failed");
  expect(task.error?.code).toBe("submission_uncertain");
  vendor.plan("POST", json(JSON.stringify({ id: "job-1", more: "j".repeat(2 ** 20) })));
  const other = await bench.create(clip);
  const ended = await bench.until(other.id, "succeeded", "failed");
  expect(ended.error?.code).toBe("submission_uncertain");
  const [row] = await bench.database.query<{ bytes: number }>(
    "select max(length(t::text)) as bytes from tasks t where id = any($1)",
    [[id, other.id]],
  );
  expect(row!.bytes).toBeLessThan(20_000);
});

describe("usage that a job cannot have", () => {
  it.each(["1e30", "1e15", "90000000000", '"1000"', "-5", "null"])(
    "T61: %s reported tokens are charged as reserved, and the log marks the usage as estimated",
    async (reported) => {
      const done = (tokens: string) =>
        json(
          `{"status":"succeeded","content":{"video_url":"${vendor.url}/made.mp4"},"usage":{"completion_tokens":${tokens}}}`,
        );
      vendor.plan("GET", done(reported));
      const { id } = await bench.create(clip);
      const task = await bench.until(id, "succeeded", "failed");
      const [row] = await bench.database.query<{ reserved_nano: bigint; cost_nano: bigint }>(
        "select reserved_nano, cost_nano from tasks where id = $1",
        [id],
      );
      expect(task.status).toBe("succeeded");
      expect(row!.cost_nano).toBe(row!.reserved_nano);
      expect(await books.logRow(id)).toMatchObject({ usage_source: "estimated" });
      await books.expectClean();
    },
  );

  it("slightly more tokens than reserved are charged as the vendor reported them", async () => {
    vendor.plan("GET", says.running, vendor.done);
    const { id } = await bench.create(clip);
    expect((await bench.until(id, "succeeded")).cost).toBe("1");
    expect(await books.logRow(id)).toMatchObject({ usage_source: "upstream" });
  });
});

it.each([
  ["1.5", 1.5],
  ["1e30", 2],
  ["-1", 2],
])(
  "NVID-31: %s reported seconds of a video billed by tokens are shown if they are plausible",
  async (reported, shown) => {
    const video = `"content":{"video_url":"${vendor.url}/made.mp4"},"usage":{"completion_tokens":1000}`;
    vendor.plan("GET", json(`{"status":"succeeded","duration":${reported},${video}}`));
    const { id } = await bench.create(clip);
    const task = await bench.until(id, "succeeded", "failed");
    const native = await bench.send("GET", `/v1/videos/${id}`);
    expect(await native.json()).toMatchObject({ status: "done", video: { duration: shown } });
    // It never appears together with tokens (TASK-31).
    expect(task.usage).not.toHaveProperty("output_video_seconds");
  },
);
