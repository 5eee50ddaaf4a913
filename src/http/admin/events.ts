/** Live updates for the console, as a stream of server-sent events. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import {
  allows,
  creatorOf,
  visibilityOf,
  type Action,
  type Actor,
  type NoticeTopic,
  type ReaderScope,
  type Sink,
  type Topic,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { route } from "./route.ts";
import { filterText, strict, words } from "./schemas.ts";

const topics = [
  "requests",
  "tasks",
  "deliveries",
  "providers",
  "usage",
  "gateways",
  "verification",
] as const;
const oneTopic = `(?:${topics.join("|")})`;

const topicList = Type.String({
  maxLength: 100,
  pattern: `^${oneTopic}(?:,${oneTopic})*$`,
  description: `Separated by commas: ${topics.join(", ")}.`,
  examples: ["requests,usage"],
});

/** A notice goes only to actors with the right to read its topic. */
const noticeActions = {
  providers: "provider.change",
  gateways: "gateway.read",
  verification: "ledger.verify",
} as const satisfies Record<NoticeTopic, Action>;

const readerScopeOf = (actor: Actor): ReaderScope => ({
  rows: {
    requests: visibilityOf(actor, "request.read"),
    tasks: visibilityOf(actor, "task.read"),
    deliveries: visibilityOf(actor, "delivery.read"),
  },
  notices: (Object.keys(noticeActions) as NoticeTopic[]).filter((topic) =>
    allows(actor, noticeActions[topic], {}),
  ),
  providerStates: allows(actor, "provider.read", {}),
});

/** Requires a session. Tokens are for programs, which can read the lists; a stream lives as long as its session. */
function checkSession(actor: Actor): void {
  if (actor.kind === "session") return;
  throw new GatewayError(
    "insufficient_permissions",
    "The stream of events takes only a session of the console. With a token, read the lists instead.",
  );
}

/** The mark from which a reader resumes; undefined, so from now, if it is not one of our marks. */
const markOf = (lastEventId: string | undefined): bigint | undefined =>
  lastEventId !== undefined && /^\d{1,18}$/.test(lastEventId) ? BigInt(lastEventId) : undefined;

const stream = route({
  method: "GET",
  path: "/events",
  operationId: "streamEvents",
  summary: "Stream of changes",
  description:
    "Server-sent events; requires a console session. `row` is a new or changed row, as its list shows it; `requests` as with `view=list`. `skipped` has the number of rows in a second with more than 20. `usage` says, every 5 seconds at most, that there are newer numbers. `state` is the health of the providers. `changed` names a topic without rows that has changed, to users who may read it: the numbers of `providers`, the `gateways`, the `verification`. `ready` begins a stream. `Last-Event-ID` resumes it with up to 1,000 rows; beyond that `reset` says to read the lists again. `bye` is sent before the gateway ends a stream, because it stops or the session is over. Rights are checked again when a member is changed or removed, and every minute. A process has at most 100 streams, and 20 per person.",
  action: null,
  query: strict({
    topics: topicList,
    workspace_id: filterText,
    key_id: filterText,
    member_id: filterText,
    model: filterText,
    provider: filterText,
    status: filterText,
    protocol: filterText,
    http_status: filterText,
    error_code: filterText,
    task_id: filterText,
  }),
  answer: {
    name: "NewRow",
    schema: Type.Object(
      {
        topic: words("requests", "tasks", "deliveries"),
        row: Type.Unsafe<object>({ type: "object", description: "The row as its list shows it." }),
      },
      { description: "The data of `row`." },
    ),
  },
  events: true,
  errors: ["insufficient_permissions"],
  handle({ actor, live, query: { topics: followed, error_code: error, ...filter } }) {
    checkSession(actor);
    const { hub, lastEventId, actorAgain } = live!;
    const begin = (sink: Sink) =>
      hub.join({
        userId: creatorOf(actor),
        topics: followed.split(",") as Topic[],
        filter: { ...filter, error },
        sight: readerScopeOf(actor),
        reloadScope: async () => readerScopeOf(await actorAgain()),
        since: markOf(lastEventId),
        sink,
      });
    return Promise.resolve({ body: {}, begin });
  },
});

export const eventRoutes = [stream];
