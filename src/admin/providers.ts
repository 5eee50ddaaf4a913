/**
 * Changes providers over the management API. Only providers that were added there can change; any can be paused. Each change is one
 * transaction that notifies every gateway. docs/models.md "Side by side".
 */
import { GatewayError } from "../base/errors.ts";
import type { WireObject } from "../base/json.ts";
import {
  catalogWithout,
  checkAdded,
  type AddedProvider,
  type Credential,
  type ProviderSource,
} from "../catalog/index.ts";
import {
  insertCredential,
  insertProvider,
  lockProvider,
  purgeProviders,
  removeCredential,
  removeProvider,
  setPause,
  storedProviders,
  touchProvider,
  type Queryable,
} from "../storage/index.ts";
import { changeRow, credentialSealName, notFound } from "../tenancy/index.ts";
import {
  getProvider,
  sealedSettings,
  type ProviderContext,
  type ProviderObject,
} from "./provider-objects.ts";

const origins: Readonly<Record<ProviderSource["kind"], string>> = {
  file: "is defined in the configuration file",
  environment: "comes from the environment's variables",
  sandbox: "is the sandbox's",
  api: "was added here",
};

/** The error for a provider that cannot be changed here; names its source. */
function readOnly(id: string, { kind, line }: ProviderSource): GatewayError {
  const at = line === undefined ? "" : `, line ${line}`;
  const fix =
    kind === "sandbox" ? "it cannot be changed; add one of another id" : "change it there";
  const message = `The provider "${id}" ${origins[kind]}${at}; ${fix}.`;
  return new GatewayError("conflict", message, { param: "id" });
}

/** The settings of a provider that was added here. @throws GatewayError `conflict` for any other */
function requireAddedHere({ id, source, added }: ProviderObject) {
  if (added === undefined) throw readOnly(id, source);
  return added;
}

/** Makes a finding the rest of a sentence that begins with the field. A suggestion keeps its question mark. */
const sentence = (finding: string): string =>
  `${finding.replace(/^missing\b/, "is missing")}${finding.endsWith("?") ? "" : "."}`;

/** @throws GatewayError with every mistake */
function check(context: ProviderContext, added: AddedProvider): void {
  const mistakes = checkAdded(added, catalogWithout(context.catalog(), added.id));
  const [first] = mistakes;
  if (first === undefined) return;
  const text = mistakes.map((one) => `\`${one.param}\` ${sentence(one.message)}`).join("\n");
  throw new GatewayError(first.taken === true ? "conflict" : "invalid_value", text, {
    param: first.param,
  });
}

const providersMax = 500;

/** Adds a provider. @throws GatewayError `invalid_value`, `conflict` for an id that exists */
export function addProvider(
  context: ProviderContext,
  added: AddedProvider,
): Promise<ProviderObject> {
  const { id } = added;
  const { providers, sources } = context.catalog();
  const source = sources?.get(id) ?? { kind: "file" };
  if (providers.has(id) && source.kind !== "api") throw readOnly(id, source);
  check(context, added);
  return changed(context, id, async (tx, now) => {
    await lockProvider(tx, id);
    // One of this id may have been removed, and its tasks have ended since.
    await purgeProviders(tx);
    const [count] = await tx.query<{ n: number }>("select count(*)::int as n from providers", []);
    if (count!.n >= providersMax)
      throw new GatewayError("conflict", `There are ${providersMax} providers already.`);
    const settings = sealedSettings(context, id, added.settings);
    if (!(await insertProvider(tx, { id, settings, now }))) throw await taken(tx, id);
    for (const credential of added.credentials)
      await insertSealed(context, tx, { id, credential, now });
  });
}

async function taken(tx: Queryable, id: string): Promise<GatewayError> {
  const [row] = await storedProviders(tx, id);
  const message =
    row?.removed === true
      ? `The provider "${id}" was removed, and tasks that it took are still under way. Take another id, or wait for them.`
      : `The provider "${id}" already exists.`;
  return new GatewayError("conflict", message, { param: "id" });
}

interface SealedCredential {
  readonly id: string;
  readonly credential: Credential;
  readonly now: Date;
}

async function insertSealed(
  { secrets }: ProviderContext,
  tx: Queryable,
  { id, credential, now }: SealedCredential,
): Promise<void> {
  const apiKey = secrets.seal(credentialSealName(id, credential.id), credential.apiKey);
  const { weight } = credential;
  const row = { providerId: id, id: credential.id, weight, apiKey, now };
  if (await insertCredential(tx, row)) return;
  const message = `The provider "${id}" has a credential "${credential.id}" already, or one that tasks under way still use.`;
  throw new GatewayError("conflict", message, { param: "id" });
}

