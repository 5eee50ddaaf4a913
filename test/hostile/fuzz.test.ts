/** Random edits of valid bodies: each gets a legal answer, never a fault of the gateway, and never leaves a hold. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { mutated } from "./mutations.ts";
import { seeds } from "./seeds.ts";
import { entries, readError, upstreams, useWorld, type Entry } from "./support.ts";

const world = useWorld();

/** The number of answers per status: a fuzzer that gets only one status tests nothing. */
const seen = new Map<number, number>();

/** The fault in the answer to a body; undefined if the answer is legal. */
async function faultOf(entry: Entry, path: string, body: unknown): Promise<string | undefined> {
  const response = await world.gateway.post(path, JSON.stringify(body));
  seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
  const text = await response.text();
  if (response.status === 200) return text.includes("Hello") ? undefined : `200 ${text}`;
  if (![400, 402, 404].includes(response.status)) return `${response.status} ${text}`;
  const { code } = readError(entry.name, JSON.parse(text));
  return code === undefined || code === "internal_error" ? `${response.status} ${text}` : undefined;
}

/** The seed for the model that only an upstream of one protocol serves, if the body names the model. */
const on = (seed: object, model: string): object => ("model" in seed ? { ...seed, model } : seed);

const pairs = entries.flatMap((entry) =>
  upstreams.map((upstream) => [entry.name, upstream, entry] as const),
);

describe.each(pairs)("bodies for %s, converted for upstream %s", (name, upstream, entry) => {
  const model = `acme/on-${upstream}`;
  const path = entry.path.replace("acme/talk", model);
  const paths = [path, path.replace(":generateContent", ":streamGenerateContent?alt=sse")];

  it("a plain body is sent to that upstream and answered", async () => {
    const before = world.upstream.requests.length;
    expect(await faultOf(entry, path, on(entry.good, model))).toBeUndefined();
    const asked = world.upstream.requests.slice(before).map((request) => request.path);
    expect(asked).toEqual([expect.stringMatching(`^/${upstream}/`) as string]);
  });

  it("edited bodies are answered 200, 400, 402 or 404, and leave no hold", async () => {
    const bodies = mutated(seeds[name].map((seed) => on(seed, model)));
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom(...paths), async (body, address) => {
        expect(await faultOf(entry, address, body)).toBeUndefined();
      }),
      { numRuns: shortOrLong(30, 150) },
    );
    const { gateway } = world;
    const held = async () => (await gateway.ledger.balance(gateway.workspaceId)).heldNano;
    await expect.poll(held).toBe(0n);
  });
});

describe.each(entries.map((entry) => [entry.name, entry] as const))(
  "the seeds of %s",
  (name, entry) => {
    it("are all valid bodies", async () => {
      for (const seed of seeds[name]) {
        const response = await world.gateway.post(entry.path, seed);
        expect(`${response.status} ${await response.text()}`).toMatch(/^200 .*Hello/s);
      }
    });
  },
);

it("the fuzzer has made more than 100 harmless and more than 100 refused edits", () => {
  expect(seen.get(200)).toBeGreaterThan(100);
  expect(seen.get(400)).toBeGreaterThan(100);
});
