/** The exchange about failing providers between gateways on one database: circuits, probes, keys. docs/routing.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { eventually, patienceMs } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { json } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import {
  configuration,
  failing,
  hastyRules,
  takeRequestCounts,
  delayed,
  nodeEnvironment,
  startTrio,
  type Trio,
} from "./support.ts";

const options = { prices: { a: 1, b: 2, c: 3 }, twoKeys: true, models: 9, health: hastyRules };
/**
 * Within this time the other gateways know the findings of one: a second in the long form, more in the short form, whose
 * machine may be slow.
 */
const knownWithinMs = shortOrLong(patienceMs, 1_000);
const program = new URL("../support/health-gateway.ts", import.meta.url).pathname;

let databaseUrl: string;
let one: Trio;
let other: Trio;
const processes: GatewayProcess[] = [];
beforeAll(async () => {
  databaseUrl = await (await sharedPostgres()).createMigrated();
  one = await startTrio({ ...options, databaseUrl });
  other = await startTrio({ ...options, databaseUrl, up: one.up });
});
afterEach(async () => {
  for (const process of processes.splice(0)) await process.kill();
});
afterAll(async () => {
  await other.close();
  await one.close();
});

/** Each test has a model of its own. */
let number = 0;
let model = "";
beforeEach(() => {
  number += 1;
  model = `acme/talk-${number}:@price`;
  for (const up of Object.values(one.up)) up.answer(answering);
  takeRequestCounts(one);
});

