/** The stream of new rows after its reader lost rights: the change is in force at once, not at the next check a minute later. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { newMember } from "../admin/people.ts";
import { patiently } from "../support/patience.ts";
import { openStream } from "./event-stream.ts";
import { startWorld, type World } from "./support.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ events: { pollMs: 40 } });
});
afterAll(() => world.gateway.close());

it.each([
  ["removed", "DELETE", undefined],
  ["made a member", "PATCH", { role: "member" }],
] as const)(
  "VIS-02: an admin who is %s gets no row of others that is written after the answer",
  async (_what, method, body) => {
    const { gateway, home, root, mem } = world;
    const email = `${method.toLowerCase()}@example.com`;
    const admin = await newMember(gateway, home.id, { email, role: "admin" });
    const { id: keyId } = await world.keyOf(mem, home.id);
    const [stream, all] = await Promise.all(
      [admin, root].map(({ cookie }) => openStream(gateway, "topics=requests", { cookie })),
    );
    for (const one of [stream!, all!]) await one.until("ready");
    const write = async () => {
      const id = newId("req");
      await gateway.database.query(
        "insert into requests (workspace_id, id, key_id, status, created_at) values ($1, $2, $3, 'succeeded', now())",
        [home.id, id, keyId],
      );
      return id;
    };
    const first = await write();
    await expect.poll(() => stream!.rows(), patiently).toEqual([first]);
    const path = `/workspaces/${home.id}/members/${admin.userId}`;
    world.must(await gateway.admin(method, path, body));
    for (let round = 0; round < 3; round += 1) {
      const later = await write();
      await expect.poll(() => all!.rows(), patiently).toContain(later);
    }
    expect(stream!.rows()).toEqual([first]);
    for (const one of [stream!, all!]) await one.close();
  },
);
