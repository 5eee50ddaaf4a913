/** The fields of a provider that members see, and those for operators only: its address, and how it is reached. Trap T37. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWorld, type World } from "../admin/people.ts";

const config = `providers:
  - id: house
    dialect: openai-compatible
    base_url: "https://models.inside.example/v1"
    api_key: none
    proxy: "http://user:word@10.0.0.5:3128"
    tls: { server_name: models.inside.example }
    headers: { x-team: inside }
    query: { account: inside }
    paths: { chat: /inside/chat }
    request: { add: { project: inside } }
models:
  - id: acme/chat
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers: [{ provider: house, protocol: chat, upstream_model: inside, price: { input: "1", output: "1" } }]
`;

let world: World;
beforeAll(async () => {
  world = await startWorld({ config });
});
afterAll(() => world.gateway.close());

it.each(["/providers", "/providers/house"])(
  "T37: GET %s shows a provider's address, proxy, TLS, headers, paths and fields only to operators",
  async (path) => {
    const rowOf = ({ json }: Awaited<ReturnType<typeof world.mem.call>>) => json.data?.[0] ?? json;
    const all = rowOf(await world.root.call("GET", path));
    expect(all).toMatchObject({
      base_url: "https://models.inside.example/v1",
      proxy: "http://****@10.0.0.5:3128",
      tls: { server_name: "models.inside.example" },
      headers: { "x-team": "inside" },
    });
    for (const person of [world.ann, world.mem]) {
      const shown = rowOf(await person.call("GET", path));
      expect(Object.keys(shown).sort()).toEqual([
        "dialect",
        "health",
        "id",
        "models",
        "on_disconnect",
        "paused_until",
        "source",
        "tier",
        "timeouts",
      ]);
      expect(JSON.stringify(shown)).not.toMatch(/inside|10\.0\.0\.5/);
    }
  },
);
