/** Two workers that make videos at an Ark vendor in this process, with a configuration file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  startArkVendor,
  type ArkVendor,
} from "../tasks/support.ts";
import { startWorkers, type WorkersGateway } from "./support.ts";

export interface ArkWorkers {
  readonly vendor: ArkVendor;
  readonly gateway: WorkersGateway;
  /** Writes the file with this key of the vendor. */
  configure(key: string): void;
  /** Sends a request about tasks on its own connection: either worker may take it. */
  task(path: string, body?: object): Promise<{ id: string; status?: string }>;
}

/** For a separate suite; its first key is `first-key`. */
export function useArkWorkers(): ArkWorkers {
  const file = join(temporaryDirectory(), "tollgate.yaml");
  let vendor: ArkVendor | undefined;
  let gateway: WorkersGateway | undefined;
  const workers: ArkWorkers = {
    get vendor() {
      return vendor!;
    },
    get gateway() {
      return gateway!;
    },
    configure(key) {
      const provider = oneKey("ark", workers.vendor).replace("key-of-ark", key);
      writeFileSync(file, configurationOf([provider], [clipModel("acme/clip", ["ark"])]));
    },
    async task(path, body) {
      const response = await fetch(`${workers.gateway.url}/v1/tasks${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${workers.gateway.key}`,
          "content-type": "application/json",
          connection: "close",
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as { id: string; status?: string };
    },
  };
  beforeAll(async () => {
    vendor = await startArkVendor();
    workers.configure("first-key");
    gateway = await startWorkers({
      TOLLGATE_CONFIG: file,
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TOLLGATE_INITIAL_CREDIT: "1000",
    });
  });
  afterAll(async () => {
    await gateway?.kill();
    await vendor?.close();
  });
  return workers;
}
