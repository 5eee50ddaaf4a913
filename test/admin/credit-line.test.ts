/** Workspaces with a credit line: how far they may spend beyond their credits, who sets it, and where it shows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { startWorld, type World } from "./people.ts";
import type { Answer } from "./support.ts";

const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

describe("a credit line", () => {
  let world: World;
  let path: string;
  let key: string;
  beforeAll(async () => {
    world = await startWorld();
    path = `/workspaces/${world.home.id}`;
    const body = { workspace_id: world.home.id, name: "on credit" };
    ({ key } = world.must(await world.root.call("POST", "/keys", body)));
  });
  afterAll(() => world.gateway.close());

  const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
  const setLine = (credit_line: unknown) => world.root.call("PATCH", path, { credit_line });
  const balance = async () => world.must(await world.root.call("GET", `${path}/balance`));
  async function callOutcome(): Promise<unknown> {
    const answer = await world.gateway.post("/v1/chat/completions", chat, {
      authorization: `Bearer ${key}`,
    });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error?.code ?? answer.status;
  }

  it("BILL-23: lets a workspace without credit spend up to the line, and shows in its balance", async () => {
    expect(await balance()).toMatchObject({ credits: "0", credit_line: "0", available: "0" });
    expect(await callOutcome()).toBe("insufficient_balance");
    expect(world.must(await setLine("2.50")).credit_line).toBe("2.5");
    expect(await balance()).toMatchObject({ credit_line: "2.5", available: "2.5" });
    expect(await callOutcome()).toBe(200);
    await expect.poll(async () => (await balance()).held).toBe("0");
    const { charged, available } = await balance();
    expect(Number(charged)).toBeGreaterThan(0);
    expect(Number(available)).toBeCloseTo(2.5 - Number(charged), 9);
    // Enough for the charges so far, and for nothing more.
    world.must(await setLine(charged));
    expect(await balance()).toMatchObject({ available: "0" });
    expect(await callOutcome()).toBe("insufficient_balance");
  });

  it("can be unlimited; spend caps still stop calls", async () => {
    expect(world.must(await setLine("unlimited")).credit_line).toBe("unlimited");
    expect(await balance()).toMatchObject({ credit_line: "unlimited", available: "unlimited" });
    expect(await callOutcome()).toBe(200);
    world.must(await world.root.call("PATCH", path, { spend_caps: { total: "0" } }));
    expect(await callOutcome()).toBe("workspace_total_spend_cap_reached");
    world.must(await world.root.call("PATCH", path, { spend_caps: null }));
    expect(await callOutcome()).toBe(200);
    // A patch of a spend cap leaves the credit line unchanged.
    expect(world.must(await world.root.call("GET", path)).credit_line).toBe("unlimited");
  });

  it("stops every call when it is lower than the debt, until credit is added", async () => {
    world.must(await setLine("0"));
    expect((await balance()).available).toMatch(/^-/);
    expect(await callOutcome()).toBe("insufficient_balance");
    world.must(await world.root.call("POST", `${path}/credits`, { amount: "1" }));
    expect(await callOutcome()).toBe(200);
  });

  it("CAP-10: is set only by an organization admin, also at creation", async () => {
    for (const person of [world.ann, world.mem])
      expect(codeOf(await person.call("PATCH", path, { credit_line: "5" }))).toEqual([
        403,
        "insufficient_permissions",
      ]);
    expect(world.must(await world.ann.call("GET", path)).credit_line).toBe("0");
    const own = { name: "on account", credit_line: "5" };
    const { organizationId } = world.home;
    for (const person of [world.ann, world.mem])
      for (const body of [own, { ...own, organization_id: organizationId }])
        expect(codeOf(await person.call("POST", "/workspaces", body))).toEqual([
          403,
          "insufficient_permissions",
        ]);
    const made = await world.root.call("POST", "/workspaces", {
      name: "on account",
      credit_line: "unlimited",
    });
    expect(world.must(made).credit_line).toBe("unlimited");
  });

  it.each(["-1", "1e3", "none", "", "0.0000000001", "99999999999", 5, null])(
    "refuses %j, naming the field",
    async (line) => {
      const answer = await setLine(line);
      expect([answer.status, answer.json.error.param]).toEqual([400, "credit_line"]);
    },
  );

  it("T63: leaves a ledger that adds up", async () => {
    await expect.poll(async () => (await balance()).held).toBe("0");
    expect(await verifyLedger(world.gateway.database)).toEqual([]);
  });

  it("BILL-23: credit beyond the largest possible balance is refused, naming the field, and nothing is written", async () => {
    const { database, admin } = world.gateway;
    // The books no longer add up: this test is the last.
    await database.query("update ledger_accounts set credits_nano = $2 where workspace_id = $1", [
      world.home.id,
      8n * 10n ** 18n - 10n ** 9n,
    ]);
    const add = (amount: string, key: string) =>
      admin("POST", `${path}/credits`, { amount }, { "idempotency-key": key });
    const refused = await add("1.000000001", "too much");
    expect([...codeOf(refused), refused.json.error.param]).toEqual([
      400,
      "invalid_value",
      "amount",
    ]);
    expect((await add("1", "just fits")).status).toBe(201);
    expect(codeOf(await add("10000000", "one more"))).toEqual([400, "invalid_value"]);
    expect((await add("1", "just fits")).status).toBe(200);
    world.must(await setLine("1000000000"));
    expect(Number((await balance()).available)).toBeGreaterThan(8_999_999_000);
    expect(await callOutcome()).toBe(200);
  });
});
