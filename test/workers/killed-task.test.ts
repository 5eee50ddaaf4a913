/** Workers that are killed while they ask a vendor about a task: it goes on in the workers that take their places, within seconds. T79. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
} from "../tasks/support.ts";
import { startWorkers, workersOf, type WorkersGateway } from "./support.ts";

describe.skipIf(process.platform !== "linux")("workers that are killed", () => {
  let vendor: ArkVendor;
  let gateway: WorkersGateway;
  beforeAll(async () => {
    vendor = await startArkVendor();
    const file = join(temporaryDirectory(), "tollgate.yaml");
    const models = [clipModel("acme/clip", ["ark"])];
    writeFileSync(file, configurationOf([oneKey("ark", vendor)], models));
    gateway = await startWorkers({
      TOLLGATE_CONFIG: file,
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TOLLGATE_INITIAL_CREDIT: "1000",
    });
  });
  afterAll(async () => {
    await gateway?.kill();
    await vendor?.close();
  });

  it("T79: a task that they polled ends soon after, asked for once", async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    const tasks = `${gateway.url}/v1/tasks`;
    vendor.plan("GET", says.nothing);
    const body = JSON.stringify({ model: "acme/clip", prompt: "A boat", duration: 2 });
    const submitted = await fetch(tasks, { method: "POST", headers, body });
    const { id } = (await submitted.json()) as { id: string };
    await eventually(() => (vendor.calls("GET").length > 0 ? true : undefined), "its poll");
    vendor.plan("GET", vendor.done);
    for (const pid of workersOf(gateway.child.pid!)) process.kill(pid, "SIGKILL");
    const killedMs = performance.now();
    const status = await eventually(async () => {
      try {
        const response = await fetch(`${tasks}/${id}`, {
          headers: { ...headers, connection: "close" },
        });
        const task = (await response.json()) as { status?: string };
        return task.status === undefined || task.status === "running" ? undefined : task.status;
      } catch {
        return undefined;
      }
    }, "its end");
    expect(status).toBe("succeeded");
    // The lease of the poll stood for a minute.
    expect(performance.now() - killedMs).toBeLessThan(30_000);
    expect(vendor.calls("POST")).toHaveLength(1);
  });
});
