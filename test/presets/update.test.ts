/** Updating to a newer list of models on every gateway, and going back. docs/models.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, call, startAdminGateway } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";

type Gateway = Awaited<ReturnType<typeof startAdminGateway>>;

const list = (input: string, more: object = {}): string =>
  JSON.stringify({
    groq: {
      models: {
        "new-model": {
          limit: { context: 8192, output: 1024 },
          modalities: { input: ["text"], output: ["text"] },
          cost: { input: "INPUT", output: 1 },
        },
      },
    },
    ...more,
  }).replace('"INPUT"', input);

describe("a newer list of models", () => {
  let gateways: [Gateway, Gateway];

  beforeAll(async () => {
    const databaseUrl = await (await sharedPostgres()).createMigrated();
    const start = () =>
      startAdminGateway({
        sandbox: "off",
        databaseUrl,
        environment: {
          GROQ_API_KEY: "key",
          TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        },
      });
    gateways = [await start(), await start()];
  });
  afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

  const ask = (method: string, path: string, body?: unknown) =>
    call(gateways[0].url, method, path, {
      token: adminToken,
      ...(body !== undefined && { body }),
    });
  const inputPrice = (gateway: Gateway): string | undefined => {
    const offer = gateway.catalog().models.get("groq/new-model")?.offers[0];
    return offer && "price" in offer && "input" in offer.price
      ? String(offer.price.input)
      : undefined;
  };
  const everywhere = (price: string | undefined) =>
    eventually(
      () => gateways.every((gateway) => inputPrice(gateway) === price),
      `the price ${price} on every gateway`,
    );

  it("is previewed, applied on every gateway, stored, and rolled back", async () => {
    const first = { source: "first", list: list("0.1") };
    const shown = await ask("POST", "/catalog", { ...first, dry_run: true });
    expect(shown.json).toMatchObject({ applied: false, version: 0 });
    expect(shown.json.added).toEqual([
      { model: "groq/new-model", before: null, after: { input: "0.1", output: "1" } },
    ]);
    expect(shown.json.gone.length).toBeGreaterThan(3000);
    expect(gateways.map(inputPrice)).toEqual([undefined, undefined]);

    expect((await ask("POST", "/catalog", first)).json).toMatchObject({
      applied: true,
      version: 1,
    });
    await everywhere("100000000");
    expect((await ask("POST", "/catalog", first)).json).toMatchObject({
      applied: false,
      version: 1,
    });

    const second = { source: "second", list: list("0.30000000000000004") };
    const dearer = await ask("POST", "/catalog", second);
    expect(dearer.json).toMatchObject({ version: 2, added: [], gone: [], cheaper: [] });
    expect(dearer.json.dearer).toMatchObject([{ after: { input: "0.3" } }]);
    await everywhere("300000000");

    expect((await ask("GET", "/catalog")).json.data).toMatchObject([
      { version: 2, source: "second", models: 1, in_force: true },
      { version: 1, source: "first", models: 1, in_force: false },
      { version: 0, source: "shipped", in_force: false, created_at: null },
    ]);
    const back = await ask("POST", "/catalog/rollback", { version: 1 });
    expect(back.json).toMatchObject({ version: 1, applied: true });
    expect(back.json.cheaper).toHaveLength(1);
    await everywhere("100000000");
    await ask("POST", "/catalog/rollback", { version: 0 });
    await everywhere(undefined);
    const missing = await ask("POST", "/catalog/rollback", { version: 9 });
    expect(missing.status).toBe(404);
    for (const version of [2 ** 31, 1e30]) {
      const absurd = await ask("POST", "/catalog/rollback", { version });
      expect(absurd.json.error).toMatchObject({
        code: "integer_above_max_value",
        param: "version",
      });
    }
    const { json } = await ask("GET", "/audit?action=catalog.change");
    expect(json.data).toHaveLength(4);
  });

  it("is compared with the list that it replaced, even if another one was applied meanwhile", async () => {
    const { database } = gateways[0];
    const meanwhile = async (method: string, path: string, body: object, version: number) => {
      const answer = await database.transaction(async (tx) => {
        await tx.query("lock table catalog_lists in exclusive mode", []);
        const asked = ask(method, path, body);
        await eventually(async () => {
          const rows = await database.query(
            "select 1 from pg_locks where relation = 'catalog_lists'::regclass and not granted",
            [],
          );
          return rows.length > 0;
        }, "the request waiting");
        await tx.query("update catalog_list_in_force set version = $1", [version]);
        return { asked };
      });
      const { json } = await answer.asked;
      const audit = await ask("GET", "/audit?action=catalog.change");
      return [json, audit.json.data[0].before] as const;
    };
    const third = { source: "third", list: list("0.2") };
    const [updated, replaced] = await meanwhile("POST", "/catalog", third, 1);
    expect(updated).toMatchObject({
      applied: true,
      gone: [],
      dearer: [{ after: { input: "0.2" } }],
    });
    expect(replaced).toEqual({ version: 1 });
    const [back, left] = await meanwhile("POST", "/catalog/rollback", { version: 1 }, 2);
    expect(back).toMatchObject({
      cheaper: [{ before: { input: "0.3" }, after: { input: "0.1" } }],
    });
    expect(left).toEqual({ version: 2 });
    await ask("POST", "/catalog/rollback", { version: 0 });
  });

  it.each(['"0.1"', "null", "-1", "1e9"])(
    "is refused with the line of the mistake for the price %s, and nothing changes",
    async (price) => {
      const before = await ask("GET", "/catalog");
      const refused = await ask("POST", "/catalog", { source: "wrong", list: list(price) });
      expect(refused.status).toBe(400);
      expect(refused.json.error).toMatchObject({ code: "invalid_value", param: "list" });
      expect(refused.json.error.message).toMatch(
        /nothing was changed:\n1:\d+ groq\.models\["new-model"\]|1:\d+ groq\.models\.new-model\.cost\.input/,
      );
      expect((await ask("GET", "/catalog")).json).toEqual(before.json);
    },
  );

  it("changes no address, and only models of known vendors are taken", async () => {
    const evil = { evil: { api: "https://evil.example/v1", models: {} } };
    const groq = JSON.parse(list("0.1")) as { groq: object };
    const body = {
      source: "evil",
      list: JSON.stringify({ ...evil, groq: { ...groq.groq, api: "https://evil.example/v1" } }),
    };
    await ask("POST", "/catalog", body);
    await everywhere("100000000");
    for (const gateway of gateways) {
      const providers = [...gateway.catalog().providers.values()];
      expect(providers.map(({ baseUrl }) => baseUrl)).toEqual(["https://api.groq.com/openai/v1"]);
    }
    await ask("POST", "/catalog/rollback", { version: 0 });
  });

  it("leaves the vendors' states readable: what each needs, and which are active", async () => {
    const { json } = await ask("GET", "/vendors");
    const find = (id: string) => json.data.find((row: { id: string }) => row.id === id);
    expect(find("groq")).toMatchObject({ active: true, variable: "GROQ_API_KEY", missing: [] });
    expect(find("groq").models).toBeGreaterThan(3);
    expect(find("mistral")).toMatchObject({
      active: false,
      missing: ["MISTRAL_API_KEY"],
      base_url_variable: "MISTRAL_BASE_URL",
    });
    expect(find("cloudflare-workers-ai").missing).toEqual([
      "CLOUDFLARE_API_KEY",
      "CLOUDFLARE_ACCOUNT_ID",
    ]);
    expect(find("ollama")).toMatchObject({ local: true, missing: ["OLLAMA_BASE_URL"] });
  });
});
