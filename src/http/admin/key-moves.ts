/** Actions on an API key beyond changing its settings: disable, enable, revoke, reveal, lend, rotate. KEY-04, KEY-08 to KEY-13. */
import { Type } from "../../base/json-schema.ts";
import {
  allows,
  changeObject,
  keyKind,
  type Action,
  type Actor,
  type WithinChange,
} from "../../admin/index.ts";
import { graceSecondsMax, temporarySecondsMax } from "../../base/management.ts";
import {
  disableKey,
  enableKey,
  getKey,
  issueTemporary,
  lockMembership,
  revealKey,
  revokeKey,
  rotateKey,
  type KeyRecord,
} from "../../tenancy/index.ts";
import type { AdminServices } from "../services.ts";
import { keyAnswer, keySchema, keyWithSecretSchema } from "./key-views.ts";
import { route, type AdminRequest } from "./route.ts";
import { strict } from "./schemas.ts";

const noBody = strict({});

const stateMoves = [
  ["disable", "Disable an API key, until it is enabled again", disableKey],
  ["enable", "Enable a disabled API key; if an admin disabled it, only an admin may", enableKey],
  ["revoke", "Revoke an API key permanently", revokeKey],
] as const;

type KeyRequest = Pick<
  AdminRequest<unknown, unknown>,
  "services" | "actor" | "params" | "requestId" | "ifMatch"
>;

type Apply<Made> = (
  context: WithinChange & Pick<AdminServices, "secrets">,
  reference: { readonly id: string },
  before: KeyRecord,
) => Promise<Made>;

/** Changes the key with `apply` and returns its result. `entry` is the audit action, where it is not the right's name. */
async function changeWith<Made extends { readonly record: KeyRecord }>(
  { services, params, ...request }: KeyRequest,
  action: Action,
  apply: Apply<Made>,
  entry?: string,
): Promise<Made> {
  const reference = { id: params["id"]! };
  let made: Made | undefined;
  await changeObject(services, keyKind, request, {
    action,
    ...(entry !== undefined && { entry }),
    async load(context) {
      if (action === "key.enable") await lockOwner(context, request.actor, reference);
      return getKey(context, reference, { forUpdate: true });
    },
    async apply(context, before) {
      made = await apply({ ...context, secrets: services.secrets }, reference, before);
      return made.record;
    },
  });
  return made!;
}

/**
 * Locks the owner's membership before the key is locked. A removal disables the member's active keys, so a member who is being removed
 * must not enable one meanwhile.
 */
async function lockOwner(
  context: WithinChange,
  { userId, organizationAdmin }: Actor,
  reference: { readonly id: string },
): Promise<void> {
  if (userId === null || organizationAdmin) return;
  const { workspaceId, createdBy } = await getKey(context, reference);
  if (createdBy === userId) await lockMembership(context, { workspaceId, userId });
}

const moveRoutes = stateMoves.map(([name, summary, move]) =>
  route({
    method: "POST",
    path: `/keys/{id}/${name}`,
    operationId: `${name}Key`,
    conditional: true,
    summary,
    action: `key.${name}`,
    body: noBody,
    answer: keySchema,
    errors: ["not_found", "conflict", "insufficient_permissions"],
    async handle(request) {
      const { record } = await changeWith(
        request,
        `key.${name}`,
        async (context, reference, before) => {
          const binding = allows(request.actor, "key.loosen_limits", keyKind.place(before));
          return { record: await move(context, reference, { binding }) };
        },
      );
      return keyAnswer(request.services, record);
    },
  }),
);

const reveal = route({
  method: "POST",
  path: "/keys/{id}/reveal",
  operationId: "revealKey",
  conditional: true,
  summary: "Show an API key in full again",
  description:
    "Legacy keys are stored only as a prefix and cannot be shown. The audit log records each use.",
  action: "key.reveal",
  body: noBody,
  answer: keyWithSecretSchema,
  errors: ["not_found", "conflict"],
  async handle(request) {
    const { record, key } = await changeWith(request, "key.reveal", revealKey);
    return keyAnswer(request.services, record, key);
  },
});

const temporary = route({
  method: "POST",
  path: "/keys/{id}/temporary",
  operationId: "issueTemporaryKey",
  conditional: true,
  summary: "Make a temporary value of an API key",
  description:
    "For a page in a browser, which should not have the key. Scope, routing, caps, limits, log and bill are the key's. The value ends at `expires_at`, and at once if the key is disabled or revoked, expires, or gets a new value without grace. The audit log records each one.",
  action: "key.reveal",
  body: strict({
    ttl_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: temporarySecondsMax,
        description: `How long it works, in seconds; ${temporarySecondsMax} if absent.`,
      }),
    ),
  }),
  answer: {
    name: "TemporaryKey",
    schema: Type.Object({
      key: Type.String({ examples: ["gw_temp_..."] }),
      expires_at: Type.String({ format: "date-time" }),
    }),
  },
  errors: ["not_found", "conflict"],
  async handle(request) {
    const seconds = request.body.ttl_s ?? temporarySecondsMax;
    const { key, expiresAt } = await changeWith(
      request,
      "key.reveal",
      (context, reference) => issueTemporary(context, reference, seconds),
      "key.temporary",
    );
    return { body: { key, expires_at: expiresAt.toISOString() } };
  },
});

const rotate = route({
  method: "POST",
  path: "/keys/{id}/rotate",
  operationId: "rotateKey",
  conditional: true,
  summary: "Give an API key a new value",
  description: "Id, caps and spend stay. The old value works for `grace_seconds` more.",
  action: "key.rotate",
  body: strict({
    grace_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: graceSecondsMax, description: "0 if absent." }),
    ),
  }),
  answer: keyWithSecretSchema,
  errors: ["not_found", "conflict"],
  async handle(request) {
    const graceSeconds = request.body.grace_seconds;
    const { record, key } = await changeWith(request, "key.rotate", (context, reference) =>
      rotateKey(context, reference, { graceSeconds }),
    );
    return keyAnswer(request.services, record, key);
  },
});

export const keyMoveRoutes = [...moveRoutes, reveal, temporary, rotate];
