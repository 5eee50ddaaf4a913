/** What a lane has to send, piece by piece: which keys go along, what is put aside, who has waited too long. docs/ledger.md "Batches". */
import { beforeEach, expect, it } from "vitest";
import { Backlog } from "../../src/ledger/backlog.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";

let backlog: Backlog;
let one: KeyUse;
let other: KeyUse;
beforeEach(() => {
  backlog = new Backlog();
  one = new KeyUse("w1", "one", 0);
  other = new KeyUse("w2", "other", 0);
  for (const key of [one, other]) backlog.keys.add(key);
});

const ended: string[] = [];
const waitSince = (key: KeyUse, since: number) =>
  key.waiting.push({
    bound: 1n,
    since,
    resolve: () => undefined,
    reject: () => void ended.push(`${key.keyId} ${since}`),
  });
const post = (key: KeyUse, id: string, since = 0) =>
  backlog.push({
    key,
    id,
    charge: 1n,
    bound: 1n,
    draw: 1n,
    since,
    resolve: () => undefined,
    reject: () => void ended.push(id),
  });

it("a batch has the keys with news; one that restores has all that are in use, and leaves their news here", () => {
  for (const key of [one, other]) key.begin(5n, 0);
  backlog.touch(one);
  const take = (restore: boolean) =>
    backlog.take({ nowMs: 0, restore, careful: false }).items.map(({ key }) => key.keyId);
  expect(take(true)).toEqual(["one", "other"]);
  expect(backlog.isEmpty).toBe(false);
  waitSince(one, 0);
  expect(take(false)).toEqual(["one"]);
});

it("of few keys with news half of what waits goes along, however many keys are quiet", () => {
  for (let index = 0; index < 10; index += 1) backlog.keys.add(new KeyUse("w3", `k${index}`, 0));
  for (let index = 0; index < 100; index += 1) waitSince(one, 0);
  backlog.touch(one);
  expect(backlog.take({ nowMs: 0, restore: false, careful: false }).asked).toBe(50);
});

it("what is of some workspaces goes to a lane of theirs, with its entries; the rest stays", () => {
  post(one, "a");
  post(other, "b");
  const { keys, entries } = backlog.release("w2");
  expect([keys, entries.map(({ id }) => id)]).toEqual([[other], ["b"]]);
  expect(backlog.keys).toEqual(new Set([one]));
  expect(backlog.release("w1").entries.map(({ id }) => id)).toEqual(["a"]);
});

it("calls and entries that came before a moment get the error, later ones go on waiting", () => {
  ended.length = 0;
  for (const since of [9, 10, 11]) waitSince(one, since);
  post(other, "early", 19);
  post(other, "late", 20);
  backlog.endOlder({ waitingSince: 10, entriesSince: 20 }, new Error("away"));
  expect(ended).toEqual(["one 9", "early"]);
  expect(one.waiting.map(({ since }) => since)).toEqual([10, 11]);
});

it("who waits for what others do not use is asked for again at the first moment of any, never before the next", () => {
  backlog.touch(one);
  expect(backlog.retryInMs(0)).toBeUndefined();
  for (const [key, retryAt] of [
    [one, 100],
    [other, 70],
  ] as const) {
    waitSince(key, 0);
    key.retryAt = retryAt;
    backlog.touch(key);
  }
  expect([backlog.retryInMs(40), backlog.retryInMs(70), backlog.retryInMs(500)]).toEqual([
    30, 1, 1,
  ]);
});
