/** A gateway that stops during an export. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { exportFinished, openExportPlace } from "../../src/exports/index.ts";
import { describeDatabase, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { seedCalls } from "../support/seed/calls.ts";

const counts = { keys: 1, models: 1, members: 1, providers: 1, workspaces: 1 };
/** The last midnight that is long enough ago for an export of the day before. */
const end = new Date(Math.floor((Date.now() - 4 * 3_600_000) / 86_400_000) * 86_400_000);

describeDatabase("an export when its gateway stops", (open) => {
  it("gives up the file at once if its bucket does not answer", async () => {
    const database = await open();
    await seedCalls(database, { requests: 10, days: 1, end, ...counts });
    const ending = new AbortController();
    // Takes requests, and answers none.
    const bucket = createServer(() => ending.abort()).listen(0, "127.0.0.1");
    await once(bucket, "listening");
    const { port } = bucket.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}`;
    const keys = { accessKeyId: "id", secretAccessKey: "secret" };
    const place = await openExportPlace({ to: "s3://audit", endpoint, ...keys });
    const exported = { database, place, what: ["requests"], format: "jsonl" } as const;
    const goesOn = (): boolean => !ending.signal.aborted;
    await exportFinished({ ...exported, log: silentLog }, goesOn, ending.signal);
    expect(goesOn()).toBe(false);
    expect(await database.query("select * from exported_days")).toEqual([]);
    await place.close();
    bucket.closeAllConnections();
    bucket.close();
  });

  it("gives up the file that is being written, and the next gateway writes it", async () => {
    const database = await open();
    await seedCalls(database, { requests: 1_200, days: 2, end, ...counts });
    const folder = temporaryDirectory();
    const place = await openExportPlace({ to: folder });
    const exported = { database, place, what: ["requests"], format: "jsonl" } as const;
    const lines: string[] = [];
    const log = { ...silentLog, info: (_fields: object, line: string) => void lines.push(line) };
    let looks = 0;
    // The first look is before the day, the second in the middle of its file.
    await exportFinished({ ...exported, log }, () => (looks += 1) < 2);
    expect({ files: readdirSync(folder), lines }).toEqual({ files: [], lines: [] });
    expect(await database.query("select * from exported_days")).toEqual([]);
    await exportFinished({ ...exported, log }, () => true);
    expect(readdirSync(folder).length).toBeGreaterThanOrEqual(1);
    expect(lines).toContain("exported a day");
  });
});
