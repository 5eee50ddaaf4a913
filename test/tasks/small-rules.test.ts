/** Small rules of tasks: refused submissions, notes of attempts, slots of callbacks, and idempotency keys. T81; TASK-10. */
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileStore } from "../../src/files/index.ts";
import { reserveIn } from "../../src/ledger/index.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { warnOf, withOutcome } from "../../src/tasks/attempt.ts";
import {
  answerKey,
  claimKeyForCall,
  findAnswered,
  keyLifetimeMs,
  sweepKeys,
} from "../../src/tasks/idempotency.ts";
import { keepMaterial } from "../../src/tasks/material.ts";
import { notTaken, unanswered } from "../../src/tasks/not-taken.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { openUpload } from "../../src/tasks/tasks.ts";
import type { DueDelivery } from "../../src/tasks/webhooks/outbox.ts";
import { triesMax } from "../../src/tasks/webhooks/deliverer.ts";
import { createSlotLimiter, type SlotLimiter } from "../../src/tasks/slot-limiter.ts";
import { AskFailure } from "../../src/upstream/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { createLedger } from "../support/ledger.ts";

describe("a vendor that did not accept a task", () => {
  const refused = (status: number) => notTaken({ state: "refused", status, message: "No." });

  it("T81: another vendor is asked only if this one certainly began nothing", () => {
    expect(refused(503)).toMatchObject({ allowsFailover: true, outcome: "503" });
    expect(refused(504)).toMatchObject({
      allowsFailover: false,
      error: { code: "submission_uncertain" },
    });
    expect(refused(400)).toMatchObject({ allowsFailover: false, error: { message: "No." } });
  });

  it("T81: an unsent request goes to another vendor, a sent one ends as uncertain, and a local shortage waits", () => {
    expect(unanswered(new AskFailure("connect", false))).toMatchObject({
      outcome: "unsent",
      allowsFailover: true,
    });
    const sent = unanswered(new AskFailure("broken", true));
    expect(sent).toMatchObject({ outcome: "unknown", error: { code: "submission_uncertain" } });
    expect([sent.allowsFailover, sent.isLocalShortage]).toEqual([undefined, undefined]);
    expect(unanswered(new AskFailure("shortage", false))).toMatchObject({ isLocalShortage: true });
  });
});

describe("the record of an attempt", () => {
  const attempts = ["one", "two"].map((provider) => ({
    provider,
    credential: "default",
    upstream_model: "up",
    started_at: "2026-11-23T00:00:00.000Z",
    outcome: "asked",
  }));

  it("has the last outcome, with a message if there is one", () => {
    expect(withOutcome(attempts, "taken")).toStrictEqual([
      attempts[0],
      { ...attempts[1], outcome: "taken" },
    ]);
    expect(withOutcome(attempts, "400", "No.").at(-1)).toMatchObject({ message: "No." });
    expect(withOutcome([], "taken")).toEqual([]);
  });

  it("is logged for the last attempt; a job without attempts logs nothing", () => {
    const lines: object[] = [];
    const keep = (fields: object) => void lines.push(fields);
    const log = { ...silentLog, info: keep, warn: keep, error: keep };
    const warn = (some: typeof attempts) =>
      warnOf({ log } as never, { id: "task_1", attempts: some } as unknown as Job, {
        state: "failed",
      });
    warn([]);
    expect(lines).toEqual([]);
    warn(attempts);
    expect(JSON.stringify(lines)).toContain('"two"');
  });
});

it("callbacks have four slots for each receiver of a workspace, twenty for each workspace, and none twice", () => {
  const due = (number: number, host: string, workspaceId: string) =>
    ({ id: `d${number}`, host, workspaceId }) as DueDelivery;
  const many = (count: number, of: (number: number) => DueDelivery) =>
    Array.from({ length: count }, (_, number) => of(number));
  const newLimiter = () => createSlotLimiter(triesMax);
  const taken = (slots: SlotLimiter, found: readonly DueDelivery[]) =>
    found.filter((one) => slots.take(one));
  expect(
    taken(
      newLimiter(),
      many(9, (one) => due(one, "h", "w")),
    ),
  ).toHaveLength(4);
  // One workspace must not block a receiver that several workspaces use.
  expect(
    taken(
      newLimiter(),
      many(9, (one) => due(one, "h", `w${one}`)),
    ),
  ).toHaveLength(9);
  expect(
    taken(
      newLimiter(),
      many(30, (one) => due(one, `h${one}`, "w")),
    ),
  ).toHaveLength(20);
  const slots = newLimiter();
  const all = taken(
    slots,
    many(250, (one) => due(one, `h${one}`, `w${one}`)),
  );
  expect([all.length, slots.hasRoom()]).toEqual([200, false]);
  expect(slots.release(all[0]!)).toBe(true);
  expect(taken(slots, [all[1]!, all[0]!])).toEqual([all[0]]);
});

it("a slot is given back once, however often it is released", () => {
  const slots = createSlotLimiter({ total: 2 });
  const [one, other] = ["a", "b"].map((id) => ({ id, workspaceId: id }));
  expect([slots.take(one!), slots.isIdle()]).toEqual([true, false]);
  expect(slots.release(other!)).toBe(false);
  expect([slots.release(one!), slots.release(one!), slots.isIdle()]).toEqual([true, false, true]);
  expect([slots.take(one!), slots.take(other!), slots.hasRoom()]).toEqual([true, true, false]);
});

