/**
 * Two workers with tasks at a vendor. A provider's key is replaced in the configuration file (T84), and workers are killed while
 * they ask the vendor (T79). The task continues in the replacement workers, and the log says how each worker ended, with advice.
 */
import { describe, expect, it } from "vitest";
import { adviceOnEnd } from "../../src/cli/workers/ended.ts";
import { eventually } from "../money/support.ts";
import { says } from "../tasks/support.ts";
import { useArkWorkers } from "./ark-workers.ts";
import { workersOf } from "./support.ts";

const clip = { model: "acme/clip", prompt: "A boat", duration: 2 };

describe.skipIf(process.platform !== "linux")("two workers with tasks", () => {
  const workers = useArkWorkers();
  const submit = () => workers.task("", clip);
  const keysOf = (method: string) =>
    workers.vendor.calls(method).map(({ headers }) => String(headers.authorization));

  it("T84: a replaced key is used for new submissions and for polls of older tasks, without a restart", async () => {
    const { vendor, gateway } = workers;
    vendor.plan("GET", says.running);
    const { id } = await submit();
    await eventually(() => (keysOf("GET").length > 0 ? true : undefined), "its first poll");
    expect(new Set(keysOf("POST"))).toEqual(new Set(["Bearer first-key"]));
    const pids = workersOf(gateway.child.pid!);
    workers.configure("second-key");
    await eventually(
      () => (keysOf("GET").includes("Bearer second-key") ? true : undefined),
      "a poll with the new key",
    );
    await eventually(async () => {
      const before = keysOf("POST").length;
      const made = await Promise.all(Array.from({ length: 8 }, submit));
      await eventually(
        () => (keysOf("POST").length >= before + made.length ? true : undefined),
        "their submissions",
      );
      const keys = keysOf("POST").slice(before);
      return keys.every((key) => key === "Bearer second-key") ? true : undefined;
    }, "both workers with the new key");
    expect(workersOf(gateway.child.pid!)).toEqual(pids);
    vendor.plan("GET", vendor.done);
    const done = await eventually(async () => {
      const task = await workers.task(`/${id}`);
      return task.status === undefined || ["queued", "running"].includes(task.status)
        ? undefined
        : task;
    }, "the older task's end");
    expect(done.status).toBe("succeeded");
  });

  it("T79: a task whose polling workers are killed ends soon after, submitted once", async () => {
    const { vendor, gateway } = workers;
    const asked = vendor.calls("POST").length;
    vendor.plan("GET", says.nothing);
    const { id } = await submit();
    // Tasks of the test before may still be polled.
    const isOfIt = ({ path }: { readonly path: string }) => path.endsWith(`/cgt-${asked + 1}`);
    await eventually(() => vendor.calls("GET").some(isOfIt), "its poll");
    vendor.plan("GET", vendor.done);
    const [first, second] = workersOf(gateway.child.pid!);
    process.kill(first!, "SIGKILL");
    // V8 ends a process this way if its heap is full.
    process.kill(second!, "SIGABRT");
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
    // The lease of the poll would have lasted a minute.
    expect(performance.now() - killedMs).toBeLessThan(30_000);
    expect(vendor.calls("POST")).toHaveLength(asked + 1);
  });

  it("workers that were killed or ran out of heap are logged with the fix, and replaced", async () => {
    const { gateway } = workers;
    const ended = await eventually(() => {
      const lines = gateway.printed().split("\n");
      const found = lines.filter((line) => line.includes("a worker ended; it is started again"));
      return found.length === 2 ? found.map((line) => JSON.parse(line) as object) : undefined;
    }, "both ends to be told");
    expect(ended).toContainEqual(
      expect.objectContaining({ how: "SIGKILL", fix: expect.stringMatching(/dmesg/) as string }),
    );
    expect(ended).toContainEqual(
      expect.objectContaining({
        how: "SIGABRT",
        fix: expect.stringMatching(/heap out of memory.*--max-old-space-size/) as string,
      }),
    );
    await eventually(
      () => gateway.printed().split("the worker is back").length === 3 || undefined,
      "both to be back",
    );
  });
});

it.each(["code 1", "ended by its supervisor"])(
  "an end with %s has no advice, because the log lines before it have the reason",
  (how) => {
    expect(adviceOnEnd(how)).toEqual({});
  },
);
