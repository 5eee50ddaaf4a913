/**
 * A gateway is killed while it holds a task, with leases as long as real ones. The next one takes the task over at once and
 * repeats no request to the vendor. docs/tasks.md "After a crash".
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import {
  clipConfiguration,
  endAll,
  live,
  liveHere,
  startVideoVendor,
  type VideoVendor,
} from "../support/task-life.ts";

let vendor: VideoVendor;
let directory: string;
beforeAll(async () => {
  vendor = await startVideoVendor();
  directory = temporaryDirectory();
  const config = clipConfiguration(`${vendor.recorder.url}/v1`);
  writeFileSync(join(directory, "tollgate.yaml"), config);
});
afterEach(endAll);
afterAll(() => vendor?.recorder.close());

interface TaskAnswer {
  readonly id: string;
  readonly status: string;
  readonly error?: { readonly code: string };
}

type Row = readonly [
  point: "poll.begin" | "ask.intended",
  kind: "a server" | "the embedded database",
  status: string,
  code: string | undefined,
];
/** In the short form each point and each kind of database once: taking over a lease does not depend on the kind of database. */
const cases: readonly Row[] = [
  ["ask.intended", "a server", "failed", "submission_uncertain"],
  ["poll.begin", "the embedded database", "succeeded", undefined],
  ...shortOrLong<readonly Row[]>([], [["poll.begin", "a server", "succeeded", undefined]]),
];

it.each(cases)(
  "T79 T81: after a gateway is killed at %s, on %s, its task is %s within seconds",
  async (point, kind, status, code) => {
    const name = `${point} ${kind}`.replaceAll(" ", "-");
    const environment: Record<string, string> = {
      TOLLGATE_DATA_DIR: join(directory, name),
      TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TEST_LEASE_MS: "60000",
      TEST_ABANDON_MS: "300000",
      ...(kind === "a server" && {
        DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      }),
    };
    const first = await live(environment);
    await first.arm(point);
    const headers = { authorization: `Bearer ${first.key}`, "content-type": "application/json" };
    const submitted = await fetch(`${first.url}/v1/tasks`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "acme/clip", prompt: name, duration: 2 }),
    });
    const { id } = (await submitted.json()) as TaskAnswer;
    await first.gone;
    const second = await liveHere(environment);
    const begunMs = performance.now();
    const ended = await eventually(async () => {
      const task = (await (
        await fetch(`${second.url}/v1/tasks/${id}`, { headers })
      ).json()) as TaskAnswer;
      return ["queued", "running"].includes(task.status) ? undefined : task;
    }, "its end");
    expect([ended.status, ended.error?.code]).toEqual([status, code]);
    // Its lease would have lasted a minute, and the task would have been given up after six.
    expect(performance.now() - begunMs).toBeLessThan(30_000);
    expect(vendor.submitted.get(name) ?? 0).toBe(point === "poll.begin" ? 1 : 0);
    await second.end();
  },
);
