/** Calls of all kinds by people of two workspaces, generated from one seed, and their records in ledger and log. */
import type { ConsoleWorld } from "./world.ts";

/** A charge of the ledger with its call's fields from the log; without a model until the row is written. */
export interface Charge {
  readonly workspace: string;
  readonly key: string;
  readonly member: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly nano: bigint;
}

/** Whole numbers below `below`, the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const models = ["chat", "responses", "messages", "generate-content", "multi"];

/** Makes calls (answered, refused, failed, unknown, an image, a video); resolves when their charges are written. */
export async function makeCalls(world: ConsoleWorld): Promise<void> {
  const { home, away, ann, mem, mel, bob } = world;
  const below = numbers(20_261_123);
  const keys: { readonly key: string }[] = [];
  for (const [person, place] of [
    [ann, home],
    [mem, home],
    [mem, home],
    [mel, home],
    [bob, away],
  ] as const)
    keys.push(await world.keyOf(person, place.id));
  const works: (() => Promise<unknown>)[] = [];
  for (let call = 0; call < 30; call += 1) {
    const { key } = keys[call % keys.length]!;
    const usage = { input: 1 + below(5_000), output: 1 + below(900) };
    const model = `sandbox/${models[below(models.length)]!}`;
    works.push(() => world.chat(key, { usage }, model));
  }
  for (const { key } of keys) {
    works.push(() => world.chat(key, { status: 500 }));
    works.push(() => world.chat(key, { status: 400, error: "no" }));
  }
  works.push(() => world.chat(keys[0]!.key, {}, "nobody/knows-it"));
  works.push(() => world.video(keys[1]!.key));
  works.push(() => image(world, keys[3]!.key));
  while (works.length > 0) await Promise.all(works.splice(0, 8).map((work) => work()));
}

async function image({ gateway }: ConsoleWorld, key: string): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/images/generations`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "sandbox/image-model-a", prompt: "A boat" }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

/** All charges, read from the rows of the ledger and the log. */
export function chargesOf({ gateway }: ConsoleWorld): Promise<Charge[]> {
  return gateway.database.query<Charge>(
    `select e.workspace_id as workspace, e.key_id as key, e.member_id as member, r.model, r.provider, e.amount_nano as nano
     from ledger_entries e left join request_log r on r.workspace_id = e.workspace_id and r.id = e.reference
     where e.kind = 'charge'`,
    [],
  );
}

/** The sum of some charges. */
export const sumOf = (charges: readonly Charge[]): bigint =>
  charges.reduce((sum, { nano }) => sum + nano, 0n);

/** Parses a decimal text in USD into nano-USD; ignores commas and the unit. */
export function nanoOf(text: string): bigint {
  const [, sign, whole, part = ""] = /^(-?)([\d,]+)(?:\.(\d{1,9}))?(?: USD)?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not an amount: ${text}`);
  const nano = BigInt(whole.replaceAll(",", "") + part.padEnd(9, "0"));
  return sign === "-" ? -nano : nano;
}

/** The cells of a CSV line without line breaks in its cells. */
export const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((cell) => cell[1] ?? cell[2]!);