/** Changes a provider's rows in a transaction, notifies every gateway, and returns the stored provider. */
async function changed(
  context: ProviderContext,
  id: string,
  work: (tx: Queryable, now: Date) => Promise<void>,
): Promise<ProviderObject> {
  await changeRow(context.database, "providers", async (tx) => {
    await work(tx, new Date(context.clock.now()));
    return { id };
  });
  return getProvider(context, id);
}

/** A change: settings to set, or null to remove; `apiKey` replaces the only key. */
export interface ProviderPatch {
  readonly settings: WireObject;
  readonly apiKey?: string | undefined;
}

/** Changes what the patch names. @throws GatewayError `invalid_value`, `conflict` */
export function changeProvider(
  context: ProviderContext,
  object: ProviderObject,
  { settings: patch, apiKey }: ProviderPatch,
): Promise<ProviderObject> {
  const added = requireAddedHere(object);
  const { id } = added;
  const merged = Object.entries({ ...added.settings, ...patch });
  const settings = Object.fromEntries(merged.filter(([, value]) => value !== null));
  const credentials =
    apiKey === undefined ? added.credentials : [replaced(added.credentials, apiKey)];
  check(context, { id, settings, credentials });
  return changed(context, id, async (tx, now) => {
    await touchProvider(tx, { id, settings: sealedSettings(context, id, settings), now });
    if (apiKey === undefined) return;
    // Removed credentials stay: tasks in flight are polled with them.
    await tx.query(
      "delete from provider_credentials where provider_id = $1 and removed_at is null",
      [id],
    );
    await insertSealed(context, tx, { id, credential: credentials[0]!, now });
  });
}

/** The only credential, with another key. @throws GatewayError if there are several */
function replaced(credentials: readonly Credential[], apiKey: string): Credential {
  const [only = { id: "default", weight: 1 }] = credentials;
  if (credentials.length < 2) return { ...only, apiKey };
  const message =
    "This provider has several credentials. Add the new key as one of them and remove the old one.";
  throw new GatewayError("invalid_value", message, { param: "api_key" });
}

/** Adds a credential to those that share the load. @throws GatewayError `invalid_value`, `conflict` */
export function addCredential(
  context: ProviderContext,
  object: ProviderObject,
  credential: Credential,
): Promise<ProviderObject> {
  const added = requireAddedHere(object);
  const { id } = added;
  if (added.credentials.some((one) => one.id === credential.id))
    throw new GatewayError(
      "conflict",
      `The provider "${id}" has a credential "${credential.id}" already.`,
      { param: "id" },
    );
  check(context, { ...added, credentials: [...added.credentials, credential] });
  return changed(context, id, async (tx, now) => {
    await purgeProviders(tx);
    await insertSealed(context, tx, { id, credential, now });
    await touchProvider(tx, { id, now });
  });
}

/** Removes a credential; calls in flight keep it. @throws GatewayError `not_found`, `conflict` for the last one */
export function dropCredential(
  context: ProviderContext,
  object: ProviderObject,
  credential: string,
): Promise<ProviderObject> {
  const added = requireAddedHere(object);
  const { id } = added;
  if (!added.credentials.some((one) => one.id === credential)) throw notFound("credential");
  if (added.credentials.length === 1)
    throw new GatewayError(
      "conflict",
      "This is the provider's only credential. Add another one first, or remove the provider.",
    );
  return changed(context, id, async (tx, now) => {
    await removeCredential(tx, { providerId: id, id: credential, now });
    await touchProvider(tx, { id, now });
  });
}

/** Removes a provider: it gets no new calls; calls and tasks in flight finish. @throws GatewayError `conflict` */
export async function dropProvider(
  context: ProviderContext,
  object: ProviderObject,
): Promise<ProviderObject> {
  const { id } = requireAddedHere(object);
  await changeRow(context.database, "providers", async (tx) => {
    await removeProvider(tx, id, new Date(context.clock.now()));
    return { id };
  });
  return object;
}

/** Pauses a provider of any source until a time; null resumes it. */
export function pauseProvider(
  context: ProviderContext,
  { id }: ProviderObject,
  until: Date | null,
): Promise<ProviderObject> {
  return changed(context, id, (tx, now) => setPause(tx, { id, until, now }));
}
