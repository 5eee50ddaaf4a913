/** Files, receivers of callbacks, clocks, and callers. */
import { connect, type Socket } from "node:net";
import type { Traffic } from "../traffic.ts";
import type { World } from "../world.ts";
import { link, faultMs, type Fault } from "./fault.ts";

async function withClock(world: World, traffic: Traffic, ms: number): Promise<void> {
  world.putAhead(1, ms);
  await traffic.lasts(faultMs);
  world.putAhead(1, 0);
}

const portOf = (url: string): number => Number(new URL(url).port);

function openSilent({ gateways }: World, count: number): Socket[] {
  return Array.from({ length: count }, (_, at) =>
    connect(portOf(gateways[at % gateways.length]!.url), "127.0.0.1").on("error", () => undefined),
  );
}

/** Callers that ask for a long stream and read nothing of it. */
async function withDeafCallers(world: World, traffic: Traffic, count: number): Promise<void> {
  const answer = `#sandbox ${JSON.stringify({ flood: 400_000 })}`;
  const body = JSON.stringify({
    model: "acme/talk",
    stream: true,
    messages: [{ role: "user", content: answer }],
  });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const sockets = openSilent(world, count);
  for (const socket of sockets) socket.pause().write(head + body);
  await traffic.lasts(faultMs);
  for (const socket of sockets) socket.destroy();
}

export const otherFaults: readonly Fault[] = [
  {
    name: "S3 cannot be reached",
    part: "files",
    inject: link("files", (one) => one.cut()),
  },
  {
    name: "S3 swallows all bytes for a while",
    part: "files",
    inject: link("files", (one) => one.hold()),
  },
  {
    name: "S3 is 400 ms away",
    part: "files",
    noneFails: true,
    inject: link("files", (one) => one.slow(200)),
  },
  {
    name: "receivers of callbacks cannot be reached",
    part: "receivers",
    noneFails: true,
    inject: link("receivers", (one) => one.cut()),
  },
  {
    name: "receivers of callbacks do not answer for a while",
    part: "receivers",
    noneFails: true,
    inject: link("receivers", (one) => one.hold()),
  },
  {
    name: "receivers answer 500 at first",
    part: "receivers",
    noneFails: true,
    async inject(world, traffic) {
      world.refuseCallbacks(5);
      await traffic.lasts(faultMs);
      world.refuseCallbacks(0);
    },
  },
  {
    name: "a gateway's clock is an hour ahead",
    part: "clocks",
    inject: (world, traffic) => withClock(world, traffic, 3_600_000),
  },
  {
    name: "a gateway's clock is an hour behind",
    part: "clocks",
    inject: (world, traffic) => withClock(world, traffic, -3_600_000),
  },
  {
    name: "300 connections that send nothing",
    part: "callers",
    noneFails: true,
    async inject(world, traffic) {
      const sockets = openSilent(world, 300);
      await traffic.lasts(faultMs);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: "100 callers that never read their streams",
    part: "callers",
    inject: (world, traffic) => withDeafCallers(world, traffic, 100),
  },
];
