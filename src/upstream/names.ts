/**
 * Resolves the names that strangers give us, so that a name whose servers do not answer costs only whoever gave it: questions
 * go out over sockets, not through the few threads of the system's resolver, and those of one owner are bounded. T77.
 */
import { lookup, promises } from "node:dns";
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { inTime } from "../base/in-time.ts";
import { inTurns, type InTurn } from "../base/in-turn.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * All addresses of a name. `owner`: the workspace or provider that gave it. Fails as `node:dns` does, with `ENOTFOUND` or
 * `ENODATA` for a name that has none and another code where no answer came.
 */
export type Resolve = (hostname: string, owner?: string) => Promise<readonly ResolvedAddress[]>;

interface NamesOptions {
  /** DNS servers, as `address:port`; the system's where absent. */
  readonly servers?: readonly string[] | undefined;
  /**
   * Names that DNS does not have are looked up as the system does: search domains, mDNS, other sources of names. Not for
   * strangers, who could make it wait.
   */
  readonly bySystemToo?: boolean | undefined;
  /** The system's own resolver, where it is not to be that. */
  readonly system?: Resolve | undefined;
}

/** For all of one lookup. */
const resolveMs = 5_000;
/** Until a question is asked once more; then each time twice as long. */
const questionMs = 600;
const tries = 3;
/** How long addresses of the other family are waited for. */
const otherFamilyMs = 300;
/** Lookups of one owner at a time; further ones wait, up to `resolveMs`. */
const perOwnerMax = 16;

/** A resolver with bounds of its own. */
export function createNames({
  servers,
  bySystemToo = false,
  system = systemLookup,
}: NamesOptions = {}): Resolve {
  const inOwnTurn = turnsByOwner();
  const bySystem = oneByOne(system, resolveMs);
  async function find(hostname: string): Promise<readonly ResolvedAddress[]> {
    const local = inHostsFile(hostname);
    if (local.length > 0) return local;
    const { found, failures } = await ask(hostname, servers);
    if (found.length > 0) return found;
    const codes = failures.map(codeOf);
    // A machine without a DNS server has its names from elsewhere.
    if (codes.every((code) => code === "ECONNREFUSED")) return bySystem(hostname);
    if (codes.includes("EBADNAME")) throw noName();
    if (!codes.every((code) => code === "ENOTFOUND" || code === "ENODATA")) throw noAnswer();
    if (bySystemToo) return bySystem(hostname);
    throw failures[0]!;
  }
  return (hostname, owner = "") =>
    within(resolveMs, (isOver) =>
      inOwnTurn(owner, () => (isOver() ? Promise.reject(noAnswer()) : find(hostname))),
    );
}

const noAnswer = () =>
  Object.assign(new Error("the resolver did not answer"), { code: "EAI_AGAIN" });

/** Too long, or with an empty part: no server has it. */
const noName = () => Object.assign(new Error("no host has such a name"), { code: "ENOTFOUND" });

/** The result of `work`, if it comes in time. */
function within<Found>(
  ms: number,
  work: (isOver: () => boolean) => Promise<Found>,
): Promise<Found> {
  let isOver = false;
  return inTime(
    work(() => isOver),
    ms,
    () => {
      isOver = true;
      return noAnswer();
    },
  );
}

/** Each owner's turns, while somebody waits for one. */
function turnsByOwner(): <Found>(owner: string, work: () => Promise<Found>) => Promise<Found> {
  const owners = new Map<string, { readonly inTurn: InTurn; count: number }>();
  return async (owner, work) => {
    const own = owners.get(owner) ?? { inTurn: inTurns(perOwnerMax), count: 0 };
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

/** Asks DNS for both families. Each lookup has sockets, times and servers in disgrace of its own. */
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
  // A proxy gets the first of them, and not every network has IPv6.
  return { found: found.toSorted((left, right) => left.family - right.family), failures };
}

const systemLookup: Resolve = async (hostname) =>
  (await promisify(lookup)(hostname, { all: true })) as ResolvedAddress[];

/**
 * Resolves one name at a time: a name whose servers do not answer blocks one of the two threads that all names of this process
 * have. A name whose turn does not come within `waitMs` is not looked up.
 */
export function oneByOne(look: Resolve, waitMs: number): Resolve {
  const inTurn = inTurns(1);
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

/** The addresses that the hosts file gives a name; it may be changed while we run. */
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
