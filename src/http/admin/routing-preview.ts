/** Previews which providers a key's calls of a model would go to now, also with unsaved settings. docs/routing.md. */
import { Type, type Static } from "../../base/json-schema.ts";
import { keyKind, readObject, workspaceKind, type Actor } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { endpointProtocol, type EntryPoint } from "../../catalog/index.ts";
import { previewPlan, resolveModelId } from "../../routing/index.ts";
import {
  followRouting,
  getKey,
  getWorkspace,
  keyScopeOf,
  mergeRouting,
  type KeyRecord,
} from "../../tenancy/index.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { withParam } from "./with-param.ts";
import { route } from "./route.ts";
import { allowlistBody, routingBody, routingOf, strict } from "./schemas.ts";
import { checkProviders, layersOfWorkspace } from "./scope.ts";

const entryPoints = Object.keys(endpointProtocol) as EntryPoint[];

const question = strict({
  key_id: Type.Optional(
    Type.String({ maxLength: 100, description: "The key whose calls are previewed." }),
  ),
  workspace_id: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "Instead of a key: preview for a new key in this workspace.",
    }),
  ),
  model: Type.String({ maxLength: 300, description: "As in a call; a suffix is allowed." }),
  entry_point: Type.Optional(
    Type.Unsafe<EntryPoint>({
      type: "string",
      enum: entryPoints,
      description: "Absent: the model's first endpoint.",
    }),
  ),
  stream: Type.Optional(Type.Boolean()),
  routing: Type.Optional(routingBody),
  model_allowlist: Type.Optional(allowlistBody),
  allow_request_override: Type.Optional(Type.Boolean()),
});

const offer = Type.Object({
  provider: Type.String(),
  protocol: Type.String(),
  tier: Type.String(),
  standard_price_nano: Type.String({
    description: "Nano-USD of a standard call: 3,000 tokens in, 1,000 out.",
  }),
  excluded: Type.Optional(Type.String({ description: "The reason why it would get no call." })),
});

const answer = {
  name: "RoutingPreview",
  schema: Type.Object({
    object: Type.Literal("routing_preview"),
    plan: Type.Object(
      {
        model: Type.String(),
        entry_point: oneOf(...entryPoints),
        strategy: Type.String(),
        strategy_source: oneOf("request", "scope", "default"),
        pinned_by_request: Type.Optional(Type.String()),
        offers: Type.Array(offer),
        order: Type.Array(
          Type.String({ description: "`provider/protocol`; the first is tried first." }),
        ),
      },
      { description: "As `explanation.plan` of a request." },
    ),
    refused: orNull(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        { description: "The error that such a call would get; null if it would be routed." },
      ),
    ),
  }),
};

type Question = Static<typeof question>;

/** Returns the key of the question, or one without settings. @throws GatewayError `not_found`, `missing_required_parameter` */
async function keyOf(
  services: AdminServices,
  actor: Actor,
  { key_id: id, workspace_id: workspaceId }: Question,
): Promise<Pick<KeyRecord, "workspaceId" | "modelAllowlist" | "routing" | "allowRequestOverride">> {
  if (id !== undefined)
    return withParam("key_id", () =>
      readObject(keyKind, { actor }, "key.read", () => getKey(services, { id, workspaceId })),
    );
  if (workspaceId === undefined) {
    throw new GatewayError(
      "missing_required_parameter",
      "Send `key_id`, or `workspace_id` to preview a key that does not exist yet.",
      { param: "key_id" },
    );
  }
  const workspace = await withParam("workspace_id", () =>
    readObject(workspaceKind, { actor }, "workspace.read", () =>
      getWorkspace(services, workspaceId),
    ),
  );
  const none = { modelAllowlist: [], routing: followRouting, allowRequestOverride: false };
  return { ...none, workspaceId: workspace.id };
}

const preview = route({
  method: "POST",
  path: "/routing/preview",
  operationId: "previewRouting",
  summary: "Which providers a call would go to now, in which order, and why",
  description:
    "Calls no provider and stores nothing. `routing`, `model_allowlist` and `allow_request_override` replace those of the key, so that a form can show their effect. If the order is random, the answer is the most likely one. For text and embedding models.",
  action: "key.read",
  body: question,
  example: { key_id: "key_01kacw5v2pf6q8p5b0d6m1x7yt", model: "sandbox/chat" },
  answer,
  errors: ["not_found", "model_not_found", "invalid_model_suffix", "unsupported_protocol"],
  async handle({ services, actor, body }) {
    const catalog = services.catalog();
    const asked = routingOf(body.routing);
    const key = await keyOf(services, actor, body);
    checkProviders(catalog, asked, key.routing);
    const layer = {
      routing: mergeRouting(key.routing, asked),
      modelAllowlist:
        body.model_allowlist === undefined ? key.modelAllowlist : (body.model_allowlist ?? []),
    };
    const override = body.allow_request_override ?? key.allowRequestOverride;
    const { plan, refused } = previewPlan({
      catalog,
      parsed: resolveModelId(body.model, catalog),
      entryPoint: body.entry_point,
      scope: keyScopeOf(await layersOfWorkspace(services, key.workspaceId), layer, override),
      health: services.health,
      stream: body.stream,
    });
    return {
      body: {
        object: "routing_preview",
        plan,
        refused: refused && { code: refused.code, message: refused.message },
      },
    };
  },
});

export const routingPreviewRoutes = [preview];
