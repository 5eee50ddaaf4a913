/** What a lane has to send, piece by piece: which keys go along, what is put aside, who has waited too long. docs/ledger.md "Batches". */
import { beforeEach, expect, it } from "vitest";
import type { Backlog } from "../../src/ledger/backlog.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { askedIn, backlogOf, entryOf } from "./batches.ts";

let backlog: Backlog;
let one: KeyUse;
let other: KeyUse;
const take = (restore: boolean) => backlog.take({ nowMs: 0, restore, alone: false });
beforeEach(() => {
  one = new KeyUse("w1", "one", 0);
  other = new KeyUse("w2", "other", 0);
  backlog = backlogOf([one, other]);
  // They have nothing to send.
  take(false);
});

const ended: string[] = [];
const waitSince = (key: KeyUse, since: number) =>
  key.waiting.push({
    bound: 1n,
    since,
    resolve: () => undefined,
    reject: () => void ended.push(`${key.keyId} ${since}`),
  });
const post = (key: KeyUse, id: string, since = 0) => {
  key.begin(1n, since);
  key.end(entryOf(id, { since, reject: () => void ended.push(id) }));
  backlog.touch(key);
};

it("a batch has the keys with news; one that restores has all that are in use, and leaves their news here", () => {
  for (const key of [one, other]) key.begin(5n, 0);
  backlog.touch(one);
  const taken = (restore: boolean) => take(restore).map(({ key }) => key.keyId);
  expect(taken(true)).toEqual(["one", "other"]);
  expect(backlog.isEmpty).toBe(false);
  waitSince(one, 0);
  expect(taken(false)).toEqual(["one"]);
});

it("of few keys with news half of what waits goes along, however many keys are quiet", () => {
  for (let index = 0; index < 10; index += 1)
    backlog.keyOf({ workspaceId: "w3", keyId: `k${index}`, keyRotation: 0 });
  for (let index = 0; index < 100; index += 1) waitSince(one, 0);
  backlog.touch(one);
  expect(askedIn({ targets: take(false) })).toBe(50);
});

it("what is of a workspace goes to a lane of its own, with what it has to send; the rest stays", () => {
  post(one, "a");
  post(other, "b");
  expect(backlog.release("w2")).toEqual([["w2 other 0", other]]);
  expect([...backlog.keys.values()]).toEqual([one]);
  expect(take(false).map(({ key, entries }) => [key.keyId, entries[0]!.id])).toEqual([
    ["one", "a"],
  ]);
  expect(other.ended.map(({ id }) => id)).toEqual(["b"]);
});

it("what was not done is sent again before what came later", () => {
  post(one, "a");
  const taken = take(false);
  post(one, "b");
  backlog.putBack(taken);
  expect(one.unsure).toBe(true);
  expect(take(false)[0]!.entries.map(({ id }) => id)).toEqual(["a", "b"]);
});

it("calls and entries that came before a moment get the error, later ones go on waiting", () => {
  ended.length = 0;
  for (const since of [9, 10, 11]) waitSince(one, since);
  post(other, "early", 19);
  post(other, "late", 20);
  const before = (ms: number) => (call: { readonly since: number }) => call.since < ms;
  for (const key of [one, other])
    key.giveUp({ waiting: before(10), ended: before(20) }, new Error("away"));
  expect(ended).toEqual(["one 9", "early"]);
  expect(one.waiting.map(({ since }) => since)).toEqual([10, 11]);
  expect(other.pending).toBe(1n);
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
