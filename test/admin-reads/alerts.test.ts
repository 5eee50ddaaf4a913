/** `GET /alerts`: which spend cap alerts each reader sees. docs/management.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMember, startWorld, type Person, type World } from "../admin/people.ts";

let world: World;
let alertsSeenBy: (person: Pick<Person, "call">, query?: string) => Promise<unknown>;
beforeAll(async () => {
  world = await startWorld();
  const { gateway, home, away, ann, mem, mel, bob, must } = world;
  const keyOf = async (person: Person, workspaceId: string) => {
    const body = { workspace_id: workspaceId, name: "k" };
    return must(await person.call("POST", "/keys", body)).id as string;
  };
  const alerts = [
    ["home itself", home.id, "workspace", home.id],
    ["mem", home.id, "member", mem.userId],
    ["mem's key", home.id, "key", await keyOf(mem, home.id)],
    ["mel", home.id, "member", mel.userId],
    ["ann's key", home.id, "key", await keyOf(ann, home.id)],
    ["away itself", away.id, "workspace", away.id],
    ["bob", away.id, "member", bob.userId],
  ] as const;
  for (const [, workspaceId, scope, id] of alerts)
    await gateway.database.query(
      `insert into spend_alerts (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold, spent_nano, created_at)
       values ($1, $2, $3, 'daily', current_date, 100, 80, 80, now())`,
      [workspaceId, scope, id],
    );
  const names = new Map<string, string>(alerts.map(([name, , , id]) => [id, name]));
  alertsSeenBy = async (person, query = "") => {
    const { data } = must(await person.call("GET", `/alerts${query}`));
    return (data as { layer_id: string }[]).map(({ layer_id: id }) => names.get(id) ?? id).sort();
  };
});
afterAll(() => world.gateway.close());

const ofHome = ["ann's key", "home itself", "mel", "mem", "mem's key"];
const ofAway = ["away itself", "bob"];

it("a workspace admin sees the alerts of their workspace, and an organization admin sees all", async () => {
  expect(await alertsSeenBy(world.ann)).toEqual(ofHome);
  expect(await alertsSeenBy(world.bob)).toEqual(ofAway);
  expect(await alertsSeenBy(world.root)).toEqual([...ofHome, ...ofAway].sort());
  expect(await alertsSeenBy(world.root, `?workspace_id=${world.away.id}`)).toEqual(ofAway);
  expect(await alertsSeenBy(world.ann, `?workspace_id=${world.away.id}`)).toEqual([]);
});

it("a member sees the alerts about themselves and their keys, and none after leaving the workspace", async () => {
  expect(await alertsSeenBy(world.mem)).toEqual(["mem", "mem's key"]);
  expect(await alertsSeenBy(world.mel)).toEqual(["mel"]);
  const { home, gateway, must, ann, mem } = world;
  const other = await newMember(gateway, home.id, { email: "other@example.com", role: "member" });
  expect(await alertsSeenBy(other)).toEqual([]);
  must(await ann.call("DELETE", `/workspaces/${home.id}/members/${mem.userId}`));
  expect(await alertsSeenBy(mem)).toEqual([]);
});
