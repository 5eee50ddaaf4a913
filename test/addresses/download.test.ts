/** Downloads of vendors' results from real servers into a real store. Trap T77; docs/tasks.md. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFileStore, type FileStore } from "../../src/files/index.ts";
import { download, DownloadError, type DownloadRequest } from "../../src/upstream/index.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { shortOrLong } from "../support/long.ts";
import { resolver, serve, serveRaw, type TestServer } from "./servers.ts";

const head = (hex: string): Buffer =>
  Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(5000, 7)]);
const mp4 = head("00000020667479706d703432000000006d70343269736f6d");
const files = {
  "video/mp4": mp4,
  "video/webm": head("1a45dfa39f4286810142f7810142f281"),
  "image/png": head("89504e470d0a1a0a0000000d49484452"),
  "image/jpeg": head("ffd8ffe000104a46494600010101"),
  "image/webp": head("524946461a0000005745425056503820"),
};

let store: FileStore;
let kept: () => string[];
let servers: TestServer[] = [];
beforeEach(async () => {
  const dataDir = temporaryDirectory();
  store = await openFileStore({ kind: "local" }, dataDir);
  kept = () => readdirSync(join(dataDir, "files"));
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});
async function running(server: Promise<TestServer>): Promise<TestServer> {
  servers.push(await server);
  return server;
}
const serving = (listener: RequestListener) => running(serve(listener));

/** Downloads into the store, by default from a server of the provider's own. */
async function fetched(
  server: TestServer,
  changes: Partial<DownloadRequest> = {},
): Promise<{ bytes: number; mediaType: string }> {
  const request: DownloadRequest = {
    url: `http://127.0.0.1:${server.port}/file`,
    kind: "video",
    bytesMax: 50_000_000,
    idleMs: 30_000,
    totalMs: 120_000,
    providerUrl: `http://127.0.0.1:${server.port}/v1`,
    allowPrivate: false,
    ...changes,
  };
  return download(request, async (body, mediaType) => {
    const options = { mediaType, bytesMax: request.bytesMax };
    return { ...(await store.put("file", body, options)), mediaType };
  });
}

async function failure(...given: Parameters<typeof fetched>): Promise<unknown> {
  const error = await fetched(...given).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DownloadError);
  expect(kept()).toEqual([]);
  return (error as DownloadError).failure;
}

describe("a file of an expected type", () => {
  it.each(Object.entries(files))(
    "is stored completely whatever content type its server names: %s",
    async (type, bytes) => {
      const server = await serving((_request, response) =>
        response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes),
      );
      const kind = type.startsWith("image") ? "image" : "video";
      expect(await fetched(server, { kind })).toEqual({ mediaType: type, bytes: bytes.length });
      expect(bytes.equals(await buffer((await store.open("file"))!.stream))).toBe(true);
    },
  );

  it("is stored completely when it comes byte by byte, and is requested without compression", async () => {
    const short = mp4.subarray(0, 40);
    const server = await serving((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      for (const byte of short) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await fetched(server)).toMatchObject({ bytes: 40 });
    expect(short.equals(await buffer((await store.open("file"))!.stream))).toBe(true);
  });

  it("gives its bytes to the sink, whose own error is passed on", async () => {
    const server = await serving((_request, response) => response.end(mp4));
    const request = { url: `http://127.0.0.1:${server.port}/`, kind: "video" } as const;
    const rest = { bytesMax: 1e6, idleMs: 30_000, totalMs: 60_000, allowPrivate: true };
    const all = { ...request, ...rest, providerUrl: "http://provider.example" };
    await expect(
      download(all, () => Promise.reject(new Error("the disk is full"))),
    ).rejects.toThrow("the disk is full");
  });
});

