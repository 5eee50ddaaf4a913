/** A gateway with a month of generated work, for the pictures of the console and for measurements on its pages. */
import { startSandbox } from "../../../sandbox/index.ts";
import { foldUsage } from "../../../src/usage/index.ts";
import { seedCalls, seedId } from "../../support/seed/calls.ts";
import { eventually } from "../../support/patience.ts";
import { startConsoleWorld, type ConsoleWorld } from "../world.ts";
import { startShowVendor } from "./vendor.ts";

/** Models of the seed by number, each with its provider: the seed gives model n to provider 1 + n % 4. */
const models = [
  ["anthropic/claude-sonnet-5", "anthropic"],
  ["openai/gpt-5.5", "openai"],
  ["google/gemini-3.5-flash", "google"],
  ["mistral/mistral-medium-2604", "mistral"],
  ["anthropic/claude-haiku-4-5", "anthropic"],
  ["openai/gpt-4.1-mini", "openai"],
  ["google/gemini-3.1-pro-preview", "google"],
  ["mistral/mistral-small-2603", "mistral"],
] as const;
const prices = [
  ["2", "10", "0.2"],
  ["5", "30", "0.5"],
  ["1.5", "9", "0.15"],
  ["1.5", "7.5", "0.15"],
  ["1", "5", "0.1"],
  ["0.4", "1.6", "0.1"],
  ["2", "12", "0.2"],
  ["0.15", "0.6", "0.015"],
] as const;
const workspaces = ["Product", "Support", "Research"];
const people = ["ada", "grace", "alan", "barbara", "edsger", "radia"];
const keys = [
  "checkout-assistant",
  "support-bot",
  "search-ranking",
  "docs-writer",
  "nightly-evals",
  "mobile-app",
  "data-pipeline",
  "release-notes",
  "ci",
];

const priceOf = (place: number): string => {
  const [input, output, cache] = prices[place]!;
  return `{ input: "${input}", output: "${output}", cache_read: "${cache}" }`;
};

/** The price of the provider that is down: a call with the strategy `price` tries it first. */
const cheap = '{ input: "1.8", output: "9", cache_read: "0.2" }';

/** The first model has several providers, one of them down. */
function configOf(vendorUrl: string, sandboxUrl: string): string {
  const provider = (id: string, path = "", more = "tier: official") =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${vendorUrl}${path}/v1", api_key: key, ${more} }`;
  const texts = models.map(([id, of], place) => {
    const name = id.split("/")[1]!;
    const offer = (by: string, price = priceOf(place)) =>
      `{ provider: ${by}, protocol: chat, upstream_model: "${name}", price: ${price} }`;
    const others = place === 0 ? `, ${offer("openrouter")}, ${offer("edge", cheap)}` : "";
    return `  - { id: ${id}, kind: text, context_length: 400000, max_output_tokens: 64000, offers: [${offer(of)}${others}] }`;
  });
  const tokens = '{ input: "5", image_input: "8", output: "10", image_output: "30" }';
  return `
providers:
${provider("anthropic")}
${provider("openai")}
${provider("google")}
${provider("mistral")}
${provider("openrouter", "", "tier: partner")}
${provider("edge", "/down", "tier: community")}
  - { id: xai, dialect: xai, base_url: "${sandboxUrl}/xai/v1", api_key: sandbox, tier: official }
models:
${texts.join("\n")}
  - { id: openai/gpt-image-2, kind: image, family: task-image-2, offers: [{ provider: openai, upstream_model: gpt-image-2, price: ${tokens} }] }
  - id: xai/grok-imagine-video
    kind: video
    family: video-v1
    offers:
      - { provider: xai, upstream_model: grok-imagine-video, price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
`;
}

