/** The search of the palette: each reader finds exactly what their lists show. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld, type Person, type World } from "../admin/people.ts";

describe("search", () => {
  let world: World;
  let own: { id: string; key_last4: string };
  beforeAll(async () => {
    world = await startWorld();
    const { ann, mem, bob, home, away, must } = world;
    const make = async (person: Person, workspaceId: string, name: string) =>
      must(await person.call("POST", "/keys", { workspace_id: workspaceId, name }));
    own = await make(mem, home.id, "Needle of mem");
    await make(ann, home.id, "a needle of ann");
    await make(bob, away.id, "needle of bob");
    for (let at = 0; at < 6; at += 1) await make(bob, away.id, `hay ${at}`);
  });
  afterAll(() => world.gateway.close());

  const find = async (person: Person, q: string) =>
    world.must(await person.call("GET", `/search?q=${encodeURIComponent(q)}`)) as Record<
      "keys" | "members" | "workspaces" | "models",
      Record<string, string>[]
    >;
  const names = (found: Record<string, string>[]) => found.map(({ name }) => name);

  it("VIS-01 VIS-02 VIS-04: finds keys, members and workspaces that the user sees, and no others", async () => {
    const { root, ann, mem, bob } = world;
    expect(names((await find(root, "NEEDLE")).keys)).toEqual([
      "needle of bob",
      "Needle of mem",
      "a needle of ann",
    ]);
    expect(names((await find(ann, "needle")).keys)).toEqual(["Needle of mem", "a needle of ann"]);
    expect(names((await find(mem, "needle")).keys)).toEqual(["Needle of mem"]);
    expect(names((await find(bob, "needle")).keys)).toEqual(["needle of bob"]);
    const people = async (person: Person) =>
      (await find(person, "example.com")).members.map(({ email }) => email);
    expect(await people(mem)).toEqual(["mem@example.com"]);
    expect(await people(ann)).toEqual(["ann@example.com", "mel@example.com", "mem@example.com"]);
    expect(await people(bob)).toEqual(["bob@example.com"]);
    expect(names((await find(bob, "home")).workspaces)).toEqual([]);
    expect(names((await find(mem, "home")).workspaces)).toEqual(["home"]);
  });

  it("finds keys by their last four characters and by id; it returns at most five of a kind", async () => {
    const { mem, bob } = world;
    expect((await find(mem, own.key_last4)).keys[0]).toMatchObject({ id: own.id });
    expect((await find(mem, own.id)).keys[0]).toMatchObject({ id: own.id });
    expect((await find(bob, own.id)).keys).toEqual([]);
    expect((await find(bob, "hay")).keys).toHaveLength(5);
    const { models } = await find(bob, "sandbox/");
    expect(models).toHaveLength(5);
  });

  it("takes characters with a meaning in SQL literally, and refuses too short, too long and unknown input", async () => {
    const { mem } = world;
    for (const text of ["%%", "__", "'; drop table users; --", "\\\\", "((", "\u202Eneedle"])
      expect(names((await find(mem, text)).keys)).toEqual([]);
    for (const q of ["q=a", "q=", "", `q=${"a".repeat(101)}`, "q=ab&limit=9"]) {
      const { status } = await mem.call("GET", `/search?${q}`);
      expect({ q, status }).toEqual({ q, status: 400 });
    }
  });

  it("finds members of a workspace by name and e-mail, within what the user sees", async () => {
    const { ann, mem, bob, home } = world;
    const members = async (person: Person, q: string) => {
      const path = `/workspaces/${home.id}/members?q=${encodeURIComponent(q)}`;
      const { data } = world.must(await person.call("GET", path));
      return data.map(({ email }: { email: string }) => email).sort();
    };
    expect(await members(ann, "MEM@exam")).toEqual(["mem@example.com"]);
    expect(await members(ann, "me")).toEqual(["mel@example.com", "mem@example.com"]);
    expect(await members(ann, "")).toContain("ann@example.com");
    expect(await members(mem, "me")).toEqual(["mem@example.com"]);
    for (const text of ["%", "_el", "' or true --", "bob@example.com"])
      expect(await members(ann, text)).toEqual([]);
    const path = `/workspaces/${home.id}/members`;
    expect((await bob.call("GET", `${path}?q=ann`)).status).toBe(404);
    for (const q of ["%00", "a".repeat(101)])
      expect((await ann.call("GET", `${path}?q=${q}`)).status).toBe(400);
  });
});
