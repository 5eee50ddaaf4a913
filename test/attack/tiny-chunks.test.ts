/**
 * Bodies in chunks of one byte. Kept as it comes, each chunk would cost the gateway hundreds of bytes, and the sender six. The
 * gateway's memory stays in proportion to the bytes, for strangers who sign in and for callers with a key.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { startVictim, type Victim } from "./body-support.ts";

const megabyte = 2 ** 20;

/** The resident memory of a process, in megabytes. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) / 1024;
}

/** A text in chunks of one byte. */
const tinyChunks = (text: string): string => text.replaceAll(/./gs, "1\r\n$&\r\n");

const head = (path: string, key: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\n` +
  "transfer-encoding: chunked\r\n\r\n";

describe("bodies in chunks of one byte", () => {
  let victim: Victim;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    victim = await startVictim();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await victim?.stop();
  });

  /** Sends the beginning of a request; resolves when the system has taken all of it. */
  async function send(text: string): Promise<Socket> {
    const { hostname, port } = new URL(victim.url);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    await once(socket, "connect");
    await new Promise<void>((resolve) => socket.write(text, "latin1", () => resolve()));
    return socket;
  }

  const statusOf = async (socket: Socket): Promise<string> => {
    const [first] = (await once(socket, "data")) as [Buffer];
    return first.toString("latin1", 9, 12);
  };

  it("take memory in proportion to their bytes, for strangers who never finish a sign-in", async () => {
    const body = tinyChunks(`{"email":"${"a".repeat(15_000)}`);
    const before = memoryOf(victim.pid);
    for (let count = 0; count < shortOrLong(100, 200); count += 1)
      await send(head("/auth/sign-in/email", "") + body);
    // A later request is answered once the earlier bytes have been read.
    const last = await send(head("/auth/sign-in/email", "") + tinyChunks("{}") + "0\r\n\r\n");
    expect(await statusOf(last)).toBe("400");
    // The test sends 3 MB, half in the short form. Kept chunk by chunk, they took a gigabyte.
    expect(memoryOf(victim.pid) - before).toBeLessThan(200);
  });

  it("take memory in proportion to their bytes, for a call that is answered", async () => {
    const text = "a".repeat(shortOrLong(2, 16) * megabyte);
    const body = JSON.stringify({
      model: "sandbox/chat",
      messages: [{ role: "user", content: text }],
    });
    const before = memoryOf(victim.pid);
    const call = await send(
      head("/v1/chat/completions", victim.key) + tinyChunks(body) + "0\r\n\r\n",
    );
    expect(await statusOf(call)).toBe("200");
    expect(memoryOf(victim.pid) - before).toBeLessThan(shortOrLong(300, 800));
  });
});