/** Replaces the numbers of the seed by names; before usage is summed. */
async function rename({ gateway }: ConsoleWorld): Promise<void> {
  const set = (table: string, column: string, pairs: readonly (readonly [string, string])[]) =>
    gateway.database.query(
      `update ${table} set ${column} = p.new from unnest($1::text[], $2::text[]) p (old, new) where ${table}.${column} = p.old`,
      [pairs.map(([old]) => old), pairs.map(([, now]) => now)],
    );
  await set("organizations", "name", [["Seed", "Harbour & Sons"]]);
  await set(
    "workspaces",
    "name",
    workspaces.map((name, place) => [`Team ${place + 1}`, name] as const),
  );
  await set(
    "users",
    "email",
    people.map((name, place) => [`user${place + 1}@seed.example`, `${name}@example.com`] as const),
  );
  await set(
    "api_keys",
    "name",
    keys.map((name, place) => [`key ${place + 1}`, name] as const),
  );
  await set(
    "request_heads",
    "model",
    models.map(([id], place) => [seedId.model(place + 1), id] as const),
  );
  await set("request_heads", "provider", [
    ["provider-1", "mistral"],
    ["provider-2", "anthropic"],
    ["provider-3", "openai"],
    ["provider-4", "google"],
  ]);
  const { database } = gateway;
  await database.query(
    `update api_keys set key_last4 = substr(md5(id), 1, 4),
       last_used_at = now() - (1 + (hashtext(id) & 127)) * interval '1 minute'
     where workspace_id like 'ws_seed_%'`,
  );
  // A third of the input comes from the vendor's cache.
  await database.query(
    `update request_heads set usage_format = '{"inputTokens":%s,"outputTokens":%s,"cacheReadTokens":%s}'
     where workspace_id like 'ws_seed_%'`,
  );
  await database.query(
    `update requests set usage_counts = usage_counts || ',' || split_part(usage_counts, ',', 1)::integer / 3
     where workspace_id like 'ws_seed_%'`,
  );
}

const place = "ws_seed_1";

/** Sets caps that are nearly reached, half used, and far. */
async function limit({ must, root, gateway }: ConsoleWorld): Promise<void> {
  const spent = await gateway.database.query<{ id: string; usd: string }>(
    "select scope_id as id, ceil(month_nano / 1e9)::text as usd from ledger_spend where scope = 'key' and workspace_id like 'ws_seed_%' order by 1",
    [],
  );
  const shares = [1.1, 1.9, 3, 1.25];
  for (const [at, { id, usd }] of spent.entries()) {
    const share = shares[at % shares.length]!;
    const monthly = String(Math.max(5, Math.ceil((Number(usd) * share) / 5) * 5));
    must(await root.call("PATCH", `/keys/${id}`, { spend_caps: { monthly, daily: "15" } }));
  }
  for (const [at, monthly] of ["400", "250", "150"].entries())
    must(
      await root.call("PATCH", `/workspaces/${seedId.workspace(at + 1)}`, {
        spend_caps: { monthly },
      }),
    );
}

interface Called {
  /** A call whose first provider was down. */
  readonly request: string;
}

/** Today's work: a call with a failover, pictures, a video, a refused task, a running task. */
async function work(world: ConsoleWorld): Promise<Called> {
  const { key } = await world.keyOf(world.root, place);
  await world.gateway.database.query("update api_keys set name = $1 where name = 'calls'", [
    "playground",
  ]);
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(world.gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
    return answer.headers.get("x-request-id")!;
  };
  // The first call of a process takes longer than others.
  const warm = { model: "openai/gpt-5.5", messages: [{ role: "user", content: "Hi" }] };
  await post("/v1/chat/completions", warm);
  const request = await post("/v1/messages", {
    model: "anthropic/claude-sonnet-5:@price",
    max_tokens: 2_000,
    top_k: 40,
    messages: [{ role: "user", content: "What changed last week?" }],
  });
  const task = (body: object, wait = "wait=30") => post("/v1/tasks", body, { prefer: wait });
  const video = { model: "xai/grok-imagine-video", prompt: "Waves at dusk", duration: 2 };
  await task(video);
  for (let count = 0; count < 5; count += 1)
    await task({ model: "openai/gpt-image-2", prompt: `Hills at dawn, number ${count}` });
  await task({
    ...video,
    prompt: 'A\n#sandbox {"task_outcome":"failed","error":"The prompt names a living person."}',
  });
  await task({ ...video, prompt: 'A\n#sandbox {"task_seconds":600}' }, "wait=0");
  return { request };
}

export interface ShowHouse extends ConsoleWorld, Called {}

/** Starts it: about 7,000 calls of sixty days by nine keys of three workspaces, and some of today. */
export async function startShowHouse(): Promise<ShowHouse> {
  const vendor = await startShowVendor();
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
  const world = await startConsoleWorld({ config: configOf(vendor.url, sandbox.url) });
  const { database } = world.gateway;
  await seedCalls(database, {
    requests: 12_000,
    days: 60,
    isUneven: true,
    keys: keys.length,
    models: models.length,
    members: people.length,
    providers: 4,
    workspaces: workspaces.length,
    end: new Date(),
    factor: 80,
  });
  await rename(world);
  await limit(world);
  const called = await work(world);
  await foldUsage(database);
  await eventually(
    async () => (await world.root.call("GET", `/requests/${called.request}`)).status === 200,
    "the call is in the log",
  );
  return {
    ...world,
    ...called,
    async close() {
      await world.close();
      await vendor.close();
      await sandbox.close();
    },
  };
}