describe("a file of another type", () => {
  it.each([
    ["a page sent as a video", Buffer.from("<!doctype html><html><body>Sorry</body></html>")],
    ["an error in JSON", Buffer.from('{"error":{"message":"the signature has expired"}}')],
    ["a picture", files["image/png"]],
    [
      "a still picture in a container like a video's",
      head("0000001c66747970617669660000000061766966"),
    ],
    ["sound", head("00000018667479704d344120000000004d34412069736f6d")],
    ["too short to be anything", Buffer.from("00000020", "hex")],
    ["nothing", Buffer.alloc(0)],
  ])("is not kept: %s", async (_what, bytes) => {
    const server = await serving((_request, response) =>
      response.writeHead(200, { "content-type": "video/mp4" }).end(bytes),
    );
    expect(await failure(server)).toBe("media_type");
  });

  it.each([
    ["HTML sent as a video", "video/mp4", "<!doctype html><h1>502</h1>", true],
    ["HTML with a byte order mark", "video/mp4", "\ufeff<html>Sorry</html>", true],
    ["a store's error in XML", "application/xml", '<?xml version="1.0"?><Error/>', true],
    ["an error in JSON", "video/mp4", '{"error":"the signature has expired"}', true],
    ["an error that is a list", "application/problem+json", '["try again"]', true],
    ["a text", "text/plain; charset=utf-8", "Service unavailable.", true],
    ["an SVG", "image/svg+xml", '<?xml version="1.0"?><svg/>', false],
    ["an SVG without a type", "application/octet-stream", "<svg/>", false],
    ["a picture of a kind that is not kept", "image/gif", "GIF89a\u0001\u0000\u0001\u0000", false],
  ])(
    "is not kept; `retryable` depends on its content: %s, sent as %s",
    async (_what, type, text, retryable) => {
      const server = await serving((_request, response) =>
        response.writeHead(200, { "content-type": type }).end(text),
      );
      await expect(fetched(server)).rejects.toMatchObject({ failure: "media_type", retryable });
    },
  );

  it("is not kept: a video instead of a requested picture", async () => {
    const server = await serving((_request, response) => response.end(mp4));
    expect(await failure(server, { kind: "image" })).toBe("media_type");
  });

  it.each([
    [404, true],
    [403, true],
    [410, false],
    [401, false],
    [206, false],
    [204, false],
    [500, true],
    [429, true],
  ])("is not kept with status %i; retryable: %s", async (status, retryable) => {
    const server = await serving((_request, response) => response.writeHead(status).end(mp4));
    await expect(fetched(server)).rejects.toMatchObject({ failure: "status", retryable });
    expect(kept()).toEqual([]);
  });
});

describe("a file that is too large", () => {
  it("is not read if its content-length is too large", async () => {
    const server = await serving((_request, response) => {
      response.writeHead(200, { "content-length": 2 ** 31 });
      response.write(mp4);
    });
    expect(await failure(server, { bytesMax: 2 ** 31 - 1 })).toBe("too_large");
  });

  it("is cut off if it does not end", async () => {
    let sent = 0;
    const server = await serving(endless((bytes) => (sent += bytes)));
    expect(await failure(server, { bytesMax: 3_000_000 })).toBe("too_large");
    // The server also counts bytes that the socket buffers hold.
    expect(sent).toBeLessThan(3_000_000 + 10_000_000);
  });

  it("leaves memory use flat, at 2 GB", async () => {
    const size = shortOrLong(512, 2048) * 1024 ** 2;
    const server = await serving(endless(() => undefined, size));
    // Peak memory in the first quarter, in which the buffers settle, and in the rest.
    const most = [0, 0] as [number, number];
    let bytes = 0;
    const before = memoryBytes();
    const url = `http://127.0.0.1:${server.port}/`;
    const bounds = { bytesMax: size, idleMs: 30_000, totalMs: 250_000, allowPrivate: true };
    await download({ url, kind: "video", providerUrl: url, ...bounds }, async (body) => {
      for await (const chunk of body) {
        bytes += chunk.length;
        const part = bytes < size / 4 ? 0 : 1;
        most[part] = Math.max(most[part], memoryBytes());
      }
    });
    expect(bytes).toBe(size);
    expect(most[0] - before).toBeLessThan(256 * 1024 ** 2);
    expect(most[1] - most[0]).toBeLessThan(96 * 1024 ** 2);
  });
});

