/** What the routes need from the running gateway. The composition root (cli/serve.ts) makes it. */
import type { Log } from "../base/log.ts";
import type { TextServices } from "../calls/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Database, FileStore } from "../storage/index.ts";
import type { Authenticator } from "../tenancy/index.ts";
import type { Metrics } from "./metrics.ts";

/** How long a client may take to send a request, and how often that is looked at. Answers may take as long as they like. */
export interface ReceiveLimits {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

export interface HttpServices {
  readonly text: TextServices;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly authenticator: Authenticator;
  readonly files: FileStore;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly bodyBytesMax: number;
  readonly receive: ReceiveLimits;
  /** False while the gateway starts or stops: `/readyz` says so. */
  ready(): boolean;
}
