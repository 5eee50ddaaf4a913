/** What is done to an API key besides changing its settings: disable, enable, revoke, reveal, rotate. KEY-04, KEY-08 to KEY-13. */
import { Type } from "../../base/json-schema.ts";
import { changeObject, keyKind, type Action } from "../../admin/index.ts";
import { graceSecondsMax } from "../../base/management.ts";
import {
  disableKey,
  enableKey,
  getKey,
  revealKey,
  revokeKey,
  rotateKey,
  type KeyRecord,
} from "../../tenancy/index.ts";
import { keyAnswer, keySchema, keyWithSecretSchema } from "./key-views.ts";
import { route, type AdminRequest } from "./route.ts";
import { strict } from "./schemas.ts";

const noBody = strict({});

const stateMoves = [
  ["disable", "Make every call with the key fail, until it is enabled again", disableKey],
  ["enable", "Make a disabled key work again", enableKey],
  ["revoke", "Make every call with the key fail, for good", revokeKey],
] as const;

type KeyRequest = Pick<
  AdminRequest<unknown, unknown>,
  "services" | "actor" | "params" | "requestId" | "ifMatch"
>;

type Apply = Parameters<typeof changeObject<KeyRecord>>[3]["apply"];

function changed(request: KeyRequest, action: Action, apply: Apply): Promise<KeyRecord> {
  return changeObject(request.services, keyKind, request, {
    action,
    load: (context) => getKey(context, { id: request.params["id"]! }, { forUpdate: true }),
    apply,
  });
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
    errors: ["not_found", "conflict"],
    async handle(request) {
      const record = await changed(request, `key.${name}`, (context, { id }) =>
        move(context, { id }),
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
    "Legacy keys keep only their prefix and cannot be shown. Each showing is in the audit log.",
  action: "key.reveal",
  body: noBody,
  answer: keyWithSecretSchema,
  errors: ["not_found", "conflict"],
  async handle(request) {
    const { services } = request;
    let key = "";
    const record = await changed(request, "key.reveal", async (context, { id }) => {
      const revealed = await revealKey({ ...context, secrets: services.secrets }, { id });
      ({ key } = revealed);
      return revealed.record;
    });
    return keyAnswer(services, record, key);
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
    const { services, body } = request;
    let key = "";
    const record = await changed(request, "key.rotate", async (context, { id }) => {
      const rotated = await rotateKey(
        { ...context, secrets: services.secrets },
        { id },
        { graceSeconds: body.grace_seconds },
      );
      ({ key } = rotated);
      return rotated.record;
    });
    return keyAnswer(services, record, key);
  },
});

export const keyMoveRoutes = [...moveRoutes, reveal, rotate];
