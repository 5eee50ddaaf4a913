/** Shared by the SDK tests: one gateway on the sandbox, a key without money, a real picture, and the gateway's log rows. */
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Usage } from "../../src/base/usage.ts";
import { createKey, createWorkspace, openSecrets } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

/** One request, from the sandbox's journal. */
export interface Arrival {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number | null;
  readonly aborted: boolean;
}

/** A row of the request log, with the fields that these tests need. */
export interface LoggedCall {
  readonly id: string;
  readonly model: string;
  readonly status: string;
  readonly http_status: number;
  readonly usage: Usage | null;
  readonly usage_source: string | null;
  readonly cost_nano: bigint | null;
}

/** The environment of the tests of one file. */
export interface World {
  readonly url: string;
  readonly key: string;
  /** A valid key of a workspace without credit. */
  readonly poorKey: string;
  /** The requests to the sandbox that contain this text. */
  arrivals(text: string): Promise<readonly Arrival[]>;
  /** The newest logged call, once `isIt` holds for it. */
  logged(isIt: (call: LoggedCall) => boolean): Promise<LoggedCall>;
  /** `fetch` that counts how often it was called, for SDKs that retry. */
  countingFetch(): { readonly fetch: typeof fetch; readonly calls: () => number };
}

/** A gateway with the sandbox behind it for the tests of one file. */
export function useWorld(options: { readonly forceConversion?: boolean } = {}): World {
  return useWorldOf(
    () => startTestGateway(options),
    (gateway) => gateway.sandboxUrl!,
  );
}

/** The same for any gateway, with any sandbox. */
export function useWorldOf(
  start: () => Promise<GatewayUnderTest>,
  sandboxUrl: (gateway: GatewayUnderTest) => string,
): World {
  let gateway: GatewayUnderTest;
  let poorKey = "";
  beforeAll(async () => {
    gateway = await start();
    poorKey = await keyWithoutMoney(gateway);
  });
  afterAll(() => gateway.close());
  return {
    get url() {
      return gateway.url;
    },
    get key() {
      return gateway.key;
    },
    get poorKey() {
      return poorKey;
    },
    async arrivals(text) {
      const query = `contains=${encodeURIComponent(text)}`;
      const answer = await fetch(`${sandboxUrl(gateway)}/__journal?${query}`);
      return ((await answer.json()) as { data: Arrival[] }).data;
    },
    logged: (isIt) =>
      eventually(async () => {
        const sql = "select * from request_log order by created_at desc, id desc limit 20";
        return (await gateway.database.query<LoggedCall>(sql)).find(isIt);
      }, "a row of the request log"),
    countingFetch() {
      let count = 0;
      return {
        calls: () => count,
        fetch: (...args) => {
          count += 1;
          return fetch(...args);
        },
      };
    },
  };
}

async function keyWithoutMoney({ database, directory }: GatewayUnderTest): Promise<string> {
  const dataDir = join(directory, "data");
  const secrets = await openSecrets({ database, masterKey: undefined, dataDir });
  const context = { database, secrets, clock: systemClock };
  const { id } = await createWorkspace(context, { name: "Poor", organizationId: null });
  const { key } = await createKey(context, { workspaceId: id, name: "poor", createdBy: null });
  return key;
}

/** The error with which a call must fail. */
export async function failureOf(call: Promise<unknown>): Promise<Error> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error("the call was expected to fail");
}

/** A user text with a sandbox script in it. */
export const scripted = (words: string, script: object): string =>
  `${words}\n#sandbox ${JSON.stringify(script)}`;

/** A PNG of `side` by `side` pixels of different colours. */
export function png(side = 4): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(side * (1 + side * 3));
  for (let at = 0; at < rows.length; at += 1) {
    // Each row starts with its filter: none.
    rows[at] = at % (1 + side * 3) === 0 ? 0 : (at * 37) % 256;
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
