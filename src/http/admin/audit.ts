/** The audit log over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { insufficient, listAudit, renderAudit, visibilityOf } from "../../admin/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import {
  filterText,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  periodOf,
  periodQuery,
  words,
} from "./schemas.ts";

const changed = orNull(
  Type.Object({}, { description: "The fields that changed; for a creation, all fields." }),
);

const entry = Type.Object({
  id: Type.String(),
  object: Type.Literal("audit_entry"),
  created_at: timestamp("When it happened."),
  workspace_id: orNull(Type.String()),
  organization_id: orNull(Type.String()),
  actor: Type.Object({
    kind: words("admin_token", "token", "session"),
    id: orNull(Type.String({ description: "The user; null for the admin token." })),
    name: Type.String(),
  }),
  action: Type.String({ examples: ["key.change"] }),
  subject: Type.Object({
    type: Type.String({ examples: ["api_key"] }),
    id: Type.String(),
    name: orNull(Type.String({ description: "Its current name; null: it has none." })),
  }),
  before: changed,
  after: changed,
  request_id: orNull(Type.String()),
});

const list = route({
  method: "GET",
  path: "/audit",
  operationId: "listAuditEntries",
  summary: "Who changed what, newest first",
  description: "Workspace admins see the entries of their workspaces. No entry has a secret.",
  action: "audit.read",
  query: strict({
    workspace_id: filterText,
    actor_id: filterText,
    action: filterText,
    subject_id: filterText,
    ...periodQuery,
    ...pageQuery,
  }),
  answer: { name: "AuditEntries", schema: pageSchema(entry) },
  errors: ["insufficient_permissions"],
  async handle({ services, actor, query }) {
    const visibility = visibilityOf(actor, "audit.read");
    if (!visibility.everything && visibility.workspaceIds.length === 0) {
      throw insufficient("audit.read");
    }
    const page = await listAudit(services.database, {
      ...pageOfQuery(query),
      visibility,
      workspaceId: query.workspace_id,
      actorId: query.actor_id,
      action: query.action,
      objectId: query.subject_id,
      ...periodOf(query),
    });
    return { body: renderPage(page, page.records.map(renderAudit)) };
  },
});

export const auditRoutes = [list];