describe("a file that does not arrive completely", () => {
  it.each([
    ["a body shorter than its length", "content-length: 9000"],
    ["chunks without an end", "transfer-encoding: chunked"],
    ["no length", "x-a: b"],
  ])("fails as cut: %s", async (_what, header) => {
    const chunked = header.startsWith("transfer");
    const server = await running(
      serveRaw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
        socket.end(chunked ? Buffer.concat([Buffer.from("1388\r\n"), mp4.subarray(0, 5000)]) : mp4);
      }),
    );
    expect(await failure(server)).toBe("cut");
  });

  it("fails as cut when the connection breaks", async () => {
    const server = await serving((_request, response) => {
      response.writeHead(200, { "content-length": 9000 });
      response.write(mp4, () => (response.socket as Socket).resetAndDestroy());
    });
    expect(await failure(server)).toBe("cut");
  });

  it.each([
    ["before its head", () => undefined],
    ["in the middle", (socket: Socket) => socket.write(partial())],
  ])("fails with a timeout when its server falls silent %s", async (_when, talk) => {
    const server = await running(serveRaw(talk));
    const begun = Date.now();
    expect(await failure(server, { idleMs: 300 })).toBe("timeout");
    expect(Date.now() - begun).toBeLessThan(60_000);
  });

  it("fails with a timeout when it drips on forever", async () => {
    const server = await serving((_request, response) => {
      response.write(mp4);
      const drip = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(drip));
    });
    expect(await failure(server, { totalMs: 500 })).toBe("timeout");
  });

  it("fails to connect when its server is gone", async () => {
    const server = await serve(() => undefined);
    await server.close();
    expect(await failure(server)).toBe("connect");
  });
});

const partial = (): Buffer =>
  Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n"), mp4]);

const memoryBytes = (): number => process.memoryUsage().rss;

