/**
 * Callbacks over the management API: lists deliveries and their attempts, redelivers, tests an address. docs/management.md;
 * Requirements: HOOK.
 */
import { wireCased } from "../../base/casing.ts";
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  checkObjectLimit,
  createObject,
  deliveryTable,
  listVisible,
  visibilityOf,
  placeOfWorkspace,
  type ObjectKind,
} from "../../admin/index.ts";
import { parseSafeUrl } from "../../base/safe-url.ts";
import {
  getDelivery,
  readDeliveries,
  redeliver,
  sendTest,
  type Delivery,
} from "../../tasks/index.ts";
import { oneOf, orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import {
  filterText,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  words,
} from "./schemas.ts";

const statuses = ["pending", "delivered", "failed"] as const;

const attempt = Type.Object({
  attempt: Type.Integer({ description: "Counts from 1." }),
  started_at: timestamp("When the attempt was made."),
  duration_ms: Type.Integer(),
  http_status: orNull(
    Type.Integer({ description: "The receiver's HTTP status; null: no answer." }),
  ),
  error: orNull(Type.String({ description: "Why there was no answer." })),
});

const delivery = Type.Object({
  id: Type.String({ description: "The event's id: the same at every attempt." }),
  workspace_id: Type.String(),
  task_id: orNull(Type.String({ description: "null for a test." })),
  type: Type.String({ examples: ["task.succeeded", "webhook.test"] }),
  url: Type.String(),
  status: oneOf(...statuses),
  next_attempt_at: orNull(timestamp("When the next attempt is due.")),
  created_at: timestamp("When the event happened."),
  updated_at: timestamp("When it was last changed."),
  attempts: Type.Array(attempt, { description: "The last 100, oldest first." }),
});
const deliverySchema = { name: "WebhookDelivery", schema: delivery };

export const renderDelivery = ({ memberId: _member, dueAt, tries, ...one }: Delivery) => ({
  ...wireCased(one),
  next_attempt_at: dueAt?.toISOString() ?? null,
  attempts: tries.map(wireCased),
});

const deliveryKind: ObjectKind<Delivery> = {
  type: "webhook_delivery",
  label: "delivery",
  id: (one) => one.id,
  place: (one) => ({ workspaceId: one.workspaceId, ownerId: one.memberId }),
  view: ({ workspaceId, taskId, url, status }) => ({
    workspace_id: workspaceId,
    task_id: taskId,
    url,
    status,
  }),
};

const list = route({
  method: "GET",
  path: "/webhook_deliveries",
  operationId: "listWebhookDeliveries",
  summary: "Callbacks and their attempts, newest first",
  description: "Workspace admins see their workspaces, members those of tasks of their own keys.",
  action: "delivery.read",
  query: strict({
    workspace_id: filterText,
    task_id: filterText,
    status: Type.Optional(words(...statuses)),
    ...pageQuery,
  }),
  answer: { name: "WebhookDeliveries", schema: pageSchema(delivery) },
  async handle({ services, actor, query }) {
    const { task_id, status } = query;
    const { names, nextCursor } = await listVisible(services.database, deliveryTable, {
      ...pageOfQuery(query),
      visibility: visibilityOf(actor, "delivery.read"),
      workspaceId: query.workspace_id,
      equal: { task_id, status },
    });
    const deliveries = await readDeliveries(services, names);
    return { body: renderPage({ nextCursor }, deliveries.map(renderDelivery)) };
  },
});

const again = route({
  method: "POST",
  path: "/webhook_deliveries/{id}/redeliver",
  operationId: "redeliverWebhook",
  summary: "Send a callback again",
  description:
    "Also a delivered one. The event id and the text are the same, and the retries start from the beginning.",
  action: "delivery.redeliver",
  body: strict({}),
  answer: deliverySchema,
  errors: ["not_found"],
  async handle(request) {
    const { services, params } = request;
    const sent = await changeObject(services, deliveryKind, request, {
      action: "delivery.redeliver",
      load: (context) => getDelivery(context, params["id"]!, { forUpdate: true }),
      apply: (context, one) => redeliver(context, one),
    });
    services.wakeDeliverer();
    return { body: renderDelivery(sent) };
  },
});

const test = route({
  method: "POST",
  path: "/workspaces/{id}/webhook_test",
  operationId: "testWebhook",
  summary: "Send a signed test event to an address, once",
  description: "A moment later the list of deliveries has the result.",
  action: "webhook.test",
  body: strict({ url: Type.String({ minLength: 1, maxLength: 2048 }) }),
  example: { url: "https://example.com/hook" },
  answer: deliverySchema,
  status: 202,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, params, body } = request;
    // Whether the address is public is checked when the event is sent: a refusal is then an outcome of the delivery.
    const { href } = parseSafeUrl(body.url, { https: true, allowPrivate: true, param: "url" });
    const workspaceId = params["id"]!;
    const sent = await createObject(services, deliveryKind, request, {
      action: "webhook.test",
      place: (context) => placeOfWorkspace(context, workspaceId),
      async create(context) {
        await checkObjectLimit(context, "webhookTest", workspaceId);
        return sendTest(context, { workspaceId, url: href });
      },
      row: (made) => made,
    });
    services.wakeDeliverer();
    return { body: renderDelivery(sent) };
  },
});

export const webhookDeliveryRoutes = [list, again, test];
