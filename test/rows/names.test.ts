/** Other names of models: aliases, prefixes, the default; in calls of all protocols, in the list, and with allowlists. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { errorCode } from "./endpoints.ts";
import { chat, protocols } from "./protocols.ts";
import { answering, costAtFirstNano, modelRow, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  const rows = protocols.map(({ name, endpoint }) =>
    modelRow(
      `other/${name}`,
      { name, endpoint },
      {
        extra: `aliases: [plain-${name}, "${name}:8b", "${name}-*", "${name}-large-*"]`,
        providers: ["first"],
      },
    ),
  );
  world = await startWorld({
    models: [
      ...rows,
      modelRow("other/large", chat, { extra: 'aliases: ["chat-large-2*"]', providers: ["first"] }),
      "default_model: acme/chat",
    ].join("\n"),
  });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const modelOfRow = async (response: Response): Promise<unknown> => {
  const row = (await world.row(response)) as unknown as { readonly model: string };
  return row.model;
};

describe.each(protocols)("a call by another name of the model, $name", (protocol) => {
  it.each([
    ["an alias", `plain-${protocol.name}`],
    ["an alias with a provider", `plain-${protocol.name}:first`],
    ["an alias with a strategy", `plain-${protocol.name}:@price`],
    ["an alias with a colon", `${protocol.name}:8b`],
    ["a name with a known prefix", `${protocol.name}-2026-11-22`],
    ["a name with a known prefix and a provider", `${protocol.name}-2026:first`],
  ])("%s is answered by the model itself, at its price", async (_what, model) => {
    const before = await world.charged();
    const response = await world.call(protocol, { model });
    expect(response.status).toBe(200);
    expect(protocol.modelOf((await response.json()) as Record<string, unknown>)).toBe(
      `other/${protocol.name}`,
    );
    expect((await world.charged()) - before).toBe(costAtFirstNano);
    expect(await modelOfRow(response)).toBe(`other/${protocol.name}`);
  });
});

describe("names", () => {
  it("the longest matching prefix wins", async () => {
    const call = (model: string) => world.call(chat, { model }).then(modelOfRow);
    expect(await call("chat-large-2")).toBe("other/large");
    expect(await call("chat-large-3")).toBe("other/chat");
  });

  it("an unknown name goes to the default model, with or without a suffix", async () => {
    expect(await modelOfRow(await world.call(chat, { model: "hard-coded" }))).toBe("acme/chat");
    expect(await modelOfRow(await world.call(chat, { model: "some/model:@price" }))).toBe(
      "acme/chat",
    );
  });

  it("a key's allowlist applies to the model, not to the name", async () => {
    const { key } = await world.makeKey({ modelAllowlist: ["acme/chat"] });
    const refused = await world.call(chat, { model: "plain-chat", key });
    expect(refused.status).toBe(403);
    expect(errorCode(await refused.text())).toBe("model_not_allowed");
    expect((await world.call(chat, { model: "hard-coded", key })).status).toBe(200);
  });

  it("aliases without a pattern are listed and priced like the model, and any name can be looked up", async () => {
    const get = async (path: string) =>
      (await (await fetch(`${world.gateway.url}${path}`)).json()) as Record<string, unknown>;
    const { data } = (await get("/v1/models")) as { data: { id: string; pricing: object }[] };
    const ids = data.map(({ id }) => id).filter((id) => /^plain|:8b|\*/.test(id));
    expect(ids.toSorted()).toEqual(
      protocols.flatMap(({ name }) => [`${name}:8b`, `plain-${name}`]).toSorted(),
    );
    const priceOf = (name: string) => data.find(({ id }) => id === name)?.pricing;
    expect(priceOf("plain-chat")).toEqual(priceOf("other/chat"));
    expect(await get("/v1/models/chat-2026")).toMatchObject({
      id: "chat-2026",
      pricing: priceOf("other/chat"),
    });
  });
});
