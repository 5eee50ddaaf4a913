/** Checks one provider: its connection by name (DNS, TCP or proxy, TLS), its certificate, and its keys. */
import { reasonOf } from "../../base/errors.ts";
import { keyMistake, type Provider } from "../../catalog/index.ts";
import {
  askModels,
  ExchangeError,
  inspectProvider,
  withoutCredentials,
  type Pools,
} from "../../upstream/index.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";
import { notReached, connectionFinding } from "./connection.ts";

/** Returns all findings on a provider: the connection first, then each of its keys. */
export async function checkProvider(pools: Pools, provider: Provider): Promise<Finding[]> {
  const check = `provider ${provider.id}`;
  const way = await inspectProvider(pools, provider).catch((error: unknown) =>
    connectionFailure(check, provider, error),
  );
  const keys = provider.credentials.map(({ id, apiKey }) => {
    const name = provider.credentials.length === 1 ? check : `${check}, key ${id}`;
    return { name, apiKey, mistake: keyMistake(apiKey, provider) };
  });
  // The format of a key can be checked without a connection to its vendor.
  if ("status" in way) return [way, ...keys.flatMap(formFindings)];
  const asked = keys.map((key) => checkKey(pools, provider, key));
  return [connectionFinding(`${check}, connection`, way), ...(await Promise.all(asked)).flat()];
}

const connectionFailure = (check: string, provider: Provider, error: unknown): Finding =>
  notReached(check, withoutCredentials(provider, reasonOf(error)), "base_url");

interface Key {
  readonly name: string;
  readonly apiKey: string;
  readonly mistake: ReturnType<typeof keyMistake>;
}

function formFindings({ name, mistake }: Key): Finding[] {
  if (mistake === undefined) return [];
  const finding = mistake.isSendable ? warning : failed;
  return [finding(name, `its key ${mistake.message}`, mistake.fix)];
}

/** Checks the format of a key. If the key can be sent at all, also asks the vendor. */
async function checkKey(pools: Pools, provider: Provider, key: Key): Promise<Finding[]> {
  const form = formFindings(key);
  return key.mistake?.isSendable === false ? form : [...form, await askWith(pools, provider, key)];
}

async function askWith(pools: Pools, provider: Provider, key: Key): Promise<Finding> {
  const { name: check } = key;
  try {
    const status = await askModels(pools, provider, key.apiKey);
    if (status === undefined) return ok(check, "the cloud gave a credential");
    return statusFinding(check, status);
  } catch (error) {
    if (error instanceof ExchangeError && error.failure === "unauthorized")
      return noCredential(check, provider, error);
    return connectionFailure(check, provider, error);
  }
}

const pages: Readonly<Record<string, string>> = {
  aws: "bedrock",
  azure: "azure",
  google: "vertex",
};

function noCredential(check: string, provider: Provider, { message }: ExchangeError): Finding {
  const page = pages[provider.access?.auth?.type ?? ""] ?? "configuration";
  const fix = `check the provider's auth, or this machine's credentials of the cloud (docs/${page}.md)`;
  return failed(check, withoutCredentials(provider, message), fix);
}

function statusFinding(check: string, status: number): Finding {
  const message = `GET /models answers ${status}`;
  if (status === 401 || status === 403)
    return failed(check, `${message}: the key is refused`, "give the provider another key");
  if (status === 402)
    return failed(check, `${message}: its account has no money`, "fill up the vendor's account");
  if (status === 429) return warning(check, `${message}: its rate is limited`, "try again later");
  if (status >= 500)
    return failed(check, `${message}: the vendor fails`, "see the vendor's status");
  if (status === 404 || status === 405)
    return warning(check, `${message}: it has no list of models`, "check the path of base_url");
  return status < 300
    ? ok(check, `${message}: the key is taken`)
    : warning(check, message, "check base_url");
}
