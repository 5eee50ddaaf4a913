/**
 * Vendors that a variable alone activates: with `MISTRAL_API_KEY` set, Mistral's models are available. catalog/vendors.jsonl has
 * the variables and addresses. docs/models.md.
 */
import { quotedHint } from "../base/quoted.ts";
import { hasUserinfo, userinfoHint } from "../base/userinfo.ts";
import { authOf, identityOf } from "./access-build.ts";
import type { Access } from "./access.ts";
import { placedAddress } from "./cloud-hosts.ts";
import { vendorRows } from "./list/shipped.ts";
import type { VendorRow } from "./list/types.ts";
import type { Environment } from "./environment.ts";
import { localRows } from "./local-servers.ts";
import { defaultTimeouts, type Catalog, type Provider } from "./types.ts";

/** A vendor with its settings from the environment. */
export interface Preset {
  readonly row: VendorRow;
  /** The variable for its key: the one that is set, else the documented one. */
  readonly variable: string;
  /** The variables of the cloud's own credentials, if they are used instead of a key. */
  readonly identity?: readonly string[];
  /** The required variables that are not set; if empty, the vendor is active. */
  readonly missing: readonly string[];
  /** The variable for another address: a region, a proxy. */
  readonly baseUrlVariable: string;
  /** The address of its API; contains `${NAME}` of unset variables. */
  readonly baseUrl: string;
  /** The mistake in the address, if any. */
  readonly mistake?: string;
}

const isSet = (environment: Environment, name: string): boolean => (environment[name] ?? "") !== "";

/** The variable for the base URL, such as `MISTRAL_BASE_URL` for `MISTRAL_API_KEY`. */
const baseUrlVariableOf = ({ base_url_variable: named, variables: [first] }: VendorRow): string =>
  named ??
  `${first.replace(/_(API_KEY|API_TOKEN|ACCESS_TOKEN|ACCESS_KEY|INFERENCE_KEY|TOKEN|KEY|PAT)$/, "")}_BASE_URL`;

const placeholder = /\$\{(\w+)\}/g;

/** True if a variable is set, and not to `false` or `0`. */
const isOn = (environment: Environment, name: string): boolean =>
  isSet(environment, name) && !/^(false|0)$/i.test(environment[name]!);

/** The credential of a vendor's requests: a key, else a cloud's own credentials, else the variable of the missing key. */
function credentialOf({ variables, identities = [] }: VendorRow, environment: Environment) {
  const ofIdentities = new Set(identities.flat());
  const key = variables.find((name) => isSet(environment, name) && !ofIdentities.has(name));
  if (key !== undefined) return { variable: key };
  const identity = identities.find((set) => set.every((name) => isOn(environment, name)));
  return identity ? { variable: identity[0], identity } : { variable: variables[0] };
}

const ownAddress = ({ base_url: template }: VendorRow, environment: Environment): string =>
  placedAddress(template.replace(placeholder, (all, name: string) => environment[name] || all));

function presetOf(row: VendorRow, environment: Environment): Preset {
  const credential = credentialOf(row, environment);
  const baseUrlVariable = baseUrlVariableOf(row);
  const named = (environment[baseUrlVariable] ?? "").trim();
  // An identity needs the variables of the vendor's own address in any case, for the region of its signature.
  const needs =
    named === "" || credential.identity
      ? [...row.base_url.matchAll(placeholder)].map(([, name]) => name!)
      : [];
  const own = ownAddress(row, environment);
  const missing = [...new Set([credential.variable, ...needs])].filter(
    (name) => !isSet(environment, name),
  );
  const preset = { row, ...credential, missing, baseUrlVariable };
  if (named === "") return { ...preset, baseUrl: own };
  const baseUrl = addressOf(named, own);
  if (baseUrl !== undefined) return { ...preset, baseUrl };
  // The message does not repeat the value: an address may contain a password.
  const hint = hasUserinfo(named) ? userinfoHint : quotedHint(named);
  const mistake = `${baseUrlVariable} is not an address such as ${row.base_url}${hint}`;
  return { ...preset, baseUrl: own, mistake };
}

/** Adds the path of the vendor's address (`/v1`) to an address without one. Undefined if the address is invalid. */
export function addressOf(named: string, own: string): string | undefined {
  if (!/^https?:\/\//.test(named) || !URL.canParse(named) || hasUserinfo(named)) return undefined;
  const { pathname, search } = new URL(named);
  if (search !== "") return undefined;
  const bare = named.replace(/\/+$/, "");
  return pathname === "/" ? bare + own.replace(/^https?:\/\/[^/]+/, "") : bare;
}

/** Every vendor that has a preset. */
export const presetsIn = (environment: Environment): Preset[] =>
  vendorRows().map((row) => presetOf(row, environment));

/** The vendors whose keys the environment has, in the order of the list. */
export const activePresets = (environment: Environment): Preset[] =>
  presetsIn(environment).filter(({ missing }) => missing.length === 0);

/** The mistakes in the addresses of active vendors, for the operator. */
export const presetMistakes = (environment: Environment): string[] =>
  activePresets(environment).flatMap(({ mistake }) => (mistake === undefined ? [] : [mistake]));

/** The environment's part of the catalogue, without the vendors and local servers whose variables the configuration file itself uses. */
export function withoutFileVendors(
  brought: Catalog,
  environment: Environment,
  used: ReadonlySet<string>,
): Catalog {
  const taken = new Set([
    ...activePresets(environment).flatMap(({ row }) =>
      [...row.variables, ...(row.identities ?? []).flat()].some((name) => used.has(name))
        ? [row.id]
        : [],
    ),
    ...localRows.flatMap(({ id, variable }) => (used.has(variable) ? [id] : [])),
  ]);
  if (taken.size === 0) return brought;
  const isKept = (id: string): boolean => !taken.has(id);
  return {
    providers: new Map([...brought.providers].filter(([id]) => isKept(id))),
    models: new Map(
      [...brought.models].filter(([, { offers }]) => isKept(offers[0]?.provider ?? "")),
    ),
    unpriced: new Map([...(brought.unpriced ?? [])].filter(([, { provider }]) => isKept(provider))),
  };
}

export const presetProvider = (preset: Preset, environment: Environment): Provider => ({
  id: preset.row.id,
  dialect: preset.row.dialect ?? "openai-compatible",
  baseUrl: preset.baseUrl,
  tier: preset.row.tier ?? "community",
  credentials: [
    { id: "default", apiKey: preset.identity ? "" : environment[preset.variable]!, weight: 1 },
  ],
  onDisconnect: "abort",
  timeouts: defaultTimeouts,
  ...(preset.identity && { access: identityAccess(preset, environment) }),
});

/**
 * Access with the cloud's own credentials. AWS keys are taken from `environment`, because they may come from secret files; the
 * cloud's library finds all others.
 */
function identityAccess({ row, identity }: Preset, environment: Environment): Access {
  const hasKeys = identity!.includes("AWS_SECRET_ACCESS_KEY");
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment;
  const type = identityOf[row.dialect ?? ""]!;
  const keys = hasKeys && {
    access_key_id: AWS_ACCESS_KEY_ID,
    secret_access_key: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { session_token: AWS_SESSION_TOKEN }),
  };
  return {
    auth: authOf({ type, ...keys }, ownAddress(row, environment)),
    headers: {},
    query: {},
    paths: {},
    request: { add: {}, remove: [] },
  };
}

/** True if the environment has a key for any vendor. */
export const hasVendors = (environment: Environment): boolean =>
  activePresets(environment).length > 0;
