/** docs/callbacks.md: its verifier runs as it stands, beside the Standard Webhooks library, on real requests. */
import { readFileSync } from "node:fs";
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import type { Database } from "../../src/storage/index.ts";
import { nextStep, pausesMs } from "../../src/tasks/webhooks/schedule.ts";
import { signedHeaders } from "../../src/base/signature.ts";
import { rotateSigningSecret, signingOverlapMs } from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { newDeliverer, newTenant, startReceiver, until, type Received } from "./support.ts";

const page = readFileSync(new URL("../../docs/callbacks.md", import.meta.url), "utf8");
const block = /runs this block as it stands\. -->\s+```js\n(.*?)```/s.exec(page)![1]!;

type Verify = (secret: string, signatureHeader: string, rawBody: string | Buffer) => boolean;
let verify: Verify;

beforeAll(async () => {
  const address = `data:text/javascript,${encodeURIComponent(block)}`;
  ({ verify } = (await import(/* @vite-ignore */ address)) as { verify: Verify });
});

const byDocs = (secret: string, { headers, body }: Received): boolean =>
  verify(secret, headers["gw-signature"] as string, body);

function byLibrary(secret: string, { headers, body }: Received): boolean {
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
  } catch {
    return false;
  }
}

/** As an HTTP server reads the headers: with lowercase names. */
const asReceived = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const verifyBoth = (secret: string, received: Received) => [
  byDocs(secret, received),
  byLibrary(secret, received),
];

describeDatabase("signatures of callbacks", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  it("verify only with the workspace's secret and with unaltered body and time", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    await tenant.end(receiver.url);
    await until(() => receiver.received.length === 1);
    await deliverer.close();
    const [received] = receiver.received as [Received];
    const secret = await tenant.secret();
    expect(verifyBoth(secret, received)).toEqual([true, true]);
    expect(verifyBoth(await (await newTenant(database)).secret(), received)).toEqual([
      false,
      false,
    ]);
    const altered = { ...received, body: received.body.replace("succeeded", "failed") };
    expect(verifyBoth(secret, altered)).toEqual([false, false]);
    const later = (text: unknown) =>
      String(text).replace(/\d{10}/, (time) => `${Number(time) + 1}`);
    const moved = {
      ...received,
      headers: {
        ...received.headers,
        "gw-signature": later(received.headers["gw-signature"]),
        "webhook-timestamp": later(received.headers["webhook-timestamp"]),
      },
    };
    expect(verifyBoth(secret, moved)).toEqual([false, false]);
  });

  it("are made with the rotated and the new secret for a day", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    const before = await tenant.secret();
    const after = (await rotateSigningSecret(tenant, tenant.workspaceId)).secret;
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    await tenant.end(receiver.url);
    await until(() => receiver.received.length === 1);
    const [during] = receiver.received as [Received];
    expect(verifyBoth(before, during)).toEqual([true, true]);
    expect(verifyBoth(after, during)).toEqual([true, true]);
    tenant.clock.advance(signingOverlapMs);
    await tenant.end(receiver.url);
    await until(() => receiver.received.length === 2);
    await deliverer.close();
    // A day ahead of the receiver's clock, so only the number of signatures is checked.
    const counts = receiver.received.map(
      ({ headers }) => String(headers["gw-signature"]).match(/v1=/g)!.length,
    );
    expect(counts).toEqual([2, 1]);
  });
});

describe("docs/callbacks.md", () => {
  const signed = (nowMs: number, secrets = ["whsec_AAAA"]): Received => ({
    path: "/",
    body: '{"a":"ü"}',
    rawHeaders: [],
    headers: asReceived(
      signedHeaders({ eventId: "evt_1", text: '{"a":"ü"}', attempt: 1, nowMs }, secrets),
    ),
  });

  it("has a verifier of at most ten lines, which also takes the body as bytes", () => {
    const lines = block
      .trim()
      .split("\n")
      .filter((line) => !/^(?:import .*)?$/.test(line));
    expect(lines.length).toBeLessThanOrEqual(10);
    const { headers, body } = signed(Date.now());
    const header = headers["gw-signature"] as string;
    expect(verify("whsec_AAAA", header, Buffer.from(body))).toBe(true);
  });

  it("has a verifier that refuses signatures older than five minutes and malformed ones", () => {
    const secret = "whsec_AAAA";
    expect(verifyBoth(secret, signed(Date.now() - 290_000))).toEqual([true, true]);
    expect(verifyBoth(secret, signed(Date.now() - 310_000))).toEqual([false, false]);
    expect(verifyBoth(secret, signed(Date.now() + 310_000))).toEqual([false, false]);
    const time = Math.floor(Date.now() / 1000);
    const hex = createHmac("sha256", secret).update(`${time}.{}`).digest("hex");
    const cases: [string, boolean][] = [
      [`t=${time},v1=${hex}`, true],
      [`t=${time},v1=${"0".repeat(64)},v1=${hex}`, true],
      [`t=${time},v0=${hex}`, false],
      [`t=${time},v1=`, false],
      [`t=${time},v1`, false],
      [`t=${time},v1=${"g".repeat(64)}`, false],
      [`t=${time},v1=${"é".repeat(64)}`, false],
      [`v1=${hex}`, false],
      [`t=,v1=${hex}`, false],
      ["", false],
    ];
    for (const [header, good] of cases) {
      expect([header, verify(secret, header, "{}")]).toEqual([header, good]);
    }
  });

  it("has the schedule in force, with pauses up to a fifth longer or shorter", () => {
    const shown = /\| pause +\|(.*)\|/
      .exec(page)![1]!
      .split("|")
      .map((text) => text.trim());
    const unitsMs: Record<string, number> = { s: 1000, min: 60_000, h: 3_600_000 };
    const shownMs = shown.slice(0, -1).map((text) => {
      const [count, unit] = text.split(" ");
      return Number(count) * unitsMs[unit!]!;
    });
    expect(shownMs).toEqual(pausesMs);
    expect(shown.at(-1)).toBe("given up");
    const failed = { httpStatus: 500, error: null, retry: true };
    const at = (failures: number, random: number) =>
      nextStep(failed, "task.succeeded", failures, random);
    for (const [index, pauseMs] of pausesMs.entries()) {
      const pauses = [0, 0.5, 1].map((random) => at(index + 1, random));
      expect(pauses).toEqual(
        [0.8, 1, 1.2].map((factor) => ({ status: "pending", pauseMs: pauseMs * factor })),
      );
    }
    expect(at(9, 0.5)).toEqual({ status: "failed" });
  });
});
