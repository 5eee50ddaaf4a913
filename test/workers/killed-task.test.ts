/** Workers that are killed while they ask a vendor about a task: it goes on in the workers that take their places, within seconds. T79. */
import { describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { says } from "../tasks/support.ts";
import { useArkWorkers } from "./ark-workers.ts";
import { workersOf } from "./support.ts";

describe.skipIf(process.platform !== "linux")("workers that are killed", () => {
  const workers = useArkWorkers();

  it("T79: a task that they polled ends soon after, asked for once", async () => {
    const { vendor, gateway } = workers;
    vendor.plan("GET", says.nothing);
    const { id } = await workers.task("", { model: "acme/clip", prompt: "A boat", duration: 2 });
    await eventually(() => (vendor.calls("GET").length > 0 ? true : undefined), "its poll");
    vendor.plan("GET", vendor.done);
    for (const pid of workersOf(gateway.child.pid!)) process.kill(pid, "SIGKILL");
    const killedMs = performance.now();
    const status = await eventually(async () => {
      try {
        const task = await workers.task(`/${id}`);
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