/** Sends a video of zeros, until the client stops reading or `size` bytes are sent. */
function endless(onSent: (bytes: number) => void, size = Infinity): RequestListener {
  const zeros = Buffer.alloc(65_536);
  return (_request, response) => {
    response.on("error", () => undefined);
    response.write(mp4);
    let sent = mp4.length;
    const more = (): void => {
      while (sent < size) {
        const chunk = size - sent < zeros.length ? zeros.subarray(0, size - sent) : zeros;
        sent += chunk.length;
        onSent(chunk.length);
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on("drain", more);
    more();
  };
}

describe("T77: the address of a file", () => {
  const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  const providerOf = (server: TestServer) => `http://api.example:${server.port}/v1`;

  it("is refused in a private network, unless it is the provider's own host and port or is allowed", async () => {
    const server = await serving((_request, response) => response.end(mp4));
    const providerUrl = providerOf(server);
    const resolve = resolver({ "cdn.example": [["127.0.0.1"]], "api.example": [["127.0.0.1"]] });
    const at = (host: string) => `http://${host}:${server.port}/file`;
    for (const host of ["cdn.example", "127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
      expect(await failure(server, { url: at(host), providerUrl, resolve })).toBe("address");
    // Another service on the provider's machine. A port that is not given is the scheme's default.
    for (const other of ["http://api.example:1/v1", "http://api.example/v1", "https://api.example"])
      expect(await failure(server, { url: at("api.example"), providerUrl: other, resolve })).toBe(
        "address",
      );
    for (const url of [
      "http://api.example/f",
      "https://api.example:80/f",
      "http://api.example:443/f",
    ])
      expect(
        await failure(server, { url, providerUrl: "https://api.example:8443/v1", resolve }),
      ).toBe("address");
    expect(server.connections()).toBe(0);
    await fetched(server, { url: at("api.example"), providerUrl, resolve });
    await fetched(server, { url: at("cdn.example"), providerUrl, resolve, allowPrivate: true });
    expect(server.connections()).toBe(2);
  });

  it("is not connected to if its name turns private after the check", async () => {
    const server = await serving((_request, response) => response.end(mp4));
    const providerUrl = providerOf(server);
    const resolve = resolver({ "cdn.example": [["192.88.98.1"], ["127.0.0.1"]] });
    const url = `http://cdn.example:${server.port}/file`;
    const given = { url, providerUrl, resolve, idleMs: 200, totalMs: 400 };
    await expect(fetched(server, given)).rejects.toMatchObject({ name: "DownloadError" });
    expect(resolve.asked).toEqual(["cdn.example"]);
    await expect(fetched(server, given)).rejects.toMatchObject({ failure: "address" });
    expect(server.connections()).toBe(0);
  });

  it("is refused in a private network after a redirect too", async () => {
    const inside = await serving((_request, response) => response.end(mp4));
    const resolve = resolver({ "api.example": [["127.0.0.1"]], "cdn.example": [["10.0.0.1"]] });
    const server = await serving((request, response) => {
      const hosts = { "/name": "cdn.example", "/literal": "127.0.0.1", "/port": "api.example" };
      const host = hosts[request.url as keyof typeof hosts];
      response.writeHead(302, { location: `http://${host}:${inside.port}/` }).end();
    });
    const providerUrl = providerOf(server);
    for (const path of ["name", "literal", "port"]) {
      const url = `http://api.example:${server.port}/${path}`;
      expect(await failure(server, { url, providerUrl, resolve })).toBe("address");
    }
    expect(inside.connections()).toBe(0);
  });

  it("may redirect three times, also relatively, but not four times", async () => {
    const server = await serving((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) response.end(mp4);
      else response.writeHead([301, 302, 303, 307, 308][left]!, { location: `/${left - 1}` }).end();
    });
    const url = (count: number) => `http://127.0.0.1:${server.port}/${count}`;
    expect(await fetched(server, { url: url(3) })).toMatchObject({ bytes: mp4.length });
    expect(digest(await buffer((await store.open("file"))!.stream))).toBe(digest(mp4));
    await store.remove("file");
    expect(await failure(server, { url: url(4) })).toBe("redirects");
  });

  it("may be as long as the token of a temporary credential needs, also in a redirect", async () => {
    const server = await serving((request, response) => {
      if (request.url!.startsWith("/on")) response.end(mp4);
      else response.writeHead(302, { location: `/on?X-Amz-Security-Token=${token}` }).end();
    });
    const token = "t".repeat(4000);
    const url = `http://127.0.0.1:${server.port}/file?X-Amz-Security-Token=`;
    expect(await fetched(server, { url: url + token })).toMatchObject({ bytes: mp4.length });
    await store.remove("file");
    expect(await failure(server, { url: url + "t".repeat(9000) })).toBe("address");
  });

  it("is refused if a redirect does not lead to a web address", async () => {
    const location = { now: "" };
    const server = await serving((_request, response) =>
      response.writeHead(302, location.now === "" ? {} : { location: location.now }).end(),
    );
    expect(await failure(server)).toBe("redirects");
    location.now = "http://";
    expect(await failure(server)).toBe("redirects");
    location.now = "file:///etc/passwd";
    expect(await failure(server)).toBe("address");
  });

  it("is left out of the error, because it may hold a signature", async () => {
    const server = await serving((_request, response) => response.writeHead(403).end());
    const url = `http://127.0.0.1:${server.port}/file?signature=hunter2`;
    const error = await fetched(server, { url }).catch((thrown: unknown) => thrown);
    expect(String((error as Error).stack)).not.toMatch("hunter2");
  });
});
