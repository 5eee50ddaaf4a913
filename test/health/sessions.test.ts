/** The provider of a session: on two gateways that share nothing, after a restart, and when the provider fails. docs/routing.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answering } from "../rows/world.ts";
import {
  failing,
  hastyRules,
  takeRequestCounts,
  names,
  startTrio,
  type Name,
  type Trio,
} from "./support.ts";

let first: Trio;
let second: Trio;
beforeAll(async () => {
  first = await startTrio({ health: hastyRules });
  second = await startTrio({ health: hastyRules, up: first.up });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

const sessions = Array.from({ length: 12 }, (_one, index) => `session ${index}`);

/** The provider that answers a call of this session, after any failed attempts. */
async function placeOf(trio: Trio, session: string): Promise<Name> {
  const answer = await trio.call({ extra: { prompt_cache_key: session } });
  expect(answer.status).toBe(200);
  await answer.text();
  return (await trio.row(answer)).provider as Name;
}

async function places(trio: Trio): Promise<Name[]> {
  const found: Name[] = [];
  for (const session of sessions) found.push(await placeOf(trio, session));
  return found;
}

it("a prompt_cache_key leads to the same provider on both nodes, also after a restart", async () => {
  const before = await places(first);
  expect(new Set(before)).toEqual(new Set(names));
  expect(await places(second)).toEqual(before);
  const restarted = await startTrio({ health: hastyRules, up: first.up });
  expect(await places(restarted)).toEqual(before);
  await restarted.close();
});

it("a session of a failed provider moves to one other provider, the same on both nodes, and returns; other sessions stay", async () => {
  const before = await places(first);
  const moving = before[0]!;
  const session = sessions[0]!;
  first.up[moving].answer(failing);
  // Each node finds out by itself.
  for (const node of [first, second])
    for (let count = 0; count < 6; count += 1)
      await (await node.call({ extra: { prompt_cache_key: session } })).text();
  const away = await placeOf(first, session);
  expect(away).not.toBe(moving);
  const seenProviders = new Set<Name>();
  for (let count = 0; count < 10; count += 1)
    for (const node of [first, second]) {
      takeRequestCounts(node);
      await (await node.call({ extra: { prompt_cache_key: session } })).text();
      const counts = takeRequestCounts(node);
      for (const name of names) if (name !== moving && counts[name] > 0) seenProviders.add(name);
    }
  expect([...seenProviders]).toEqual([away]);
  // The sessions of other providers stay where they were.
  const others = sessions.flatMap((one, index) =>
    before[index] === moving ? [] : ([[one, index]] as const),
  );
  for (const [one, index] of others) expect(await placeOf(second, one)).toBe(before[index]);

  first.up[moving].answer(answering);
  const { pauseMsMax, recoveryMs } = hastyRules.circuit;
  await sleep(pauseMsMax);
  for (const node of [first, second]) await placeOf(node, session);
  await sleep(recoveryMs);
  expect(await places(first)).toEqual(before);
  expect(await places(second)).toEqual(before);
});
