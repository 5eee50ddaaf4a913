/**
 * Resolves the names of providers' servers for connections: by the system, one query per name at a time. The system has two threads for all
 * names of a process, and long timeouts: many calls to a vendor with a dead name would block the names of all others. After `patienceMs`
 * DNS is queried over sockets, and a known name keeps its last addresses while no resolver answers.
 */
import { lookup as ask, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { callbackify, promisify } from "node:util";
import { getOrCreate } from "../../base/memoize.ts";
import { createNames, type Resolve } from "../names.ts";

/** A resolver that takes longer counts as not answering, in ms. */
const patienceMs = 1_500;

type Addresses = readonly LookupAddress[];
interface Name {
  /** The system's query in flight. */
  underWay: { readonly answer: Promise<Addresses>; readonly beganMs: number } | undefined;
  /** The last answer. */
  last: Addresses | undefined;
}

interface LookupOptions {
  /** Replaces the system's resolver. */
  readonly system?: (hostname: string) => Promise<Addresses>;
  /** Queries DNS without the system's resolver. */
  readonly direct?: Resolve;
}

const bySystem = (hostname: string): Promise<Addresses> => promisify(ask)(hostname, { all: true });

const unanswered = (hostname: string): Error =>
  Object.assign(new Error(`${hostname}: the resolver did not answer`), { code: "EAI_AGAIN" });
const late = Symbol("late");
const isNoAnswer = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EAI_AGAIN";

/** Creates a lookup with its own cache. */
export function createVendorLookup({
  system = bySystem,
  direct = createNames({ system: (hostname) => Promise.reject(unanswered(hostname)) }),
}: LookupOptions = {}): LookupFunction {
  const names = new Map<string, Name>();

  function begin(hostname: string, name: Name): NonNullable<Name["underWay"]> {
    const answer = system(hostname).then((addresses) => (name.last = addresses));
    const ended = (): void => void (name.underWay = undefined);
    answer.then(ended, ended);
    return (name.underWay = { answer, beganMs: performance.now() });
  }

  async function find(hostname: string): Promise<Addresses> {
    const name = getOrCreate(names, hostname, (): Name => ({
      underWay: undefined,
      last: undefined,
    }));
    const { answer, beganMs } = name.underWay ?? begin(hostname, name);
    const waitMs = Math.max(0, beganMs + patienceMs - performance.now());
    const ending = new AbortController();
    const patience = sleep(waitMs, late, { ref: false, signal: ending.signal });
    patience.catch(() => undefined);
    try {
      const found = await Promise.race([answer, patience]);
      if (found !== late) return found;
    } catch (error) {
      if (!isNoAnswer(error)) throw error;
    } finally {
      ending.abort();
    }
    if (name.last !== undefined) return name.last;
    // The system's answer may still come first, and only the system knows names outside DNS.
    const byDns = direct(hostname, hostname).catch((error: unknown) =>
      isNoAnswer(error) ? Promise.reject(error as Error) : answer,
    );
    return Promise.race([answer.catch(() => byDns), byDns]);
  }

  return (hostname, options, callback) => {
    callbackify(find)(hostname, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const { family } = options;
      const fit = addresses.filter(
        (one) => !family || String(one.family) === String(family).slice(-1),
      );
      const [first] = fit.length === 0 ? addresses : fit;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first!.address, first!.family);
    });
  };
}

/** The process's only one: providers share its threads. */
export const vendorLookup: LookupFunction = createVendorLookup();
