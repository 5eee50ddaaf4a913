/**
 * Requests that hide another one, through proxies that keep one connection to the gateway: the next caller gets its own answer.
 * The same bytes also go to both front ends, in one piece and in two: both answer alike. RFC 9112, section 11.2.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { freePort, hasNginx, startNginx } from "../support/nginx.ts";
import { eventually } from "../support/patience.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { hiddenRequests } from "./framings.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ sandbox: "on" });
});
afterAll(() => gateway.close());

/** Sends these pieces and returns the statuses, once `answers` of them have come or the connection ends. */
async function statuses(url: string, pieces: readonly Buffer[], answers: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let text = "";
  let isClosed = false;
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.on("error", () => undefined).on("close", () => (isClosed = true));
  for (const piece of pieces) {
    await new Promise<unknown>((sent) => socket.write(piece, sent));
    await turn();
  }
  const found = () => [...text.matchAll(/^HTTP\/1\.1 ((?!100)\d{3})/gm)].map(([, one]) => one);
  await eventually(() => isClosed || found().length >= answers, `${answers} answers`);
  socket.destroy();
  return found().join(" ");
}

interface Running {
  readonly url: string;
  close(): unknown;
}

/** Starts a proxy program with the text of its configuration. */
async function startProgram(command: readonly string[], port: number): Promise<Running> {
  const [name, ...given] = command as [string, ...string[]];
  const home = temporaryDirectory();
  const child: ChildProcess = spawn(name, given, {
    stdio: "ignore",
    env: { ...process.env, HOME: home },
  });
  const gone = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(answers, name);
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function fileOf(name: string, text: string): string {
  const directory = join(temporaryDirectory(), "proxy");
  mkdirSync(directory);
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const isThere = (command: string, option: string): boolean =>
  spawnSync(command, [option]).status === 0;

const proxies: readonly [string, boolean, (port: number) => Promise<Running>][] = [
  [
    "nginx",
    hasNginx,
    (port) =>
      startNginx(
        `upstream gateway { server ${new URL(gateway.url).host}; keepalive 1; }
         server {
           listen 127.0.0.1:${port};
           error_log /dev/null crit;
           ignore_invalid_headers off;
           location / {
             proxy_pass http://gateway;
             proxy_http_version 1.1;
             proxy_set_header Connection "";
             proxy_buffering off;
             proxy_request_buffering off;
           }
         }`,
        port,
      ),
  ],
  [
    "haproxy",
    isThere("haproxy", "-v"),
    (port) => {
      const times = "timeout connect 5s\n timeout client 30s\n timeout server 30s";
      const file = fileOf(
        "haproxy.cfg",
        `defaults\n mode http\n ${times}\n http-reuse always
frontend front\n bind 127.0.0.1:${port}\n option accept-invalid-http-request\n default_backend back
backend back\n server one ${new URL(gateway.url).host} maxconn 1\n`,
      );
      return startProgram(["haproxy", "-db", "-f", file], port);
    },
  ],
  [
    "caddy",
    isThere("caddy", "version"),
    (port) => {
      const file = fileOf(
        "Caddyfile",
        `{\n admin off\n auto_https off\n}
http://:${port} {\n bind 127.0.0.1\n reverse_proxy ${new URL(gateway.url).host} {\n flush_interval -1\n transport http {\n max_conns_per_host 1\n }\n }\n}\n`,
      );
      return startProgram(["caddy", "run", "--config", file, "--adapter", "caddyfile"], port);
    },
  ],
];

describe.each(proxies.filter(([, isInstalled]) => isInstalled))(
  "behind %s",
  (_name, _is, start) => {
    let proxy: Running;
    beforeAll(async () => {
      proxy = await start(await freePort());
    });
    afterAll(() => proxy.close());

    it("no caller gets the answer to a request hidden in another one", async () => {
      const wrong: string[] = [];
      for (const [name, bytes] of hiddenRequests(gateway.key)) {
        await statuses(proxy.url, [bytes], 1);
        for (const own of ["one", "two"]) {
          const answer = await fetch(`${proxy.url}/v1/${own}`);
          if (!(await answer.text()).includes(`/v1/${own}.`)) wrong.push(name);
        }
      }
      expect(wrong).toEqual([]);
    });
  },
);

it("both front ends see the same end of a request, and the same hidden request", async () => {
  for (const [name, bytes] of hiddenRequests(gateway.key)) {
    // If an upgrade comes in one read with the next request, Node's parser takes that request along.
    if (name === "an upgrade") continue;
    const whole = await statuses(gateway.url, [bytes], 1);
    const cut = await statuses(gateway.url, [bytes.subarray(0, 3), bytes.subarray(3)], 1);
    expect({ name, statuses: cut }).toEqual({ name, statuses: whole });
  }
});
