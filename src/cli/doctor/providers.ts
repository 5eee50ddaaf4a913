/** Checks of one provider: the way to it by name (DNS, TCP or proxy, TLS), its certificate, and its key. */
import { reasonOf } from "../../base/errors.ts";
import { keyMistake, type Provider } from "../../catalog/index.ts";
import {
  askModels,
  inspectProvider,
  withoutCredentials,
  type Inspected,
  type Pools,
} from "../../upstream/index.ts";
import { findCertificate } from "./certificate-days.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";

/** All that is found of a provider: the way first, then each of its keys. */
export async function checkProvider(pools: Pools, provider: Provider): Promise<Finding[]> {
  const check = `provider ${provider.id}`;
  let reached: Inspected;
  try {
    reached = await inspectProvider(pools, provider);
  } catch (error) {
    return [failed(check, ...splitFix(provider, error))];
  }
  const keys = provider.credentials.map(({ id, apiKey }) => {
    const name = provider.credentials.length === 1 ? check : `${check}, key ${id}`;
    return checkKey(pools, provider, { name, apiKey });
  });
  return [wayFinding(`${check}, connection`, reached), ...(await Promise.all(keys)).flat()];
}

/** The words of the table of faults end with what to do. */
function splitFix(provider: Provider, error: unknown): [message: string, fix: string] {
  const text = withoutCredentials(provider, reasonOf(error));
  const at = text.lastIndexOf("; ");
  return at === -1 ? [text, "check base_url"] : [text.slice(0, at), text.slice(at + 2)];
}

function wayFinding(check: string, { proxy, certificate }: Inspected): Finding {
  const way = proxy === undefined ? "reached directly" : `reached through ${proxy}`;
  if (certificate === undefined) return ok(check, `${way}, without TLS`);
  const message = `${way}; certificate of ${certificate.issuer}`;
  const renew = "have the server's certificate renewed";
  return findCertificate({ check, message, validTo: certificate.validTo, renew });
}

interface Key {
  readonly name: string;
  readonly apiKey: string;
}

/** What its form says, and where it can be sent at all, what the vendor says of it. */
async function checkKey(pools: Pools, provider: Provider, key: Key): Promise<Finding[]> {
  const mistake = keyMistake(key.apiKey, provider);
  if (mistake === undefined) return [await askWith(pools, provider, key)];
  const words = [key.name, `its key ${mistake.message}`, mistake.fix] as const;
  if (!mistake.isSendable) return [failed(...words)];
  return [warning(...words), await askWith(pools, provider, key)];
}

async function askWith(pools: Pools, provider: Provider, key: Key): Promise<Finding> {
  const { name: check } = key;
  try {
    const status = await askModels(pools, provider, key.apiKey);
    if (status === undefined) return ok(check, "the cloud gave a credential");
    return statusFinding(check, status);
  } catch (error) {
    return failed(check, ...splitFix(provider, error));
  }
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
