/** The backlog of a lane: which keys a batch includes, which ones another lane takes, which calls time out. docs/ledger.md "Batches". */
import { beforeEach, expect, it } from "vitest";
import { Backlog } from "../../src/ledger/backlog.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { askedIn, backlogOf, entryOf } from "./batches.ts";

let backlog: Backlog;
let one: KeyUse;
let other: KeyUse;
const nextTargets = () => backlog.nextTargets(0, false);
/** Ends a batch: its entries are written, and no call is admitted. */
const answer = (targets: ReturnType<typeof nextTargets>) => {
  for (const { key, entries } of targets) {
    key.close(entries);
    backlog.requeue(key, 0);
  }
};
beforeEach(() => {
  one = new KeyUse({ workspaceId: "w1", keyId: "one", keyRotation: 0 });
  other = new KeyUse({ workspaceId: "w2", keyId: "other", keyRotation: 0 });
  backlog = backlogOf([one, other]);
  // Send their first batch, so that no key has anything left to send.
  answer(nextTargets());
});

const ended: string[] = [];
const waitSince = (key: KeyUse, since: number) =>
  key.waiting.push({
    bound: 1n,
    since,
    resolve: () => undefined,
    reject: () => void ended.push(`${key.name.keyId} ${since}`),
  });
const post = (key: KeyUse, id: string, since = 0) => {
  key.begin(1n, since);
  key.end(entryOf(id, { since, reject: () => void ended.push(id) }));
  backlog.touch(key);
};

it("a batch has the keys with new work; a restoring batch has all keys in use, and leaves waiting calls for later", () => {
  for (const key of [one, other]) key.begin(5n, 0);
  backlog.touch(one);
  const names = (targets: ReturnType<typeof nextTargets>) =>
    targets.map(({ key }) => key.name.keyId);
  expect(names(backlog.restored(0))).toEqual(["one", "other"]);
  expect(backlog.isEmpty).toBe(false);
  waitSince(one, 0);
  expect(names(nextTargets())).toEqual(["one"]);
});

it("a restoring batch takes at most 500 entries, over all keys", () => {
  for (const key of [one, other])
    for (let index = 0; index < 300; index += 1) post(key, `${key.name.keyId} ${index}`);
  expect(backlog.restored(0).map(({ entries }) => entries.length)).toEqual([300, 200]);
});

it("if gateway and database share one core, a batch takes all waiting calls even of few keys", () => {
  const shared = new Backlog(true);
  shared.keys.set("w1 one 0", one);
  for (let index = 0; index < 100; index += 1) waitSince(one, 0);
  shared.touch(one);
  expect(askedIn({ targets: shared.nextTargets(0, false) })).toBe(100);
});

it("a batch takes half of the waiting calls of few busy keys, however many keys are idle", () => {
  for (let index = 0; index < 10; index += 1)
    backlog.keyOf({ workspaceId: "w3", keyId: `k${index}`, keyRotation: 0 });
  for (let index = 0; index < 100; index += 1) waitSince(one, 0);
  backlog.touch(one);
  expect(askedIn({ targets: nextTargets() })).toBe(50);
});

it("the keys of a workspace move to a lane of their own with all that they have to send; the others stay", () => {
  post(one, "a");
  post(other, "b");
  const apart = new Backlog();
  apart.adopt("w2", backlog, 7);
  expect([[...apart.keys.values()], other.changedAt]).toEqual([[other], 7]);
  expect([...backlog.keys.values()]).toEqual([one]);
  expect(apart.nextTargets(0, false).map(({ entries }) => entries[0]!.id)).toEqual(["b"]);
  expect(nextTargets().map(({ key, entries }) => [key.name.keyId, entries[0]!.id])).toEqual([
    ["one", "a"],
  ]);
  expect(other.ended.map(({ id }) => id)).toEqual(["b"]);
});

it("a batch without an answer is sent again, before later entries and with keys that have no entries", () => {
  const sent = () =>
    nextTargets().map(({ key, entries }) => [key.name.keyId, ...entries.map(({ id }) => id)]);
  backlog.touch(other);
  post(one, "a");
  const first = nextTargets();
  post(one, "b");
  expect(sent()).toEqual([["other"], ["one", "a", "b"]]);
  answer(first);
  expect(sent()).toEqual([["one", "b"]]);
});

it("a key with nothing to do is forgotten, but not while a batch with it is in flight", () => {
  backlog.keyOf({ workspaceId: "w3", keyId: "k", keyRotation: 0 });
  backlog.touch(one);
  const sent = nextTargets();
  backlog.tidy(0);
  expect([...backlog.keys.values()]).toEqual([one]);
  answer(sent);
  backlog.tidy(0);
  expect(backlog.keys.size).toBe(0);
});

it("calls and entries from before a given time get the error, and later ones keep waiting", () => {
  ended.length = 0;
  for (const since of [9, 10, 11]) waitSince(one, since);
  post(other, "early", 19);
  post(other, "late", 20);
  for (const key of [one, other])
    key.giveUp((call) => call.since < ("id" in call ? 20 : 10), new Error("away"));
  expect(ended).toEqual(["one 9", "early"]);
  expect(one.waiting.map(({ since }) => since)).toEqual([10, 11]);
  expect(other.pending).toBe(1n);
});

it("a call that waits for idle headroom is asked for again at the next check, or with another entry of its key", () => {
  waitSince(one, 0);
  one.waitsForHeadroom = true;
  backlog.requeue(one, 0);
  expect(nextTargets()).toEqual([]);
  backlog.tidy(0);
  expect(askedIn({ targets: nextTargets() })).toBe(1);
  backlog.requeue(one, 0);
  post(one, "a");
  expect(nextTargets()).toMatchObject([{ entries: [{ id: "a" }], asked: [{ bound: 1n }] }]);
});
