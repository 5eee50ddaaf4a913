/** Personal tokens over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  checkObjectLimit,
  createObject,
  createToken,
  etagOf,
  getToken,
  keepSession,
  listTokens,
  renderToken,
  revokeToken,
  tokenKind,
  type Actor,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import {
  nullable,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  timeBody,
  timeOf,
} from "./schemas.ts";

const token = Type.Object({
  id: Type.String(),
  object: Type.Literal("admin_token"),
  name: Type.String(),
  user_id: Type.String(),
  created_at: timestamp("When it was made."),
  expires_at: orNull(timestamp("When it stops working.")),
  last_used_at: orNull(timestamp("At most a minute behind.")),
  revoked_at: orNull(timestamp("When it was revoked.")),
});
const tokenSchema = { name: "AdminToken", schema: token };

/** Returns the actor's user id. With `making`, requires a session: a token that makes tokens could outlive its own end. */
function userOf(actor: Actor, making: boolean): string {
  if (actor.userId !== null && (!making || actor.kind === "session")) return actor.userId;
  throw new GatewayError(
    "insufficient_permissions",
    "Personal tokens belong to users: sign in to the console to make one.",
  );
}

const answerOf = (record: Parameters<typeof renderToken>[0]) => ({
  body: renderToken(record),
  etag: etagOf(tokenKind.view(record)),
});

const create = route({
  method: "POST",
  path: "/tokens",
  operationId: "createToken",
  summary: "Make a personal token",
  description: "Requires a console session. `token` is shown once; it has the role of its owner.",
  action: "token.create",
  body: strict({ name: Type.String(), expires_at: Type.Optional(nullable(timeBody)) }),
  example: { name: "ci" },
  answer: {
    name: "AdminTokenWithToken",
    schema: Type.Object({ ...token.properties, token: Type.String({ examples: ["gw_pat_..."] }) }),
  },
  status: 201,
  errors: ["insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, actor, body } = request;
    const userId = userOf(actor, true);
    const made = await createObject(services, tokenKind, request, {
      action: "token.create",
      async place(context) {
        // A password change ends the session and all tokens made from it: lock the session against one meanwhile.
        await keepSession(context, actor.sessionId);
        return { place: { ownerId: userId }, label: "token" };
      },
      async create(context) {
        await checkObjectLimit(context, "token", userId);
        return createToken(
          { ...context, secrets: services.secrets },
          { userId, name: body.name, expiresAt: timeOf(body.expires_at ?? null, "expires_at") },
        );
      },
      row: ({ record }) => record,
    });
    const answer = answerOf(made.record);
    return { ...answer, body: { ...answer.body, token: made.token } };
  },
});

const list = route({
  method: "GET",
  path: "/tokens",
  operationId: "listTokens",
  summary: "List your personal tokens, newest first",
  action: "token.read",
  query: strict(pageQuery),
  answer: { name: "AdminTokens", schema: pageSchema(token) },
  errors: ["insufficient_permissions"],
  async handle({ services, actor, query }) {
    const userId = userOf(actor, false);
    const page = await listTokens(services, { ...pageOfQuery(query), userId });
    return { body: renderPage(page, page.records.map(renderToken)) };
  },
});

const revoke = route({
  method: "DELETE",
  path: "/tokens/{id}",
  operationId: "revokeToken",
  conditional: true,
  summary: "Revoke a personal token permanently",
  action: "token.revoke",
  answer: tokenSchema,
  errors: ["not_found"],
  async handle(request) {
    const { services, params } = request;
    const id = params["id"]!;
    const record = await changeObject(services, tokenKind, request, {
      action: "token.revoke",
      load: (context) => getToken(context, id, { forUpdate: true }),
      apply: (context) => revokeToken(context, id),
    });
    return answerOf(record);
  },
});

export const tokenRoutes = [create, list, revoke];
