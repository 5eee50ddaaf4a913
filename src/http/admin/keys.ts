/** API keys: create, list, read, change. docs/management.md; Requirements: KEY, CAP-13, CAP-14, VIS. */
import { Type, type Static } from "../../base/json-schema.ts";
import {
  allows,
  changeObject,
  checkObjectLimit,
  createObject,
  keyKind,
  loosensCaps,
  permit,
  visibilityOf,
} from "../../admin/index.ts";
import {
  changeKey,
  createKey,
  getKey,
  getWorkspace,
  keySorts,
  listKeys,
  type KeySettings,
} from "../../tenancy/index.ts";
import { ownerOf, permitCache, refuseBeyond } from "./key-rights.ts";
import { keyAnswer, keySchema, keyWithSecretSchema, renderKeys } from "./key-views.ts";
import { withParam } from "./with-param.ts";
import { route } from "./route.ts";
import { readRoute } from "./read-route.ts";
import {
  allowlistBody,
  filterText,
  pageOfQuery,
  pageQuery,
  pageSchema,
  rateLimitsBody,
  rateLimitsOf,
  renderPage,
  responseCacheBody,
  responseCacheOf,
  routingBody,
  routingOf,
  searchText,
  spendCapsBody,
  spendCapsOf,
  strict,
  timeBody,
  timeOf,
  words,
  nullable,
} from "./schemas.ts";
import { checkProviders } from "./scope.ts";

const settings = {
  spend_caps: Type.Optional(spendCapsBody),
  model_allowlist: Type.Optional(allowlistBody),
  routing: Type.Optional(routingBody),
  allow_request_override: Type.Optional(
    Type.Boolean({
      description: "True: requests may set a strategy although the key has its own routing.",
    }),
  ),
  rate_limits: Type.Optional(rateLimitsBody),
  expires_at: Type.Optional(
    nullable(
      Type.String({
        ...timeBody,
        description:
          "A time in RFC 3339, such as 2027-01-31T00:00:00Z. For a new key it must be in the future. In a change, a time in the past ends the key at once.",
      }),
    ),
  ),
  response_cache: Type.Optional(responseCacheBody),
};

const creation = strict({
  workspace_id: Type.String(),
  name: Type.String(),
  user_id: Type.Optional(
    Type.String({
      description:
        "The owner: an active member of the workspace; requires a workspace admin. Absent: you.",
    }),
  ),
  ...settings,
});
const patch = strict({ name: Type.Optional(Type.String()), ...settings });

function settingsOf(body: Static<typeof patch>): KeySettings {
  return {
    spendCaps: spendCapsOf(body.spend_caps),
    modelAllowlist: body.model_allowlist,
    routing: routingOf(body.routing),
    allowRequestOverride: body.allow_request_override,
    rateLimits: rateLimitsOf(body.rate_limits),
    expiresAt: timeOf(body.expires_at, "expires_at"),
    responseCache: responseCacheOf(body.response_cache),
  };
}

const create = route({
  method: "POST",
  path: "/keys",
  operationId: "createKey",
  summary: "Make an API key",
  description:
    "`key` is the whole key. `reveal` shows it again. With `user_id` the key belongs to that member (`created_by`): it is in their list, with their caps and spend. The audit log names who made it.",
  action: "key.create",
  body: creation,
  example: {
    workspace_id: "ws_01kacw5v2pf6q8p5b0d6m1x7yt",
    name: "ci",
    spend_caps: { monthly: "25.00" },
  },
  answer: keyWithSecretSchema,
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, actor, body } = request;
    const input = settingsOf(body);
    checkProviders(services.catalog(), input.routing);
    const { record, key } = await withParam("workspace_id", () =>
      createObject(services, keyKind, request, {
        action: "key.create",
        async place(context) {
          const { id } = await getWorkspace(context, body.workspace_id);
          return { place: { workspaceId: id }, label: "workspace" };
        },
        async create(context) {
          const place = { workspaceId: body.workspace_id };
          const createdBy = await ownerOf(context, actor, body);
          if (!actor.organizationAdmin)
            await checkObjectLimit(context, "key", body.workspace_id, createdBy);
          const made = await createKey(
            { ...context, secrets: services.secrets },
            {
              ...input,
              workspaceId: body.workspace_id,
              name: body.name,
              createdBy,
              binding: allows(actor, "key.loosen_limits", place),
            },
          );
          const cache = { before: null, after: made.record.responseCache };
          permitCache(actor, keyKind.place(made.record), cache);
          return made;
        },
        row: (made) => made.record,
      }),
    );
    return keyAnswer(services, record, key);
  },
});

const list = route({
  method: "GET",
  path: "/keys",
  operationId: "listKeys",
  summary: "List API keys",
  description: "Workspace admins see every key of the workspace, members only their own.",
  action: "key.read",
  query: strict({
    workspace_id: filterText,
    created_by: filterText,
    status: Type.Optional(words("active", "disabled", "revoked")),
    q: searchText("Part of the name, the last four characters of the key, or its id."),
    sort: Type.Optional(
      Type.Unsafe<(typeof keySorts)[number]>({
        type: "string",
        enum: keySorts,
        description:
          "By `name`, last use (`used`), `spend` of this month, or nearest to a `cap`. Absent: newest first.",
      }),
    ),
    ...pageQuery,
  }),
  answer: { name: "KeyRecords", schema: pageSchema(keySchema.schema) },
  async handle({ services, actor, query }) {
    const page = await listKeys(services, {
      ...pageOfQuery(query),
      workspaceId: query.workspace_id,
      createdBy: query.created_by,
      status: query.status,
      q: query.q,
      sort: query.sort,
      visibility: visibilityOf(actor, "key.read"),
    });
    return { body: renderPage(page, await renderKeys(services, page.records)) };
  },
});

const read = readRoute({
  path: "/keys/{id}",
  operationId: "getKeyRecord",
  summary: "Read an API key's record",
  action: "key.read",
  answer: keySchema,
  kind: keyKind,
  load: (services, { id }) => getKey(services, { id: id! }),
  render: (services, key) => keyAnswer(services, key),
});

const change = route({
  method: "PATCH",
  path: "/keys/{id}",
  operationId: "changeKey",
  conditional: true,
  summary: "Change an API key",
  description:
    "null: no limit. Absent: unchanged. The owner may tighten the spend caps. Raising or clearing one, or making a hard one soft, requires a workspace admin. If an admin set rate limits, allowlist or expiry, the owner may only tighten them. The owner may change their own settings freely.",
  action: "key.change",
  body: patch,
  example: { spend_caps: { daily: "5.00", monthly: null } },
  answer: keySchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, actor, params, body } = request;
    const input = { name: body.name, ...settingsOf(body) };
    const reference = { id: params["id"]! };
    const record = await changeObject(services, keyKind, request, {
      action: "key.change",
      load: (context) => getKey(context, reference, { forUpdate: true }),
      async apply(context, before) {
        checkProviders(services.catalog(), input.routing, before.routing);
        const binding = allows(actor, "key.loosen_limits", keyKind.place(before));
        const after = await changeKey(context, reference, { ...input, binding });
        if (!binding) refuseBeyond(before, after);
        permitCache(actor, keyKind.place(before), {
          before: before.responseCache,
          after: after.responseCache,
        });
        if (loosensCaps(before.spendCaps, after.spendCaps)) {
          permit(actor, "key.loosen_spend_caps", keyKind.place(before), keyKind.label);
        }
        return after;
      },
    });
    return keyAnswer(services, record);
  },
});

export const keyRoutes = [create, list, read, change];
