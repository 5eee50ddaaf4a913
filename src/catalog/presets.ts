/**
 * Vendors by their variables alone: with `MISTRAL_API_KEY` set, Mistral's models are there. Which variable, and where the
 * vendor is, says catalog/vendors.jsonl. docs/models.md.
 */
import { quotedHint } from "../base/quoted.ts";
import { hasUserinfo, userinfoHint } from "../base/userinfo.ts";
import { authOf, identityOf } from "./access-build.ts";
import type { Access } from "./access.ts";
import { vendorRows } from "./list/shipped.ts";
import type { VendorRow } from "./list/types.ts";
import type { Environment } from "./environment.ts";
import { localRows } from "./local-servers.ts";
import { defaultTimeouts, type Catalog, type Provider } from "./types.ts";

/** A vendor, as the environment has it. */
export interface Preset {
  readonly row: VendorRow;
  /** The variable that holds its key: the one that is set, else the documented one. */
  readonly variable: string;
  /** The variables of the cloud's own credentials, which are taken in place of a key. */
  readonly identity?: readonly string[];
  /** The variables it needs that are not set; none: it is active. */
  readonly missing: readonly string[];
  /** Names another address: a region, a proxy. */
  readonly baseUrlVariable: string;
  /** Where it is called; with `${NAME}` where such a variable is not set. */
  readonly baseUrl: string;
  /** What is wrong with the address; absent: nothing. */
  readonly mistake?: string;
}

const isSet = (environment: Environment, name: string): boolean => (environment[name] ?? "") !== "";

/** `MISTRAL_BASE_URL` beside `MISTRAL_API_KEY`. */
const baseUrlVariableOf = ({ base_url_variable: named, variables: [first] }: VendorRow): string =>
  named ??
  `${first.replace(/_(API_KEY|API_TOKEN|ACCESS_TOKEN|ACCESS_KEY|INFERENCE_KEY|TOKEN|KEY|PAT)$/, "")}_BASE_URL`;

const placeholder = /\$\{(\w+)\}/g;

/** A switch that is set to off is not set. */
const isOn = (environment: Environment, name: string): boolean =>
  isSet(environment, name) && !/^(false|0)$/i.test(environment[name]!);

/** What a vendor's requests are authorized with: a key, else a cloud's own credentials, else the key that is missing. */
function credentialOf({ variables, identities = [] }: VendorRow, environment: Environment) {
  const ofIdentities = new Set(identities.flat());
  const key = variables.find((name) => isSet(environment, name) && !ofIdentities.has(name));
  if (key !== undefined) return { variable: key };
  const identity = identities.find((set) => set.every((name) => isOn(environment, name)));
  return identity ? { variable: identity[0], identity } : { variable: variables[0] };
}

/** Vertex's global location has an address of its own. */
const globalHost = /^https:\/\/global-aiplatform\./;

const ownAddress = ({ base_url: template }: VendorRow, environment: Environment): string =>
  template
    .replace(placeholder, (all, name: string) => environment[name] || all)
    .replace(globalHost, "https://aiplatform.");

function presetOf(row: VendorRow, environment: Environment): Preset {
  const credential = credentialOf(row, environment);
  const baseUrlVariable = baseUrlVariableOf(row);
  const named = environment[baseUrlVariable] ?? "";
  // An identity's signature names the region, whatever the address.
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
  // The value is not repeated: an address may hold a password.
  const hint = hasUserinfo(named) ? userinfoHint : quotedHint(named);
  const mistake = `${baseUrlVariable} is not an address such as ${row.base_url}${hint}`;
  return { ...preset, baseUrl: own, mistake };
}

/** An address without a path gets the one that the vendor's own has: `/v1`. */
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

/** The vendors that the environment has a key for, in the order of the list. */
export const activePresets = (environment: Environment): Preset[] =>
  presetsIn(environment).filter(({ missing }) => missing.length === 0);

/** What is wrong with the addresses of active vendors, for the operator. */
export const presetMistakes = (environment: Environment): string[] =>
  activePresets(environment).flatMap(({ mistake }) => (mistake === undefined ? [] : [mistake]));

/**
 * Of what the environment brings, that which a file leaves to it: a vendor or local server whose variable the file itself
 * uses is the file's affair.
 */
export function leftToEnvironment(
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
  const isLeft = (id: string): boolean => !taken.has(id);
  return {
    providers: new Map([...brought.providers].filter(([id]) => isLeft(id))),
    models: new Map(
      [...brought.models].filter(([, { offers }]) => isLeft(offers[0]?.provider ?? "")),
    ),
    unpriced: new Map([...(brought.unpriced ?? [])].filter(([, { provider }]) => isLeft(provider))),
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
 * The cloud's own credentials of the environment. AWS's keys are taken from there, where they may stand in files of secrets;
 * everything else is found by the cloud's library.
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

/** Whether the environment has a key for any vendor. */
export const hasVendors = (environment: Environment): boolean =>
  activePresets(environment).length > 0;
