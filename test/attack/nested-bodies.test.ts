/** Bodies of brackets alone, as deep as a body may be long: refused by the scan, and nobody else waits. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inForm } from "../support/long.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { measureAgain, stallMsMax } from "./support.ts";

describe("bodies nested without end", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-attack-"));
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await spawnGateway({
      TOLLGATE_DATA_DIR: directory,
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      TOLLGATE_LOG_LEVEL: "error",
    });
  });
  afterAll(async () => {
    await gateway.kill();
    rmSync(directory, { recursive: true, force: true });
  });

  it("are refused, and another caller waits for less than 250 ms", async () => {
    const key = /gw_live_\w+/.exec(gateway.banner)![0];
    const body = "[".repeat(4 * 2 ** 20);
    const statuses = new Set<number>();
    const figures = await measureAgain(
      "nested bodies",
      { url: gateway.url, pid: gateway.child.pid!, key },
      async () => {
        for (let round = 0; round < inForm(10, 200); round += 1) {
          const response = await fetch(`${gateway.url}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            body,
          });
          statuses.add(response.status);
          await response.arrayBuffer();
        }
      },
    );
    expect([...statuses]).toEqual([400]);
    expect(figures).toMatchObject({ failed: 0 });
    expect(figures.stallMs).toBeLessThan(stallMsMax);
    expect(figures.memoryMax).toBeLessThan(1.5e9);
  });
});
