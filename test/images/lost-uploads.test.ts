// An uploaded picture that cannot be read when the second vendor is asked: an error of the gateway, not of a vendor.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { picture } from "./support.ts";
import { startVendors, twoOffers } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
beforeAll(async () => void (vendors = await startVendors()));
afterAll(() => vendors.close());

it("T75 BILL-22: an upload that is lost before failover is a 500 of the gateway, uncharged, and no other vendor is asked", async () => {
  const { bench } = vendors;
  vendors.answer(async (_request, response) => {
    const rows = await bench.database.query<{ name: string }>(
      "select name from files where purpose = 'input'",
    );
    for (const { name } of rows) rmSync(join(bench.directory, "data", "files", name));
    response.writeHead(503).end();
  });
  const answer = await bench.edit({ model: twoOffers, prompt: "x" }, { image: await picture() });
  const { error } = (await answer.json()) as { error: { code: string } };
  expect([answer.status, error.code]).toEqual([500, "internal_error"]);
  expect((await bench.state()).chargedNano).toBe(0n);
  const rows = () =>
    bench.database.query<{ attempts: { outcome: string }[] }>("select attempts from request_log");
  await expect.poll(async () => (await rows()).length).toBe(1);
  const [row] = await rows();
  expect(row!.attempts.map(({ outcome }) => outcome)).toEqual(["503", "upload"]);
});
