/**
 * The effect of health and scope on a task's attempts: three stub video vendors in xAI's format. docs/tasks.md,
 * docs/routing.md; T74.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { changeKey } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { patiently } from "../support/patience.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";

const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];

let up: Record<Name, Recorder>;
let gateway: GatewayUnderTest;

let jobs = 0;
/** Accepts every job, and never ends it. */
const accepting: Answer = (request, response) => {
  jobs += 1;
  const answer = request.method === "POST" ? { request_id: `job-${jobs}` } : { status: "pending" };
  return json(answer)(request, response);
};
const failing = json({ error: "down" }, 500);

function configuration(models: number, tierOfB: "official" | "community"): string {
  const provider = (name: Name) =>
    `  - { id: ${name}, dialect: xai, base_url: "${up[name].url}/v1", tier: ${name === "b" ? tierOfB : "official"}, credentials: [{ id: one, api_key: ${name}-one }, { id: two, api_key: ${name}-two }] }`;
  const model = (number: number) => [
    `  - { id: acme/clip-${number}, kind: video, family: video-v1, offers: [`,
    ...names.map(
      (name, index) =>
        `      { provider: ${name}, upstream_model: clip-${number}, price: { output_second: { 480p: "0.0${index + 1}", 720p: "0.0${index + 1}" }, input_image: "0.01" } },`,
    ),
    "    ] }",
  ];
  const numbers = Array.from({ length: models }, (_one, index) => index + 1);
  return ["providers:", ...names.map(provider), "models:", ...numbers.flatMap(model), ""].join(
    "\n",
  );
}

beforeAll(async () => {
  up = {
    a: await startRecorder(accepting),
    b: await startRecorder(accepting),
    c: await startRecorder(accepting),
  };
  gateway = await startTestGateway({
    config: configuration(6, "official"),
    tasks: { timing: { firstPollMs: 50, sweepMs: 50 } },
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  for (const name of names) await up[name].close();
});

/** Each test has a model of its own. */
let number = 0;
beforeEach(() => {
  number += 1;
  for (const name of names) {
    up[name].answer(accepting);
    up[name].requests.length = 0;
  }
});

interface Attempt {
  readonly provider: string;
  readonly credential: string;
  readonly outcome: string;
}

/** Submits a task. Returns its attempts once a vendor has accepted it. */
async function attempts(): Promise<string[]> {
  const answer = await gateway.post("/v1/tasks", {
    model: `acme/clip-${number}:@price`,
    prompt: "A boat",
    duration: 2,
  });
  const { id } = (await answer.json()) as { id: string };
  expect(answer.status).toBe(200);
  let made: readonly Attempt[] = [];
  await vi.waitFor(async () => {
    const [row] = await gateway.database.query<{ attempts: Attempt[]; upstream_id: string }>(
      "select attempts, upstream_id from tasks where id = $1",
      [id],
    );
    expect(row!.upstream_id).not.toBeNull();
    made = row!.attempts;
  }, patiently);
  return made.map(({ provider, credential }) => `${provider} ${credential}`);
}

it("after a rate limit of one key, the task uses the other key of the same provider", async () => {
  let limited: string | undefined;
  up.a.answer((request, response) => {
    limited ??= request.headers.authorization;
    const isLimited = request.headers.authorization === limited;
    return (isLimited ? json({ error: "slow" }, 429, { "retry-after": "60" }) : accepting)(
      request,
      response,
    );
  });
  const [first, second, ...others] = await attempts();
  expect(new Set([first, second])).toEqual(new Set(["a one", "a two"]));
  expect(others).toEqual([]);
  // The next task does not try the failed provider.
  expect(await attempts()).toEqual([second]);
});

it("a provider that fails repeatedly is not asked while others are left", async () => {
  up.a.answer(failing);
  for (let count = 0; count < 5; count += 1) {
    const made = await attempts();
    expect(made.map((one) => one[0])).toEqual(["a", "b"]);
  }
  expect((await attempts()).map((one) => one[0])).toEqual(["b"]);
});

it("a provider excluded at submission is asked in a later round if the others refuse the task", async () => {
  up.a.answer(failing);
  for (let count = 0; count < 5; count += 1) await attempts();
  up.a.answer(accepting);
  for (const name of ["b", "c"] as const) up[name].answer(failing);
  const made = (await attempts()).map((one) => one[0]);
  expect(made.slice(0, 2)).toEqual(["b", "c"]);
  expect(made.at(-1)).toBe("a");
});

it("T74: the scope at submission applies to every attempt, with the tiers of that time", async () => {
  const [{ id }] = (await gateway.database.query("select id from api_keys")) as [{ id: string }];
  const context = { database: gateway.database, clock: systemClock };
  const routing = { mode: "custom", supplyTiers: ["official"] } as const;
  await changeKey(context, { id }, { routing, allowRequestOverride: true });
  up.a.answer(async (request, response) => {
    // The gateway still polls tasks of other tests.
    if (request.method === "GET") return accepting(request, response);
    // The key may call anything now. When the task was submitted, it could not.
    await changeKey(context, { id }, { routing: null });
    writeFileSync(join(gateway.directory, "tollgate.yaml"), configuration(7, "community"));
    await vi.waitFor(
      async () => expect(await (await gateway.get("/v1/models")).text()).toContain("acme/clip-7"),
      patiently,
    );
    await failing(request, response);
  });
  expect((await attempts()).map((one) => one[0])).toEqual(["a", "c"]);
  expect(up.b.requests.filter(({ method }) => method === "POST")).toEqual([]);
});
