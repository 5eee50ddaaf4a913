/** API keys: create, list, read, change. docs/management.md; Requirements: KEY, CAP-13, CAP-14, VIS. */
import { isDeepStrictEqual } from "node:util";
import { Type, type Static } from "../../base/json-schema.ts";
import {
  allows,
  changeObject,
  checkObjectLimit,
  createObject,
  creatorOf,
  keyKind,
  loosensCaps,
  permit,
  visibilityOf,
  type Actor,
  type WithinChange,
} from "../../admin/index.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import {
  settingBeyondBounds,
  changeKey,
  createKey,
  getKey,
  getMember,
  getWorkspace,
  keySorts,
  listKeys,
  lockMembership,
  type KeyRecord,
  type KeySettings,
} from "../../tenancy/index.ts";
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

/** Returns the user id of a new key's owner. @throws GatewayError 403 `insufficient_permissions`, `invalid_value` for an unknown user id */
async function ownerOf(
  context: WithinChange,
  actor: Actor,
  body: { readonly workspace_id: string; readonly user_id?: string | undefined },
): Promise<string> {
  const { workspace_id: workspaceId, user_id: userId } = body;
  if (userId === undefined || userId === actor.userId) {
    // A key can outlive its creator's membership: a member who is being removed must not create one meanwhile.
    if (actor.userId !== null && !actor.organizationAdmin)
      await lockMembership(context, { workspaceId, userId: actor.userId });
    return creatorOf(actor);
  }
  permit(actor, "key.create_for_member", { workspaceId }, "workspace");
  const member = await getMember(context, { workspaceId, userId }, { forUpdate: true }).catch(
    (error: unknown) => {
      if (error instanceof GatewayError && error.code === "not_found") return undefined;
      throw error;
    },
  );
  if (member?.status === "active") return member.userId;
  throw invalidValue(
    "user_id",
    member
      ? "must be an active member; this one has not accepted the invitation yet"
      : "must be the id of a member of the workspace",
  );
}

/** Refuses changes beyond a member's rights: members may tighten the limits that administrators set, and change their own freely. */
function refuseBeyond(before: KeyRecord, after: KeyRecord): void {
  const field = settingBeyondBounds(before.bounds, after);
  if (field === undefined) return;
  throw new GatewayError(
    "insufficient_permissions",
    `An administrator set \`${field}\` of this key: you may tighten it, not loosen it.`,
    { param: field },
  );
}

/**
 * Requires administrator rights to change the response cache, which sets the price of a repeated answer. Owners may keep the cache or
 * switch it off.
 */
function permitCache(
  actor: Actor,
  place: Parameters<typeof permit>[2],
  { before, after }: Readonly<Record<"before" | "after", KeyRecord["responseCache"]>>,
): void {
  if (after !== null && !isDeepStrictEqual(before, after))
    permit(actor, "key.loosen_limits", place, keyKind.label);
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
