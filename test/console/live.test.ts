/** The log that grows by itself, under a gateway that is restarted, and what waits while somebody reads further down. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { patiently } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { isLong } from "../support/long.ts";
import { closeVisits, visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

/** One address in front of whichever gateway runs, as a balancer has it. */
async function startBalancer(port: number) {
  let target = port;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const onward = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turnTo(other: string) {
      target = Number(new URL(other).port);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let world: ConsoleWorld;
let start: () => Promise<AdminGateway>;
let other: AdminGateway | undefined;
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const environment = { TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64") };
  start = () => startAdminGateway({ databaseUrl, environment });
  world = await startConsoleWorld({ databaseUrl, environment });
});
afterAll(async () => {
  await closeVisits(world.gateway.url);
  await other?.close();
});

const rowsIn = (page: {
  locator(of: string): { evaluateAll<T>(run: (all: unknown[]) => T): Promise<T> };
}) =>
  page
    .locator("table a")
    .evaluateAll((all) =>
      all.map((one) => (one as { pathname: string }).pathname.replace("/requests/", "")),
    );

/** Ids made in one millisecond are in no order of their own. */
const newestFirst = (ids: readonly string[]): string[] => ids.toSorted().toReversed();

/** Rows of a key, written as calls that ended at once. */
async function writeRows(
  count: number,
  keyId: string,
  { database }: Pick<AdminGateway, "database"> = world.gateway,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId("req"));
  await database.query(
    `insert into requests (workspace_id, id, key_id, model, status, created_at)
     select $1, id, $2, 'vendor/model', 'succeeded', now() from unnest($3::text[]) id`,
    [world.home.id, keyId, ids],
  );
  return ids;
}

it.skipIf(!isLong)(
  "rows wait behind their number while somebody reads further down, and too many at once are only counted",
  async () => {
    const { id: keyId } = await world.keyOf(world.mem, world.home.id);
    await writeRows(80, keyId);
    const { page, complaints, close } = await world.open("mem");
    await page.goto(`/requests?key=${keyId}`);
    await page.getByText("vendor/model").first().waitFor();
    await page.getByRole("button", { name: "Live" }).click();
    await page.waitForURL("**live=1*");
    const [one] = await writeRows(1, keyId);
    await page.locator(`a[href*="${one}"]`).waitFor();
    await page.mouse.wheel(0, 1200);
    await page.locator(`a[href*="${one}"]`).waitFor({ state: "detached" });
    const [two] = await writeRows(1, keyId);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await rowsIn(page)).not.toContain(two);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.locator(`a[href*="${two}"]`).waitFor();
    await page.mouse.wheel(0, 1200);
    const many = await writeRows(30, keyId);
    await page.getByRole("button", { name: "30 new" }).click();
    await expect.poll(() => rowsIn(page), patiently).toContain(many.toSorted().at(-1));
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a gateway that is restarted under a live page loses no row and doubles none", async () => {
  const { gateway, mem, home } = world;
  const { id: keyId } = await world.keyOf(mem, home.id);
  const balancer = await startBalancer(Number(new URL(gateway.url).port));
  const { page, close } = await visit({ url: balancer.url, cookie: mem.cookie });
  await page.goto(`/requests?key=${keyId}&live=1`);
  await page.getByText("No call fits these filters.").waitFor();
  const sent = await writeRows(1, keyId);
  await page.locator(`a[href*="${sent[0]}"]`).waitFor();
  other = await start();
  balancer.turnTo(other.url);
  const stopped = gateway.close();
  for (let round = 0; round < 8; round += 1) sent.push(...(await writeRows(1, keyId, other)));
  await page.getByText(/^Shown as of \d\d:\d\d:\d\d, reconnecting$/).waitFor();
  await stopped;
  await expect.poll(() => rowsIn(page), patiently).toEqual(newestFirst(sent));
  await page.getByText(/^Shown as of/).waitFor({ state: "detached" });
  const [last] = await writeRows(1, keyId, other);
  await expect.poll(() => rowsIn(page), patiently).toEqual([last, ...newestFirst(sent)]);
  await close();
  balancer.close();
});
