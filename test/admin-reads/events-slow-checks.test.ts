/** Event streams whose readers' rights are checked while the database answers one check late and another with an error. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createEventHub, type StreamEvent } from "../../src/admin/index.ts";
import { GatewayError } from "../../src/base/errors.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";

type Options = Parameters<ReturnType<typeof createEventHub>["join"]>[0];

const all = { everything: true, workspaceIds: [], ownWorkspaceIds: [], userId: null };
const sight: Options["sight"] = {
  rows: { requests: all, tasks: all, deliveries: all },
  providerStates: true,
  notices: [],
};

/** A hub whose providers change with each turn. */
function startHub() {
  const state = { turns: 0 };
  const query = async () => [{ mark: 1n, top: 2n, topic: null }];
  const hub = createEventHub({
    database: { query } as unknown as Queryable,
    log: { warn: () => undefined },
    read: async () => [],
    providers: () => ({ turn: (state.turns += 1) }),
    notices: { providers: () => "", gateways: () => "", verification: () => "" },
    leaving: () => false,
    timing: { pollMs: 1 },
  });
  return { hub, state };
}

it("a reader gets no events while its rights are checked, also if the check of another reader fails", async () => {
  const { hub, state } = startHub();
  const checks = { isChecking: false, failures: 0 };
  const early: StreamEvent[] = [];
  let [begun, ended] = [0, false];
  const sink: Options["sink"] = {
    send(events) {
      begun += 1;
      if (checks.isChecking) early.push(...events);
    },
    keepAlive: () => undefined,
    isStuck: () => false,
    end: () => (ended = true),
  };
  const reader = { topics: ["providers"], filter: {}, sight, since: undefined } as const;
  hub.join({
    ...reader,
    userId: "usr_slow",
    sink,
    async reloadScope() {
      checks.isChecking = true;
      const until = state.turns + 3;
      for (let turn = 0; turn < 5_000 && state.turns < until; turn += 1) await nextTurn();
      checks.isChecking = false;
      throw new GatewayError("invalid_credential", "The session has ended.");
    },
  });
  const leave = hub.join({
    ...reader,
    userId: "usr_other",
    sink: { ...sink, send: () => undefined, end: () => undefined },
    async reloadScope() {
      checks.failures += 1;
      if (checks.failures === 1) throw new Error("the connection was lost");
      return sight;
    },
  });
  await eventually(() => begun > 0, "the stream has begun");
  hub.recheckRights();
  await eventually(() => ended, "the stream of the ended session is over");
  leave();
  expect(checks.failures).toBeGreaterThan(0);
  expect(early).toEqual([]);
});
