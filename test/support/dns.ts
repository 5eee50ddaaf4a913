/**
 * A DNS server for tests on the loopback interface. It answers A and AAAA queries with what the test defines for the name. RFC
 * 1035.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";
import { groupsOf } from "../../src/base/safe-url.ts";

/** Addresses, after other names if it is an alias; `missing`: the name does not exist; `silent`: no answer at all. */
type Answered = readonly string[] | "missing" | "silent";

export interface DnsServer {
  /** `address:port`. */
  readonly at: string;
  /** The names that were queried, each once, in order. */
  readonly asked: Set<string>;
  close(): Promise<void>;
}

/** Starts the server. `answers` gets the name, and 4 or 6, at each query: answers must not be cached. */
export async function startDns(
  answers: (name: string, family: 4 | 6) => Answered | Promise<Answered>,
): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  const reply = async (query: Buffer, port: number): Promise<void> => {
    const { name, end } = readName(query);
    const family = query.readUInt16BE(end) === 28 ? 6 : 4;
    asked.add(name);
    const answer = await answers(name, family);
    if (answer === "silent") return;
    const records = recordsOf(answer === "missing" ? [] : answer);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(answer === "missing" ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    if (isOpen) socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...records]), port);
  };
  let isOpen = true;
  socket.on("message", (query, from) => void reply(query, from.port));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked,
    close() {
      isOpen = false;
      return new Promise((resolve) => socket.close(() => resolve()));
    },
  };
}

/**
 * Records of class IN with a TTL of 0. A name is an alias of the question's name (CNAME); the records after it belong to that
 * alias.
 */
function recordsOf(answer: readonly string[]): Buffer[] {
  // A pointer to the question's name.
  let owner = Buffer.from([0xc0, 12]);
  return answer.map((one) => {
    const family = isIP(one);
    const value = family === 4 ? bytesOf4(one) : family === 6 ? bytesOf6(one) : nameOf(one);
    const type = family === 4 ? 1 : family === 6 ? 28 : 5;
    const record = Buffer.from([...owner, 0, type, 0, 1, 0, 0, 0, 0, 0, value.length, ...value]);
    if (family === 0) owner = Buffer.from(value);
    return record;
  });
}

const bytesOf4 = (address: string): number[] => address.split(".").map(Number);
const bytesOf6 = (address: string): number[] =>
  groupsOf(address).flatMap((group) => [group >> 8, group & 255]);
const nameOf = (name: string): number[] => [
  ...name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]),
  0,
];

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}
