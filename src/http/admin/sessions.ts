/** A user's own sessions over the management API; no other user's. docs/management.md. */
import { wireCased } from "../../base/casing.ts";
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  endSession,
  endSessions,
  getSession,
  listSessions,
  permit,
  sessionKind,
  writeAudit,
  type Actor,
  type OwnSession,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { changeMany } from "../../tenancy/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { pageOfQuery, pageQuery, pageSchema, renderPage, strict } from "./schemas.ts";

const session = Type.Object({
  id: Type.String(),
  object: Type.Literal("session"),
  created_at: timestamp("When it was opened."),
  expires_at: timestamp("When it ends by itself."),
  ip: orNull(Type.String({ description: "The network address that opened it." })),
  user_agent: orNull(Type.String({ description: "The user agent that opened it." })),
  current: Type.Boolean({ description: "True: this request uses the session." }),
});

const render = ({ userId: _own, ...record }: OwnSession, actor: Actor) => ({
  ...wireCased(record),
  object: "session",
  current: record.id === actor.sessionId,
});

function userOf({ userId }: Actor): string {
  if (userId !== null) return userId;
  throw new GatewayError(
    "insufficient_permissions",
    "Sessions belong to users: the admin token has none.",
  );
}

const list = route({
  method: "GET",
  path: "/sessions",
  operationId: "listSessions",
  summary: "List your open sessions, newest first",
  action: "session.read",
  query: strict(pageQuery),
  answer: { name: "Sessions", schema: pageSchema(session) },
  errors: ["insufficient_permissions"],
  async handle({ services, actor, query }) {
    const page = await listSessions(services, { ...pageOfQuery(query), userId: userOf(actor) });
    return {
      body: renderPage(
        page,
        page.records.map((record) => render(record, actor)),
      ),
    };
  },
});

const end = route({
  method: "DELETE",
  path: "/sessions/{id}",
  operationId: "endSession",
  summary: "End a session of yours",
  description: "Its cookie stops working with the next request. It may be the current session.",
  action: "session.end",
  answer: {
    name: "SessionEnded",
    schema: Type.Object({
      object: Type.Literal("session"),
      id: Type.String(),
      deleted: Type.Literal(true),
    }),
  },
  errors: ["not_found"],
  async handle(request) {
    const id = request.params["id"]!;
    await changeObject(request.services, sessionKind, request, {
      action: "session.end",
      removes: true,
      load: (context) => getSession(context, id, { forUpdate: true }),
      async apply(context, record) {
        await endSession(context, id);
        return record;
      },
    });
    return { body: { object: "session", id, deleted: true } };
  },
});

const endOthers = route({
  method: "DELETE",
  path: "/sessions",
  operationId: "endOtherSessions",
  summary: "End all your sessions except the current one",
  description: "With a personal token: all sessions. Personal tokens keep working.",
  action: "session.end",
  answer: {
    name: "SessionsEnded",
    schema: Type.Object({
      object: Type.Literal("sessions"),
      deleted: Type.Integer({ description: "The number of ended sessions." }),
    }),
  },
  errors: ["insufficient_permissions"],
  async handle({ services, actor, requestId }) {
    const userId = userOf(actor);
    permit(actor, "session.end", { ownerId: userId }, sessionKind.label);
    const deleted = await changeMany(services.database, async (database) => {
      const context = { ...services, database };
      const ended = await endSessions(context, { userId, keep: actor.sessionId });
      await writeAudit(context, {
        actor,
        requestId,
        action: "session.end",
        object: { type: "user", id: userId },
        place: { ownerId: userId },
        before: null,
        after: { ended_sessions: ended },
      });
      return ended;
    });
    return { body: { object: "sessions", deleted } };
  },
});

export const sessionRoutes = [list, end, endOthers];
