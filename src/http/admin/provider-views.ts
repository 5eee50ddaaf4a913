/**
 * Renders providers for the management API, with their health. Every signed-in user sees which providers exist. Only organization
 * admins see their addresses and our accounts there (T37). Keys are never shown.
 */
import { Type } from "../../base/json-schema.ts";
import { etagOf, providerKind, type ProviderObject } from "../../admin/index.ts";
import { shownProvider, type Catalog, type Provider } from "../../catalog/index.ts";
import { noAttempts, type Health, type LastHour } from "../../routing/index.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import type { AdminAnswer } from "./route.ts";

const admins = "For organization admins";

const circuit = Type.Object({
  model: Type.String(),
  state: oneOf("open", "due"),
  since: Type.String(),
  next_probe_at: Type.String(),
});

const credential = Type.Object({
  id: Type.String(),
  weight: Type.Number(),
  cooldown_until: orNull(
    Type.String({ description: "The end of its pause; null: it can be used." }),
  ),
  reason: orNull(Type.String()),
});

const errorCount = Type.Object({
  code: Type.String(),
  count: Type.Integer(),
  last_message: orNull(
    Type.String({ description: "The vendor's message, with credentials masked." }),
  ),
});

export const providerShape = Type.Object({
  id: Type.String(),
  dialect: Type.String(),
  tier: Type.String(),
  source: oneOf("file", "environment", "sandbox", "api"),
  source_line: Type.Optional(
    orNull(Type.Integer({ description: `${admins}: the line of the configuration file.` })),
  ),
  base_url: Type.Optional(Type.String({ description: `${admins}.` })),
  credentials: Type.Optional(
    Type.Array(credential, { description: `${admins}; the keys themselves are never shown.` }),
  ),
  on_disconnect: oneOf("abort", "drain"),
  timeouts: Type.Unsafe<object>({ type: "object" }),
  models: Type.Array(Type.String(), { description: "Its offers." }),
  paused_until: orNull(Type.String({ description: "It is paused until then." })),
  circuits: Type.Optional(
    Type.Array(circuit, {
      description: `${admins}: models for which it is left out, on all gateways.`,
    }),
  ),
  calls_last_hour: Type.Optional(
    Type.Integer({ description: `${admins}: attempts of all gateways.` }),
  ),
  errors_last_hour: Type.Optional(
    Type.Array(errorCount, {
      description: `${admins}: failed attempts of all gateways, the most frequent first; without those that the gateway ended, such as for a client that left, and without requests that were refused for the caller's mistake.`,
    }),
  ),
  health: orNull(
    Type.Object(
      {
        state: oneOf("ready", "degraded", "out"),
        out: Type.Array(Type.String(), { description: "Models for which it is left out now." }),
      },
      { description: "`degraded`: left out for some of its models." },
    ),
  ),
});

/** One provider; for one added through this API, also the fields it was added with. */
export const oneProviderShape = Type.Object({
  ...providerShape.properties,
  vendor: Type.Optional(orNull(Type.String({ description: "Its preset." }))),
  model_rows: Type.Optional(
    orNull(
      Type.Array(Type.Unsafe<object>({ type: "object" }), {
        description: "The value as it was set.",
      }),
    ),
  ),
  version: Type.Optional(Type.Integer({ description: "The number of its changes." })),
});

export interface ViewContext {
  readonly catalog: Catalog;
  readonly health: Health | undefined;
  /** Outcomes of attempts in the last hour; a provider that is missing had no attempts. */
  readonly hour?: ReadonlyMap<string, LastHour> | undefined;
  /** True if the reader is an organization admin. */
  readonly isOrganizationAdmin: boolean;
}

export function renderProvider(
  one: Provider,
  { catalog, health, hour, isOrganizationAdmin }: ViewContext,
): object {
  // All other fields are about the provider's address and our access to it.
  const { id, dialect, tier, on_disconnect, timeouts, credentials, ...where } = shownProvider(one);
  const offered = [...catalog.models.values()].flatMap(({ id, offers }) =>
    offers.filter(({ provider: by }) => by === one.id).map((each) => ({ id, each })),
  );
  const names = (found: typeof offered) => [...new Set(found.map(({ id }) => id))];
  const out = offered.filter(({ each }) => health?.availability(each, one) === "out");
  const { kind, line } = catalog.sources?.get(one.id) ?? { kind: "file" as const };
  const pausedMs = catalog.paused?.get(one.id);
  const upstreamModels = [...new Set(offered.map(({ each }) => each.upstreamModel))];
  const coolDowns = health?.coolDowns(one, upstreamModels);
  return {
    id,
    dialect,
    tier,
    on_disconnect,
    timeouts,
    source: kind,
    models: names(offered),
    paused_until: pausedMs === undefined ? null : new Date(pausedMs).toISOString(),
    ...(isOrganizationAdmin && {
      source_line: line ?? null,
      ...where,
      credentials: credentials.map(({ id: name, weight }) => ({
        id: name,
        weight,
        cooldown_until: coolDowns?.get(name)?.until ?? null,
        reason: coolDowns?.get(name)?.reason ?? null,
      })),
      ...(health && {
        circuits: circuitsOf(offered, health),
        ...(hour?.get(one.id) ?? noAttempts),
      }),
    }),
    health: health ? { state: stateOf(out.length, offered.length), out: names(out) } : null,
  };
}

type Offered = readonly { readonly id: string; readonly each: Parameters<Health["of"]>[0] }[];

function circuitsOf(offered: Offered, health: Health): object[] {
  const seen = new Set<string>();
  return offered.flatMap(({ id, each }) => {
    const open = health.openCircuit(each);
    if (open === undefined || seen.has(id)) return [];
    seen.add(id);
    const { state, since, nextProbeAt } = open;
    return [{ model: id, state, since, next_probe_at: nextProbeAt }];
  });
}

function stateOf(out: number, offered: number): "ready" | "degraded" | "out" {
  if (out === 0) return "ready";
  return out < offered ? "degraded" : "out";
}

/** Answers with one provider and its entity tag; if it was just added or changed, as it is stored. */
export function providerAnswer(object: ProviderObject, viewContext: ViewContext): AdminAnswer {
  const { isOrganizationAdmin, catalog } = viewContext;
  const view = providerKind.view(object) as Record<string, unknown>;
  const known = catalog.providers.get(object.id);
  const row = known ? renderProvider(known, viewContext) : { models: [], health: null };
  if (!isOrganizationAdmin) return { body: row };
  const { credentials: ours, ...rest } = row as Record<string, unknown>;
  const credentials = withCoolDowns(view["credentials"], ours);
  return { body: { ...rest, ...view, credentials }, etag: etagOf(view) };
}

/** Merges the stored credentials with their known cool-downs. */
function withCoolDowns(stored: unknown, known: unknown): unknown[] {
  const rows = (known ?? []) as readonly { readonly id: string }[];
  return (stored as readonly { readonly id: string }[]).map((one) => ({
    cooldown_until: null,
    reason: null,
    ...rows.find(({ id }) => id === one.id),
    ...one,
  }));
}
