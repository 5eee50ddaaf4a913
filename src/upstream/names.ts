/**
 * Resolves names that strangers give, so that a dead name delays only its owner. Queries use sockets, not the few threads of the system's
 * resolver, and lookups per owner are bounded. T77.
 */
import { lookup, promises } from "node:dns";
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { withTimeout } from "../base/timeouts.ts";
import { limitConcurrency, type ConcurrencyLimit } from "../base/concurrency-limit.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Returns all addresses of a name. `owner`: the workspace or provider that gave it. Rejects as `node:dns` does: with `ENOTFOUND` or
 * `ENODATA` if the name has none, and with another code if there was no answer.
 */
export type Resolve = (hostname: string, owner?: string) => Promise<readonly ResolvedAddress[]>;

interface NamesOptions {
  /** DNS servers, as `address:port`; if absent, the system's. */
  readonly servers?: readonly string[] | undefined;
  /**
   * Looks up names that are not in DNS by the system's resolver: search domains, mDNS, other sources. Not for strangers, who could block
   * it.
   */
  readonly bySystemToo?: boolean | undefined;
  /** Replaces the system's resolver. */
  readonly system?: Resolve | undefined;
}

/** Milliseconds for a whole lookup. */
const resolveMs = 5_000;
/** Milliseconds until a query is retried; doubled each time. */
const questionMs = 600;
const tries = 3;
/** Milliseconds to wait for addresses of the other family. */
const otherFamilyMs = 300;
/** Concurrent lookups of one owner; further ones wait, up to `resolveMs`. */
const perOwnerMax = 16;

/** Creates a resolver with its own limits. */
export function createNames({
  servers,
  bySystemToo = false,
  system = systemLookup,
}: NamesOptions = {}): Resolve {
  const runForOwner = limitByOwner();
  const bySystem = oneByOne(system, resolveMs);
  async function find(hostname: string): Promise<readonly ResolvedAddress[]> {
    const local = inHostsFile(hostname);
    if (local.length > 0) return local;
    const { found, failures } = await ask(hostname, servers);
    if (found.length > 0) return found;
    const codes = failures.map(codeOf);
    // A machine without a DNS server gets its names from elsewhere.
    if (codes.every((code) => code === "ECONNREFUSED")) return bySystem(hostname);
    if (codes.includes("EBADNAME")) throw noName();
    if (!codes.every((code) => code === "ENOTFOUND" || code === "ENODATA")) throw noAnswer();
    if (bySystemToo) return bySystem(hostname);
    throw failures[0]!;
  }
  return (hostname, owner = "") =>
    within(resolveMs, (isOver) =>
      runForOwner(owner, () => (isOver() ? Promise.reject(noAnswer()) : find(hostname))),
    );
}

const noAnswer = () =>
  Object.assign(new Error("the resolver did not answer"), { code: "EAI_AGAIN" });

/** Too long, or with an empty part: no server knows such a name. */
const noName = () => Object.assign(new Error("no host has such a name"), { code: "ENOTFOUND" });

/** Returns the result of `work`, or rejects after `ms`. */
function within<Found>(
  ms: number,
  work: (isOver: () => boolean) => Promise<Found>,
): Promise<Found> {
  let isOver = false;
  return withTimeout(
    work(() => isOver),
    ms,
    () => {
      isOver = true;
      return noAnswer();
    },
  );
}

/** Limits the concurrent work of each owner; an owner is kept only while it has work. */
function limitByOwner(): <Found>(owner: string, work: () => Promise<Found>) => Promise<Found> {
  const owners = new Map<string, { readonly inTurn: ConcurrencyLimit; count: number }>();
  return async (owner, work) => {
    const own = owners.get(owner) ?? { inTurn: limitConcurrency(perOwnerMax), count: 0 };
    own.count += 1;
    owners.set(owner, own);
    try {
      return await own.inTurn(work);
    } finally {
      own.count -= 1;
      if (own.count === 0) owners.delete(owner);
    }
  };
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** Queries DNS for both families. Each lookup has its own sockets, timeouts and list of failed servers. */
async function ask(hostname: string, servers: readonly string[] | undefined) {
  const resolver = new promises.Resolver({ timeout: questionMs, tries });
  if (servers) resolver.setServers(servers);
  const found: ResolvedAddress[] = [];
  const failures: Error[] = [];
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const family = async (number: 4 | 6, answer: Promise<string[]>): Promise<void> => {
    try {
      for (const address of await answer) found.push({ address, family: number });
      resolve();
    } catch (error) {
      failures.push(error as Error);
    }
  };
  await Promise.race([
    Promise.all([family(4, resolver.resolve4(hostname)), family(6, resolver.resolve6(hostname))]),
    first.then(() => sleep(otherFamilyMs)),
  ]);
  resolver.cancel();
  // IPv4 first: a proxy gets only the first address, and not every network has IPv6.
  return { found: found.toSorted((left, right) => left.family - right.family), failures };
}

const systemLookup: Resolve = async (hostname) =>
  (await promisify(lookup)(hostname, { all: true })) as ResolvedAddress[];

/**
 * Resolves one name at a time: a dead name blocks one of the two threads that resolve all names of this process. A lookup that does not
 * start within `waitMs` is dropped.
 */
export function oneByOne(look: Resolve, waitMs: number): Resolve {
  const inTurn = limitConcurrency(1);
  return (hostname) =>
    within(waitMs, (isOver) =>
      inTurn(() => (isOver() ? Promise.reject(noAnswer()) : look(hostname))),
    );
}

const hostsPath =
  process.platform === "win32"
    ? `${process.env["SystemRoot"] ?? "C:\\Windows"}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts";
let hosts = { writtenMs: -1, addresses: new Map<string, ResolvedAddress[]>() };

/** Returns the addresses of a name in the hosts file, which may change while the gateway runs. */
function inHostsFile(hostname: string): readonly ResolvedAddress[] {
  const writtenMs = statSync(hostsPath, { throwIfNoEntry: false })?.mtimeMs ?? -1;
  if (writtenMs !== hosts.writtenMs)
    hosts = {
      writtenMs,
      addresses: readHosts(writtenMs === -1 ? "" : readFileSync(hostsPath, "utf8")),
    };
  return hosts.addresses.get(hostname.toLowerCase()) ?? [];
}

function readHosts(text: string): Map<string, ResolvedAddress[]> {
  const addresses = new Map<string, ResolvedAddress[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names)
      addresses.set(name, [...(addresses.get(name) ?? []), { address, family }]);
  }
  return addresses;
}
