/** DNS lookups of vendors: a name without an answer does not block others, and known addresses survive a failing resolver. */
import { lookup as ask, type LookupAddress } from "node:dns";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createVendorLookup } from "../../src/upstream/dial/vendor-lookup.ts";
import { createNames } from "../../src/upstream/names.ts";
import { startDns } from "../support/dns.ts";

const knownAddresses: LookupAddress[] = [{ address: "10.0.0.1", family: 4 }];
const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
const never = () => new Promise<never>(() => undefined);

type Lookup = ReturnType<typeof createVendorLookup>;
const addressesOf = (lookup: Lookup, name: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses as LookupAddress[]),
    );
  });

/** A system resolver with two threads, each of which an unanswered name blocks. */
function twoThreads(): (name: string) => Promise<LookupAddress[]> {
  let free = 2;
  return async (name) => {
    if (free === 0) return never();
    free -= 1;
    if (name.startsWith("dead")) return never();
    free += 1;
    return knownAddresses;
  };
}

it("many lookups of a name without an answer leave a system thread for other names", async () => {
  const lookup = createVendorLookup({ system: twoThreads(), direct: () => failing("EAI_AGAIN") });
  const dead = Array.from({ length: 20 }, () => addressesOf(lookup, "dead.example"));
  const ended = Promise.allSettled(dead);
  const begunMs = performance.now();
  expect(await addressesOf(lookup, "live.example")).toEqual(knownAddresses);
  expect(performance.now() - begunMs).toBeLessThan(500);
  expect(await ended).toEqual(
    dead.map(() => ({
      status: "rejected",
      reason: expect.objectContaining({ code: "EAI_AGAIN" }) as Error,
    })),
  );
});

it("DNS is asked directly while names without an answer block all system threads", async () => {
  const dns = await startDns((name, family) => {
    if (name.startsWith("dead")) return "silent";
    return family === 4 ? ["10.0.0.2"] : [];
  });
  const direct = createNames({ servers: [dns.at], system: () => failing("EAI_AGAIN") });
  const lookup = createVendorLookup({ system: twoThreads(), direct });
  const dead = ["dead-1.example", "dead-2.example"].map((name) => addressesOf(lookup, name));
  const ended = Promise.allSettled(dead);
  expect(await addressesOf(lookup, "live.example")).toEqual([{ address: "10.0.0.2", family: 4 }]);
  expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await dns.close();
});

it("a name keeps its addresses while the resolver fails, and gets new ones when it is back", async () => {
  let system: () => Promise<LookupAddress[]> = () => Promise.resolve(knownAddresses);
  const lookup = createVendorLookup({ system: () => system(), direct: () => failing("EAI_AGAIN") });
  expect(await addressesOf(lookup, "vendor.example")).toEqual(knownAddresses);
  system = () => failing("EAI_AGAIN");
  expect(await addressesOf(lookup, "vendor.example")).toEqual(knownAddresses);
  // ENOTFOUND is an answer: the name does not exist any more.
  system = () => failing("ENOTFOUND");
  await expect(addressesOf(lookup, "vendor.example")).rejects.toMatchObject({ code: "ENOTFOUND" });
  const moved = [{ address: "10.0.0.3", family: 4 }];
  system = () => Promise.resolve(moved);
  expect(await addressesOf(lookup, "vendor.example")).toEqual(moved);
  let answer: ((addresses: LookupAddress[]) => void) | undefined;
  system = () => new Promise((resolve) => void (answer = resolve));
  // The lookup does not wait for a slow answer, but uses it for the next connection.
  expect(await addressesOf(lookup, "vendor.example")).toEqual(moved);
  answer!(knownAddresses);
  system = () => failing("EAI_AGAIN");
  expect(await addressesOf(lookup, "vendor.example")).toEqual(knownAddresses);
});

it("the answer is the system's own", async () => {
  const own = await addressesOf(createVendorLookup(), "localhost");
  expect(own).toEqual(await promisify(ask)("localhost", { all: true }));
  const one = await new Promise((resolve) => {
    createVendorLookup()("localhost", { family: 4 }, (_error, address, family) =>
      resolve([address, family]),
    );
  });
  expect(one).toEqual(["127.0.0.1", 4]);
});
