/** Events that are not rows: a reader gets them from the moment that the stream begins. docs/management.md. */
import { expect, it } from "vitest";
import { createEventHub, type StreamEvent } from "../../src/admin/index.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { silentLog } from "../support/postgres.ts";

type Sight = Parameters<ReturnType<typeof createEventHub>["join"]>[0]["sight"];

const nothingSeen = {
  everything: false,
  workspaceIds: [],
  ownWorkspaceIds: [],
  userId: null,
};

it("a change at the moment of the `ready` event is reported", async () => {
  let verified = 0;
  const sent: StreamEvent[] = [];
  const database = {
    query: async () => [{ mark: 1n, top: 2n, topic: null }],
  } as unknown as Queryable;
  const hub = createEventHub({
    database,
    log: silentLog,
    read: async () => [],
    providers: () => ({}),
    notices: {
      providers: () => "",
      gateways: () => "",
      verification: () => String(verified),
    },
    leaving: () => false,
    timing: { pollMs: 5, noticeMs: { providers: 0, gateways: 0, verification: 0 } },
  });
  const sight: Sight = {
    rows: { requests: nothingSeen, tasks: nothingSeen, deliveries: nothingSeen },
    notices: ["verification"],
    providerStates: true,
  };
  const leave = hub.join({
    userId: "usr_1",
    topics: ["verification"],
    filter: {},
    sight,
    reloadScope: async () => sight,
    since: undefined,
    sink: {
      send(events) {
        sent.push(...events);
        if (events.some(({ event }) => event === "ready")) verified = 1;
      },
      keepAlive: () => undefined,
      isStuck: () => false,
      end: () => undefined,
    },
  });
  await eventually(() => sent.some(({ event }) => event === "changed"), "the change is told");
  leave();
  expect(sent.filter(({ event }) => event === "changed")).toEqual([
    { event: "changed", data: { topic: "verification" } },
  ]);
});
