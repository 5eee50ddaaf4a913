/** The signing secret of a workspace over the management API. VIS-04; KEY-14. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  etagOf,
  signingSecretKind,
  type Action,
  type WithinChange,
} from "../../admin/index.ts";
import {
  enableSigning,
  getWorkspace,
  readSigningSecret,
  rotateSigningSecret,
  type RowContext,
  type SigningSecret,
} from "../../tenancy/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { route, type AdminAnswer, type AdminRequest } from "./route.ts";
import { readRoute } from "./read-route.ts";
import { strict } from "./schemas.ts";

const secretSchema = {
  name: "SigningSecret",
  schema: Type.Object({
    object: Type.Literal("signing_secret"),
    secret: Type.String({ examples: ["whsec_..."] }),
    enabled: Type.Boolean({ description: "False: no callback is sent." }),
    version: Type.Integer(),
    previous: orNull(
      Type.Object(
        {
          secret: Type.String(),
          expires_at: timestamp("The end of the time in which callbacks are signed with it."),
        },
        { description: "The secret before this one, while callbacks are signed with both." },
      ),
    ),
  }),
};

function answer(signing: SigningSecret): AdminAnswer {
  const { secret, enabled, version, previous } = signing;
  return {
    body: {
      object: "signing_secret",
      secret,
      enabled,
      version,
      previous: previous && {
        secret: previous.secret,
        expires_at: previous.expiresAt.toISOString(),
      },
    },
    etag: etagOf({ enabled, version }),
  };
}

async function load(services: AdminServices, context: RowContext, id: string, forUpdate: boolean) {
  const workspace = await getWorkspace(context, id, { forUpdate });
  const signing = await readSigningSecret({ ...context, secrets: services.secrets }, id);
  return { ...signing, workspace };
}

type SecretRequest = AdminRequest<unknown, unknown>;

function changeSecret(
  request: SecretRequest,
  action: Action,
  apply: (context: WithinChange) => Promise<SigningSecret>,
): Promise<SigningSecret> {
  const { services, params } = request;
  return changeObject(services, signingSecretKind, request, {
    action,
    load: (context) => load(services, context, params["id"]!, true),
    apply: async (context, before) => ({ ...before, ...(await apply(context)) }),
  });
}

const read = readRoute({
  path: "/workspaces/{id}/signing_secret",
  operationId: "getSigningSecret",
  summary: "The secret that callbacks of a workspace are signed with",
  action: "signing_secret.read",
  answer: secretSchema,
  errors: ["not_found", "insufficient_permissions"],
  kind: signingSecretKind,
  load: (services, { id }) => load(services, services, id!, false),
  render: (_services, signing) => answer(signing),
});

const change = route({
  method: "PATCH",
  path: "/workspaces/{id}/signing_secret",
  operationId: "changeSigningSecret",
  conditional: true,
  summary: "Switch the callbacks of a workspace on or off",
  action: "signing_secret.change",
  body: strict({ enabled: Type.Boolean() }),
  example: { enabled: false },
  answer: secretSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params, body } = request;
    const { secrets } = services;
    const signing = await changeSecret(request, "signing_secret.change", (context) =>
      enableSigning({ ...context, secrets }, params["id"]!, body.enabled),
    );
    return answer(signing);
  },
});

const rotate = route({
  method: "POST",
  path: "/workspaces/{id}/signing_secret/rotate",
  operationId: "rotateSigningSecret",
  conditional: true,
  summary: "Replace the signing secret of a workspace",
  description:
    "For a day callbacks are signed with both secrets, so that receivers can change over.",
  action: "signing_secret.rotate",
  body: strict({}),
  answer: secretSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params } = request;
    const { secrets } = services;
    const signing = await changeSecret(request, "signing_secret.rotate", (context) =>
      rotateSigningSecret({ ...context, secrets }, params["id"]!),
    );
    return answer(signing);
  },
});

export const signingSecretRoutes = [read, change, rotate];
