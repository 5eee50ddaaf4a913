/** A DNS server of a test on the loopback interface: answers for A and AAAA by what the test says of the name. RFC 1035. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

/** Addresses; `missing`: there is no such name; `silent`: no answer at all. */
type Answered = readonly string[] | "missing" | "silent";

export interface DnsServer {
  /** `address:port`. */
  readonly at: string;
  /** The names that were asked for, each once, in their order. */
  readonly asked: Set<string>;
  close(): Promise<void>;
}

/** Starts it. `answers` gets the name, and 4 or 6. */
export async function startDns(
  answers: (name: string, family: 4 | 6) => Answered,
): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  socket.on("message", (query, from) => {
    const { name, end } = readName(query);
    const family = query.readUInt16BE(end) === 28 ? 6 : 4;
    asked.add(name);
    const answer = answers(name, family);
    if (answer === "silent") return;
    const addresses = answer === "missing" ? [] : answer;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(answer === "missing" ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) =>
      // A pointer to the question's name, A, IN, a minute, four bytes.
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...records]), from.port);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}
