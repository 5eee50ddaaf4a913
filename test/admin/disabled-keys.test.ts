/** A key that an administrator disabled: its owner cannot enable it. docs/management.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMember, startWorld, type Person, type World } from "./people.ts";

describe("KEY-09 KEY-10: a disabled key", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.gateway.close());

  const newKey = async (): Promise<{ id: string; key: string }> =>
    world.must(
      await world.mem.call("POST", "/keys", { workspace_id: world.home.id, name: "mine" }),
    );
  const move = async (person: Person, id: string, name: "enable" | "disable") => {
    const { status, json } = await person.call("POST", `/keys/${id}/${name}`, {});
    return [status, json.error?.code ?? json.status];
  };
  const refused = [403, "insufficient_permissions"];

  it("can be enabled by its owner if its owner disabled it", async () => {
    const { id } = await newKey();
    expect(await move(world.mem, id, "disable")).toEqual([200, "disabled"]);
    expect(await move(world.mem, id, "enable")).toEqual([200, "active"]);
  });

  it("cannot be enabled by its owner after an administrator disabled it, until an administrator has enabled it", async () => {
    const { id, key } = await newKey();
    const call = async () =>
      (await world.gateway.get("/v1/key", { authorization: `Bearer ${key}` })).status;
    expect(await move(world.ann, id, "disable")).toEqual([200, "disabled"]);
    expect(await move(world.mem, id, "enable")).toEqual(refused);
    // Nor in two steps, nor after a change or a rotation.
    expect(await move(world.mem, id, "disable")).toEqual([200, "disabled"]);
    world.must(await world.mem.call("PATCH", `/keys/${id}`, { name: "yours" }));
    world.must(await world.ann.call("PATCH", `/keys/${id}`, { name: "ours" }));
    world.must(await world.mem.call("POST", `/keys/${id}/rotate`, { grace_seconds: 60 }));
    expect(await move(world.mem, id, "enable")).toEqual(refused);
    expect(await call()).toBe(401);
    const read = world.must(await world.mem.call("GET", `/keys/${id}`));
    expect(read).toMatchObject({ status: "disabled", disabled_by_admin: true });
    expect(await move(world.ann, id, "enable")).toEqual([200, "active"]);
    expect(await call()).toBe(200);
    expect(await move(world.mem, id, "disable")).toEqual([200, "disabled"]);
    expect(await move(world.mem, id, "enable")).toEqual([200, "active"]);
  });

  it("can be enabled only by an administrator if one disabled it after its owner had", async () => {
    const { id } = await newKey();
    expect(await move(world.mem, id, "disable")).toEqual([200, "disabled"]);
    expect(await move(world.ann, id, "disable")).toEqual([200, "disabled"]);
    expect(await move(world.mem, id, "enable")).toEqual(refused);
    expect(await move(world.ann, id, "enable")).toEqual([200, "active"]);
  });

  it("stays disabled by the administrator when its removed owner is restored", async () => {
    const email = "back@example.com";
    const person = await newMember(world.gateway, world.home.id, { email, role: "member" });
    const body = { workspace_id: world.home.id, name: "kept" };
    const { id } = world.must(await person.call("POST", "/keys", body));
    const path = `/workspaces/${world.home.id}/members/${person.userId}`;
    world.must(await world.ann.call("DELETE", path));
    expect(await move(world.ann, id, "disable")).toEqual([200, "disabled"]);
    const back = world.must(await world.ann.call("POST", `${path}/restore`, {}));
    expect(back.enabled_keys).toEqual([]);
    expect(await move(person, id, "enable")).toEqual(refused);
  });
});
