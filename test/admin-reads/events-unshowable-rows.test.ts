/** Event streams with rows that cannot be shown, and with a write transaction that stays open. docs/management.md. */
import { describe, expect, it } from "vitest";
import { createEventHub, type NewRow, type StreamEvent } from "../../src/admin/index.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";

type Hub = ReturnType<typeof createEventHub>;
type Sight = Parameters<Hub["join"]>[0]["sight"];

const all = { everything: true, workspaceIds: [], ownWorkspaceIds: [], userId: null };
const sight: Sight = {
  rows: { requests: all, tasks: all, deliveries: all },
  notices: [],
  providerStates: true,
};

interface Written {
  readonly id: string;
  readonly written: bigint;
}

/** A hub on rows in memory; `open` is a write transaction that has not ended. */
function startHub(record: (id: string) => object, failing = new Set<string>()) {
  const state = {
    open: undefined as bigint | undefined,
    top: 10n,
    rows: [] as Written[],
    turns: 0,
  };
  const warned: object[] = [];
  const query = async (_sql: string, [since, topics, limit]: [bigint, string[], number]) => {
    state.turns += 1;
    const { open, top } = state;
    const now = { mark: open ?? top, top };
    const found = state.rows.filter(({ written }) => written >= since && written !== open);
    const names = topics.length === 0 ? [] : found.slice(0, limit);
    if (names.length === 0) return [{ ...now, topic: null }];
    return names.map((row) => ({ ...now, topic: "requests", workspace_id: "ws_1", ...row }));
  };
  const hub = createEventHub({
    database: { query } as unknown as Queryable,
    log: { warn: (fields) => void warned.push(fields) },
    async read(_topic, names): Promise<NewRow[]> {
      if (names.some(({ id }) => failing.has(id))) throw new Error("no such column");
      return names.map((name) => ({ name, ownerId: null, record: () => record(name.id) }));
    },
    providers: () => ({}),
    notices: { providers: () => "", gateways: () => "", verification: () => "" },
    leaving: () => false,
    timing: { pollMs: 1 },
  });
  const write = (...ids: string[]): void => {
    state.rows.push(...ids.map((id) => ({ id, written: state.top })));
    state.top += 1n;
  };
  return { hub, state, write, warned };
}

async function follow(hub: Hub, filter = {}) {
  const events: StreamEvent[] = [];
  const leave = hub.join({
    userId: "usr_1",
    topics: ["requests"],
    filter,
    sight,
    reloadScope: async () => sight,
    since: undefined,
    sink: {
      send: (sent) => void events.push(...sent),
      keepAlive: () => undefined,
      isStuck: () => false,
      end: () => undefined,
    },
  });
  await eventually(() => events.length > 0, "the stream has begun");
  const count = (event: string): number => events.filter((one) => one.event === event).length;
  const has = (id: string): boolean => JSON.stringify(events).includes(`"${id}"`);
  return { events, leave, count, has };
}

const turnsLater = (state: { readonly turns: number }, count: number) => {
  const until = state.turns + count;
  return eventually(() => state.turns >= until, "some turns are over");
};

describe("rows that cannot be shown", () => {
  it("a row that cannot be rendered is left out, and the other rows still arrive", async () => {
    const { hub, state, write, warned } = startHub((id) => {
      if (id === "req_poison") throw new Error("cannot be shown");
      return { id, status: "succeeded" };
    });
    const readers = [await follow(hub), await follow(hub, { status: "succeeded" })];
    write("req_a", "req_poison", "req_b");
    write("req_c");
    for (const reader of readers) await eventually(() => reader.has("req_c"), "the last one came");
    await turnsLater(state, 3);
    for (const { events, leave } of readers) {
      leave();
      expect(events.map(({ event }) => event)).toEqual(["ready", "row", "row", "row"]);
    }
    expect(warned).toMatchObject([{ rows: ["req_poison"], times: 1 }]);
  });

  it("rows that cannot be read cause a reset, and later rows arrive", async () => {
    const failing = new Set(["req_poison"]);
    const { hub, write } = startHub((id) => ({ id }), failing);
    const reader = await follow(hub);
    write("req_poison", "req_a");
    await eventually(() => reader.count("reset") > 0, "the reader is told");
    write("req_b");
    await eventually(() => reader.has("req_b"), "the next one came");
    reader.leave();
    expect(reader.events.map(({ event }) => event)).toEqual(["ready", "reset", "row"]);
  });
});

it("after a failover or restore to lower transaction numbers, the stream sends a reset and then new rows", async () => {
  const { hub, state, write } = startHub((id) => ({ id }));
  state.top = 5_000n;
  const reader = await follow(hub);
  Object.assign(state, { top: 100n, rows: [] });
  await eventually(() => reader.count("reset") > 0, "the reader is told");
  write("req_new");
  await eventually(() => reader.has("req_new"), "a row of the new server came");
  reader.leave();
  expect(reader.events.map(({ event }) => event)).toEqual(["ready", "reset", "row"]);
});

describe("a write transaction that stays open", () => {
  const many = (name: string): string[] =>
    Array.from({ length: 1_100 }, (_, index) => `req_${name}${index}`);

  it("causes a reset for each 1,000 rows, not for each second, while new rows still arrive", async () => {
    const { hub, state, write } = startHub((id) => ({ id }));
    state.open = state.top;
    state.top += 1n;
    const reader = await follow(hub);
    write(...many("a"));
    await eventually(() => reader.count("reset") > 0, "too many for one turn");
    await turnsLater(state, 20);
    expect(reader.count("reset")).toBe(1);
    write("req_after");
    await eventually(() => reader.has("req_after"), "a row that came later");
    expect(reader.count("reset")).toBe(1);
    // Its row is older than the rows that were sent since.
    state.rows.push({ id: "req_slow", written: state.open });
    state.open = undefined;
    await eventually(() => reader.count("reset") === 2, "the lists are to be read once more");
    write("req_last");
    await eventually(() => reader.has("req_last"), "the stream goes on");
    await turnsLater(state, 5);
    reader.leave();
    expect(reader.count("reset")).toBe(2);
    expect(reader.count("row")).toBe(2);
  });

  it("is not needed for a reset: a burst of rows causes exactly one", async () => {
    const { hub, state, write } = startHub((id) => ({ id }));
    const reader = await follow(hub);
    write(...many("a"));
    await eventually(() => reader.count("reset") > 0, "too many for one turn");
    await turnsLater(state, 5);
    reader.leave();
    expect(reader.count("reset")).toBe(1);
  });
});
