/**
 * Sign-ins behind a proxy: attempts are counted by each caller's own address, and no caller can lock the others out.
 * docs/network.md "Behind a proxy".
 */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Log } from "../../src/base/log.ts";
import { rememberDerivations } from "../support/derivations.ts";
import { silentLog } from "../support/postgres.ts";
import { startAdminGateway, type AdminGateway } from "./support.ts";

rememberDerivations();

/** A log that keeps the addresses of failed sign-ins. */
function listen(): { log: Log; addresses: unknown[] } {
  const addresses: unknown[] = [];
  const warn = (fields: { address?: unknown }): void => void addresses.push(fields.address);
  return { log: Object.assign(Object.create(silentLog) as Log, { warn }), addresses };
}

const request = (path: string, body: object, headers: Record<string, string>): string => {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: "gateway",
    "content-type": "application/json",
    "content-length": String(text.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
};

describe.each([
  ["bare sockets", true],
  ["Node's HTTP", false],
])("sign-ins on %s", (_name, fastPath) => {
  const { log, addresses } = listen();
  let behind: AdminGateway;
  let alone: AdminGateway;
  beforeAll(async () => {
    behind = await startAdminGateway({
      fastPath,
      log,
      environment: { TOLLGATE_TRUSTED_PROXIES: "loopback, 10.0.0.0/8" },
    });
    alone = await startAdminGateway({ fastPath, log });
  });
  afterAll(() => Promise.all([behind.close(), alone.close()]));

  let count = 0;
  /** Signs in to an account that no other attempt uses, on a connection that served a text call before. */
  function signIn(gateway: AdminGateway, forwardedFor: string, right = false): Promise<number> {
    const { hostname, port } = new URL(gateway.url);
    const account = { email: `guess-${(count += 1)}@example.com`, password: "wrong" };
    const own = { email: gateway.first!.adminEmail, password: gateway.first!.adminPassword };
    const call = { model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] };
    const sent = [
      request("/v1/chat/completions", call, { authorization: `Bearer ${gateway.key}` }),
      request("/auth/sign-in/email", right ? own : account, {
        "x-forwarded-for": forwardedFor,
        connection: "close",
      }),
    ];
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(sent[0]!));
      let text = "";
      socket.on("data", (bytes: Buffer) => {
        text += bytes.toString();
        if (sent.length === 2 && text.endsWith("}")) socket.write(sent.splice(0)[1]!);
      });
      socket.on("error", reject);
      socket.on("close", () => {
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) =>
          Number(status),
        );
        expect(statuses[0]).toBe(200);
        resolve(statuses[1]!);
      });
    });
  }
  /**
   * Six failed sign-ins. After the first one the count is set to 48 in the database, two below the limit, because a sign-in takes
   * a tenth of a second.
   */
  const many = async (gateway: AdminGateway, forwardedFor: (at: number) => string) => {
    const statuses = [await signIn(gateway, forwardedFor(0))];
    await gateway.database.query("update auth_attempts set count = 48 where name like 'address:%'");
    for (let at = 1; at <= 5; at += 1) statuses.push(await signIn(gateway, forwardedFor(at)));
    return statuses;
  };
  const closed = [401, 401, 401, 429, 429, 429];

  it("behind a trusted proxy, fifty failures from one address block that address only", async () => {
    // Text that the caller wrote itself stands left of the addresses that the proxies add.
    const statuses = await many(behind, (at) => `192.0.2.${at}, 203.0.113.9, 10.0.0.3`);
    expect(statuses).toEqual(closed);
    expect(await signIn(behind, "203.0.113.9", true)).toBe(429);
    expect(await signIn(behind, "203.0.113.10", true)).toBe(200);
    expect(new Set(addresses.splice(0))).toEqual(new Set(["203.0.113.9"]));
  });

  it("fifty failures from one IPv6 /64 block that /64 only", async () => {
    const statuses = await many(behind, (at) => `2001:db8:7:7:${at + 1}::1`);
    expect(statuses).toEqual(closed);
    expect(await signIn(behind, "2001:db8:7:7::1", true)).toBe(429);
    expect(await signIn(behind, "2001:db8:7:8::1", true)).toBe(200);
    addresses.splice(0);
  });

  it("without trusted proxies the forwarded header is ignored, and the shared address is never blocked", async () => {
    const statuses = await many(alone, (at) => `203.0.113.${at}`);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await signIn(alone, "203.0.113.9", true)).toBe(200);
    expect(new Set(addresses.splice(0))).toEqual(new Set(["127.0.0.1"]));
  });
});
