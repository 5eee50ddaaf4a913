/**
 * A real S3 server for tests (s3rver), in this process. It lacks one operation that we use, aborting an upload. So a proxy in
 * front of it does that: it removes the upload's directory, as the server would.
 */
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";
import { temporaryDirectory } from "../support/postgres.ts";
import type { FileStoreOptions } from "../../src/files/index.ts";

export interface S3Server {
  readonly options: FileStoreOptions;
  /** The names in the bucket, and the multipart uploads that have begun and not ended. */
  names(): string[];
  unfinished(): string[];
  /** The largest body of one request, which is how much an upload holds in memory. */
  largestBytes(): number;
  /** Methods of the requests for one object. */
  methods(name: string): string[];
  /** Makes the server answer no request, or answer again. */
  setAway(isAway: boolean): void;
  /** The number of requests that it did not answer. */
  unanswered(): number;
  close(): Promise<void>;
}

const bucket = "tollgate-test";
const objectMark = "._S3rver_object";

/** Starts a server with one empty bucket. */
export async function startS3(): Promise<S3Server> {
  const directory = temporaryDirectory();
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  const root = join(directory, bucket);
  const uploads = join(root, "._S3rver_uploads");
  let largest = 0;
  let isAway = false;
  let unanswered = 0;
  const asked: { readonly path: string; readonly method: string }[] = [];
  const front = createServer((request, response) => {
    if (isAway) {
      unanswered += 1;
      return void request.socket.destroy();
    }
    const url = new URL(request.url ?? "/", "http://localhost");
    asked.push({ path: url.pathname, method: request.method! });
    const uploadId = url.searchParams.get("uploadId");
    if (request.method === "DELETE" && uploadId !== null) {
      rmSync(join(uploads, uploadId), { recursive: true });
      response.writeHead(204).end();
      return;
    }
    largest = Math.max(largest, Number(request.headers["content-length"] ?? 0));
    const { url: path, method, headers } = request;
    const passed = httpRequest({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      response.on("close", () => answer.destroy());
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port: frontPort } = front.address() as AddressInfo;
  return {
    options: {
      kind: "s3",
      bucket,
      endpoint: `http://127.0.0.1:${frontPort}`,
      region: "us-east-1",
      accessKeyId: "S3RVER",
      secretAccessKey: "S3RVER",
    },
    names: () =>
      entries(root)
        .filter((name) => name.endsWith(objectMark))
        .map((name) => name.slice(0, -objectMark.length)),
    unfinished: () => entries(uploads),
    largestBytes: () => largest,
    methods: (name) =>
      asked.filter(({ path }) => path === `/${bucket}/${name}`).map(({ method }) => method),
    setAway: (away) => void (isAway = away),
    unanswered: () => unanswered,
    close: async () => {
      await closeServer(front);
      await server.close();
    },
  };
}

/** The `storage` section of a configuration file. */
export function s3Config(server: S3Server): string {
  const { bucket, endpoint, region, accessKeyId, secretAccessKey } = server.options;
  return `storage:
  kind: s3
  bucket: ${bucket}
  endpoint: ${endpoint}
  region: ${region}
  access_key_id: ${accessKeyId}
  secret_access_key: ${secretAccessKey}
`;
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
