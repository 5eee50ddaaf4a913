/** A provider's key that is replaced in the configuration file while two workers run: each takes it, and older tasks go on. T84. */
import { describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { says } from "../tasks/support.ts";
import { useArkWorkers } from "./ark-workers.ts";
import { workersOf } from "./support.ts";

describe.skipIf(process.platform !== "linux")("a key that is replaced", () => {
  const workers = useArkWorkers();
  const submit = () => workers.task("", { model: "acme/clip", prompt: "A boat", duration: 2 });
  const keysOf = (method: string) =>
    workers.vendor.calls(method).map(({ headers }) => String(headers.authorization));

  it("T84: is used by both workers for what comes, without a restart, and for the polls of what it did not submit", async () => {
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
});