/** Makes a call with the key of the first gateway, which both gateways accept. */
async function call(url: string, asked = model): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${one.gateway.key}` },
    body: JSON.stringify({ model: asked, messages: [{ role: "user", content: "Hi" }] }),
  });
  await answer.text();
  return answer.status;
}
const callOne = () => call(one.gateway.url);
const callOther = () => call(other.gateway.url);

/** Makes provider `a` fail until the gateway opens its circuit, which takes five calls. */
async function open(url = one.gateway.url): Promise<void> {
  one.up.a.answer(failing);
  for (let count = 0; count < 5; count += 1) expect(await call(url)).toBe(200);
  expect(takeRequestCounts(one).a).toBe(5);
}

interface Provider {
  readonly id: string;
  readonly circuits: readonly { readonly model: string; readonly state: string }[];
  readonly credentials: readonly { readonly id: string; readonly reason: string | null }[];
}

/** Provider `a` as a gateway's management API shows it. */
async function seenBy({ gateway }: Trio): Promise<Provider> {
  const authorization = `Bearer ${nodeEnvironment.TOLLGATE_ADMIN_TOKEN}`;
  const answer = await gateway.get("/admin/v1/providers", { authorization });
  const { data } = (await answer.json()) as { data: Provider[] };
  return data.find(({ id }) => id === "a")!;
}
const isOpenAt = async (trio: Trio, asked = model.replace(":@price", "")) =>
  (await seenBy(trio)).circuits.some((circuit) => circuit.model === asked);

const limited = json({ error: { message: "slow down" } }, 429, { "retry-after": "3600" });
const refused = json({ error: { message: "who are you" } }, 401);

describe("a circuit", () => {
  it("is avoided by the other gateway within a second, and by a gateway that starts then", async () => {
    // No gateway may probe in this test, however slow the machine.
    const circuit = { ...hastyRules.circuit, firstPauseMs: 300_000, pauseMsMax: 300_000 };
    const patient = { ...options, databaseUrl, up: one.up, health: { ...hastyRules, circuit } };
    const trios = [await startTrio(patient), await startTrio(patient)];
    const [first, second] = trios as [Trio, Trio];
    try {
      await open(first.gateway.url);
      await eventually(() => isOpenAt(second), "the other knows", knownWithinMs);
      for (let count = 0; count < 3; count += 1) expect(await call(second.gateway.url)).toBe(200);
      expect(takeRequestCounts(one)).toEqual({ a: 0, b: 3, c: 0 });
      const third = await startTrio(patient);
      trios.push(third);
      expect(await isOpenAt(third)).toBe(true);
      expect(await call(third.gateway.url)).toBe(200);
      expect(takeRequestCounts(one)).toEqual({ a: 0, b: 1, c: 0 });
    } finally {
      for (const trio of trios) await trio.close();
    }
  });

  it("is probed by one gateway and closes for both", async () => {
    await open();
    await eventually(() => isOpenAt(other), "the other knows", knownWithinMs);
    one.up.a.answer(delayed(200));
    // Both gateways have many calls when the pause ends, and until the probe is answered.
    const asked = async () => {
      await Promise.all([callOne(), callOther(), callOne(), callOther()]);
      return one.up.a.requests.length;
    };
    expect(await eventually(async () => (await asked()) || undefined, "a probe")).toBe(1);
    await eventually(
      async () => !(await isOpenAt(one)) && !(await isOpenAt(other)),
      "closed",
      knownWithinMs,
    );
  });

  it("is probed and closed by another gateway after its own was killed", async () => {
    const config = join(one.gateway.directory, "third.yaml");
    writeFileSync(config, configuration(one.up, options));
    const killed = await spawnGateway(
      { ...nodeEnvironment, DATABASE_URL: databaseUrl, TOLLGATE_CONFIG: config },
      { program },
    );
    processes.push(killed);
    await open(killed.url);
    // Waits for the report: a report that the gateway has not sent dies with it.
    await eventually(() => isOpenAt(other), "the other knows", knownWithinMs);
    await killed.kill();
    processes.length = 0;
    one.up.a.answer(answering);
    takeRequestCounts(one);
    await eventually(
      async () => (await callOther()) === 200 && takeRequestCounts(one).a > 0,
      "a probe",
    );
    await eventually(async () => !(await isOpenAt(one)), "closed", knownWithinMs);
  });

  it("is open for one pause after a false report, and a gateway whose own calls succeed no longer believes it", async () => {
    const lie = (upstreamModel: string) => ({
      kind: "circuit",
      provider: "a",
      model: upstreamModel,
      credential: "",
      mark: "",
      holds: true,
      pauseMs: 1e12,
      leftMs: 300,
    });
    const tell = (...lies: object[]) =>
      one.gateway.database.query(
        "select health_exchange('liar', $1), pg_notify('tollgate', 'health:liar')",
        [JSON.stringify(lies)],
      );
    await tell(lie(`talk-${number}`));
    await eventually(() => isOpenAt(other), "the other believes it", knownWithinMs);
    await eventually(
      async () => (await callOther()) === 200 && takeRequestCounts(one).a > 0,
      "a probe",
    );
    expect(await isOpenAt(other)).toBe(false);
    await tell(lie(`talk-${number}`), lie("talk"));
    // The first gateway did not probe. A model that no gateway probed is open for both.
    await eventually(() => isOpenAt(one), "the first believes it again", knownWithinMs);
    await eventually(() => isOpenAt(other, "acme/talk"), "the other hears of it", knownWithinMs);
    expect(await isOpenAt(other)).toBe(false);
  });
});

describe("a key", () => {
  /** Why each of its keys is left alone. */
  const reasons = async (trio: Trio) =>
    (await seenBy(trio)).credentials.map(({ reason }) => reason);

  it.each([
    { what: "refused", answer: refused, keys: 2, reason: () => "refused" },
    // One of the two keys is still unavailable from the previous test.
    { what: "limited", answer: limited, keys: 1, reason: () => `limited for talk-${number}` },
  ])(
    "is avoided by the other gateway within a second if it is $what at one, and is free again where it works",
    async ({ answer, keys, reason }) => {
      one.up.a.answer(answer);
      expect(await callOne()).toBe(200);
      expect(takeRequestCounts(one).a).toBe(keys);
      const resting = async (trio: Trio) =>
        (await reasons(trio)).filter((known) => known === reason()).length;
      await eventually(async () => (await resting(other)) === keys, "it knows", knownWithinMs);
      expect(await callOther()).toBe(200);
      expect(takeRequestCounts(one)).toMatchObject({ a: 0, b: 1 });
      one.up.a.answer(answering);
      // No other key is left, so the gateway uses it anyway.
      expect(await call(other.gateway.url, model.replace("@price", "a"))).toBe(200);
      const isFree = async () => (await reasons(one)).includes(null);
      await eventually(isFree, "one of them is free", knownWithinMs);
    },
  );

  it("is not stored in the database", async () => {
    one.up.a.answer(refused);
    await callOne();
    await eventually(async () => {
      const rows = await one.gateway.database.query("select h::text as text from health_states h");
      expect(JSON.stringify(rows)).not.toContain("a-one");
      return rows.length > 0;
    }, "a row");
  });
});
