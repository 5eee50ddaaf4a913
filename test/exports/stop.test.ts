/** A gateway that stops during an export. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { exportFinished, openExportPlace } from "../../src/exports/index.ts";
import { describeDatabase, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { seedCalls } from "../support/seed/calls.ts";

describeDatabase("an export when its gateway stops", (open) => {
  it("gives up the file that is being written, and the next gateway writes it", async () => {
    const database = await open();
    const end = new Date(Math.floor((Date.now() - 4 * 3_600_000) / 86_400_000) * 86_400_000);
    const counts = { keys: 1, models: 1, members: 1, providers: 1, workspaces: 1 };
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
