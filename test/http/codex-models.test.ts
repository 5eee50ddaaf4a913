/** The list of models as Codex asks for it. MODELS rows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

it("MODELS-06: has the empty list `models` for Codex, which logs an error at each start without one", async () => {
  const list = async (query: string, key?: string) => {
    const headers: Record<string, string> =
      key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetch(`${gateway.url}/v1/models${query}`, { headers });
    return (await answer.json()) as Record<string, unknown>;
  };
  for (const key of [undefined, gateway.key]) {
    const usual = await list("", key);
    expect(usual).not.toHaveProperty("models");
    expect(await list("?client_version=0.171.0", key)).toEqual({ ...usual, models: [] });
  }
});
