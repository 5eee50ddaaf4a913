/**
 * Simulated vendors in their real wire shapes, for trying the gateway without a vendor's key and for its tests.
 * docs/sandbox.md. Imports base/ only: a fake must not share our bugs.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic/vendor.ts";
import { createArk } from "./ark/vendor.ts";
import { createArtifacts } from "./artifacts.ts";
import { createAzure } from "./azure/vendor.ts";
import { createBedrock } from "./bedrock/vendor.ts";
import { createTokens, type Tokens } from "./clouds/tokens.ts";
import { createDashscope } from "./dashscope/vendor.ts";
import { google } from "./google/vendor.ts";
import { createJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import { openai } from "./openai/vendor.ts";
import { createScriptReader } from "./script.ts";
import type { SandboxLog } from "./server.ts";
import { createHandler } from "./server.ts";
import { createMetadata } from "./vertex/identity.ts";
import { createVertex } from "./vertex/vendor.ts";
import { createXai } from "./xai/vendor.ts";

export type { Journal, JournalEntry } from "./journal.ts";

export interface SandboxOptions {
  /** 0 takes a free port. */
  readonly port: number;
  readonly host: string;
  readonly log?: SandboxLog | undefined;
}

export interface Sandbox {
  /** `http://host:port`; each vendor is a prefix below it. */
  readonly url: string;
  readonly port: number;
  readonly journal: Journal;
  /** The tokens of each cloud: how long they are good, and their end. */
  readonly tokens: Readonly<Record<"azure" | "google" | "aws", Tokens>>;
  /** Stops listening and drops what is open. */
  close(): Promise<void>;
}

/** Longer than the idle time of common clients, so that it is never the sandbox that closes a reused connection. */
const keepAliveMs = 120_000;

/** Starts the vendors on one port. Rejects when the port is taken. */
export async function startSandbox({ port, host, log }: SandboxOptions): Promise<Sandbox> {
  const journal = createJournal();
  const artifacts = createArtifacts();
  const tokens = {
    azure: createTokens("azure"),
    google: createTokens("google"),
    aws: createTokens("aws"),
  };
  const vendors = [
    openai,
    anthropic,
    google,
    createXai(artifacts),
    createDashscope(artifacts),
    createArk(artifacts),
    createAzure(tokens.azure),
    createVertex(tokens.google),
    createMetadata(tokens.google),
    createBedrock(tokens.aws),
  ];
  const scripts = createScriptReader();
  const handle = createHandler({ vendors, journal, scripts, artifacts, log });
  const server = createServer({ noDelay: true, keepAliveTimeout: keepAliveMs, requestTimeout: 0 });
  server.on("request", (request, response) => {
    // The disk for uploads may be full or away; this process may be a gateway.
    handle(request, response).catch((error: unknown) => {
      log?.error({ err: error }, "the sandbox failed");
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${bound}`,
    port: bound,
    journal,
    tokens,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