it("forty workspaces with thousands of due tasks leave slots to a new workspace", () => {
  const slots = createSlotLimiter({ total: 128 });
  for (let round = 0; round < 100; round += 1)
    for (let workspace = 0; workspace < 40; workspace += 1)
      slots.take({ id: `t${round}`, workspaceId: `w${workspace}` });
  expect(slots.take({ id: "t", workspaceId: "new" })).toBe(true);
  const alone = createSlotLimiter({ total: 128 });
  const tasks = Array.from({ length: 500 }, (_, task) => ({ id: `t${task}`, workspaceId: "w" }));
  expect(tasks.filter((task) => alone.take(task))).toHaveLength(64);
  expect(alone.full().fullWorkspaces).toEqual(["w"]);
  expect(alone.release(tasks[0]!)).toBe(true);
});

it("an upload that is missing when it is sent is an error, not an empty file", async () => {
  const bytesOf = (files: object) =>
    openUpload(files as FileStore, { name: "f" } as never).toArray();
  await expect(bytesOf({ open: () => Promise.resolve(undefined) })).rejects.toThrow(
    /not there any more/,
  );
  const stream = Readable.from([Buffer.from("ab")]);
  expect(await bytesOf({ open: () => Promise.resolve({ stream }) })).toEqual([Buffer.from("ab")]);
});

it("T86: small pictures stay in the request, whose text may have exactly 1 MiB", async () => {
  const request = {
    kind: "video",
    prompt: "",
    firstFrame: "data:image/png;base64,AAAA",
    references: [],
  };
  const keep = (more: object) =>
    keepMaterial({ files: {} } as never, "w1", { ...request, ...more } as never);
  expect((await keep({})).request).toStrictEqual(request);
  const { firstFrame: _none, ...without } = request;
  const kept = await keepMaterial({ files: {} } as never, "w1", without as never);
  expect(kept.request).toStrictEqual(without);
  const room = 1_048_576 - Buffer.byteLength(JSON.stringify(request));
  await expect(keep({ prompt: "x".repeat(room) })).resolves.toBeDefined();
  await expect(keep({ prompt: "x".repeat(room + 1) })).rejects.toMatchObject({
    code: "request_too_large",
  });
});

describe("an idempotency key of a call", () => {
  let database: Database;
  beforeAll(async () => {
    const url = await (await sharedPostgres()).createMigrated();
    database = await openDatabase({ url, log: silentLog });
    await migrate(database);
    await addWorkspace(database, "w1");
  });
  afterAll(() => database.close());

  const nowMs = 1_800_000_000_000;
  const holder = (key: string, fingerprint = "same") => ({
    workspaceId: "w1",
    claim: { key, fingerprint },
  });

  it("TASK-10: returns its answer to the same request for its lifetime, and to no other request", async () => {
    expect(await findAnswered(database, holder("a"), nowMs)).toBeUndefined();
    await database.transaction((tx) => claimKeyForCall(tx, holder("a"), "req_1", nowMs));
    expect(await findAnswered(database, holder("a"), nowMs)).toBeUndefined();
    await answerKey(database, holder("a"), "req_1", "file_1");
    expect(await findAnswered(database, holder("a"), nowMs + 1)).toBe("file_1");
    await expect(findAnswered(database, holder("a", "other"), nowMs)).rejects.toMatchObject({
      code: "idempotency_key_reuse",
    });
    const later = nowMs + keyLifetimeMs + 1;
    expect(await findAnswered(database, holder("a"), later)).toBeUndefined();
  });

  it("TASK-10: is in progress while its call has money on hold", async () => {
    await addKey(database, { workspaceId: "w1", id: "k1" });
    const hold = {
      workspaceId: "w1",
      keyId: "k1",
      keyRotation: 0,
      id: "req_9",
      leaseMs: 60_000,
    } as const;
    const limits = { global: 9, perWorkspace: 9 };
    await createLedger(database).credit({ workspaceId: "w1", amountNano: 5n, reference: "r" });
    await database.transaction(async (tx) => {
      await claimKeyForCall(tx, holder("c"), "req_9", nowMs);
      await reserveIn(tx, [{ ...hold, amountNano: 1n, kind: "image" }], limits);
    });
    await expect(findAnswered(database, holder("c"), nowMs)).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    await answerKey(database, holder("c"), "req_9", "file_9");
    expect(await findAnswered(database, holder("c"), nowMs)).toBe("file_9");
  });

  it("belongs to one call at a time", async () => {
    await database.transaction(async (tx) => {
      await claimKeyForCall(tx, holder("b"), "req_1", nowMs);
      await expect(
        database.transaction((other) => claimKeyForCall(other, holder("b"), "req_2", nowMs)),
      ).rejects.toMatchObject({ code: "idempotency_in_progress" });
    });
  });

  it("is removed after its lifetime, and the sweep counts the removed keys", async () => {
    await database.query(
      `insert into idempotency_keys (workspace_id, key, fingerprint, call_id, created_at)
       select 'w1', 'old' || n, 'same', 'req_' || n, $1 from generate_series(1, 1001) n`,
      [new Date(nowMs - keyLifetimeMs - 1)],
    );
    expect(await sweepKeys(database, nowMs)).toBe(1_001);
    expect(await sweepKeys(database, nowMs)).toBe(0);
  });
});
