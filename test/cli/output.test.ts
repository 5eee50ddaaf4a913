/** A command's output to a reader that leaves early, and to a full disk. */
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTollgate } from "../support/process.ts";

/** A gateway whose lists have no end. */
let gateway: Server;
let environment: Record<string, string>;
beforeAll(async () => {
  gateway = createServer((_request, response) => {
    response.setHeader("content-type", "text/csv");
    const more = (): void => {
      while (!response.destroyed && response.write(`${"x".repeat(10_000)}\r\n`));
    };
    response.on("drain", more);
    more();
  });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  environment = { TOLLGATE_ADMIN_TOKEN: "token" };
});
afterAll(() => {
  gateway.closeAllConnections();
  gateway.close();
});

const url = (): string => `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;

it("a reader that leaves early, such as head, ends a list with exit 0 and no error", async () => {
  const words = ["requests", "list", "--csv", "--url", url()];
  const child = startTollgate(words, environment, ["ignore", "pipe", "pipe"]);
  let stderr = "";
  child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child.stdout!, "data");
  child.stdout!.destroy();
  expect(await once(child, "close")).toEqual([0, null]);
  expect(stderr).toBe("");
});

it.runIf(existsSync("/dev/full"))("a full disk is reported in one line, with exit 1", async () => {
  for (const words of [
    ["vendors", "--json"],
    ["keys", "--help"],
    ["requests", "list", "--csv", "--url", url()],
  ]) {
    const full = openSync("/dev/full", "w");
    const child = startTollgate(words, environment, ["ignore", full, "pipe"]);
    let stderr = "";
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(child, "close")).toEqual([1, null]);
    expect(stderr).toBe("tollgate: the output could not be written (ENOSPC)\n");
    closeSync(full);
  }
});
