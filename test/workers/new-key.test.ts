/** A provider's key that is replaced in the configuration file while two workers run: each takes it, and older tasks go on. T84. */
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

describe.skipIf(process.platform !== "linux")("a key that is replaced", () => {
  let vendor: ArkVendor;
  let gateway: WorkersGateway;
  const file = join(temporaryDirectory(), "tollgate.yaml");
  const configure = (key: string): void => {
    const provider = oneKey("ark", vendor).replace("key-of-ark", key);
    writeFileSync(file, configurationOf([provider], [clipModel("acme/clip", ["ark"])]));
  };
  beforeAll(async () => {
    vendor = await startArkVendor();
    configure("first-key");
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

  async function read(path: string, body?: object): Promise<{ id: string; status: string }> {
    const response = await fetch(`${gateway.url}/v1/tasks${path}`, {
      method: body === undefined ? "GET" : "POST",
      // A connection each: either worker may take it.
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        connection: "close",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; status: string };
  }
  const submit = () => read("", { model: "acme/clip", prompt: "A boat", duration: 2 });
  const keysOf = (method: string) =>
    vendor.calls(method).map(({ headers }) => String(headers.authorization));

  it("T84: is used by both workers for what comes, without a restart, and for the polls of what it did not submit", async () => {
    vendor.plan("GET", says.running);
    const { id } = await submit();
    await eventually(() => (keysOf("GET").length > 0 ? true : undefined), "its first poll");
    expect(new Set(keysOf("POST"))).toEqual(new Set(["Bearer first-key"]));
    const workers = workersOf(gateway.child.pid!);
    configure("second-key");
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
    expect(workersOf(gateway.child.pid!)).toEqual(workers);
    vendor.plan("GET", vendor.done);
    const done = await eventually(async () => {
      const task = await read(`/${id}`);
      return ["queued", "running"].includes(task.status) ? undefined : task;
    }, "the older task's end");
    expect(done.status).toBe("succeeded");
  });
});
